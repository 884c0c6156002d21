import { Box, Text, TextInput, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { Account } from '../../api/schema.ts';
import { sessionQuery, useMay } from '../../api/session.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Form } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { useAsked } from '../../parts/use-asked.ts';
import { useSubmit } from '../../parts/use-submit.ts';
import { wholeNumber } from '../../parts/whole-number.ts';
import { counted } from '../../parts/words.ts';
import { changeAccount } from './queries.ts';

interface Change {
  readonly name: string;
  readonly days: number;
}

/** Name and retention: read by all, changed by admins. */
export function Settings({ account }: { account: Account }) {
  const may = useMay('admin');
  return (
    <Box component="section" aria-labelledby="settings" maw={480}>
      <Title order={2} id="settings" mb="xs">
        Name and retention
      </Title>
      {may ? (
        <SettingsForm key={`${account.name} ${account.retention_days}`} account={account} />
      ) : (
        <Text size="sm">
          {account.name}. Verifications are kept for {counted(account.retention_days, 'day')}, then deleted. Admins and
          owners can change this.
        </Text>
      )}
    </Box>
  );
}

function SettingsForm({ account }: { account: Account }) {
  const { id, name, retention_days, retention_days_max } = account;
  const client = useQueryClient();
  const asked = useAsked<Change>();

  async function save(change: Change) {
    // The longest is the server's own: it stays so when the server's changes.
    const days = change.days === retention_days_max ? null : change.days;
    await changeAccount(id, {
      ...(change.name === name ? {} : { name: change.name }),
      ...(change.days === retention_days ? {} : { retention_days: days }),
    });
    void notify('Saved.');
    await Promise.all([
      client.invalidateQueries({ queryKey: ['account', id] }),
      client.invalidateQueries({ queryKey: sessionQuery.queryKey }),
    ]);
  }
  const submit = useSubmit(async (values) => {
    const change = {
      name: (values.name ?? '').trim(),
      days: wholeNumber(values.retention_days ?? '', 'retention_days', 1),
    };
    if (change.name === name && change.days === retention_days) return void notify('Nothing was changed.');
    if (change.days < retention_days) asked.ask(change);
    else await save(change);
  });

  return (
    <>
      <Form submit={submit} action="Save">
        <TextInput {...submit.field('name')} label="Name" defaultValue={name} maxLength={200} autoComplete="off" />
        <TextInput
          {...submit.field('retention_days')}
          label="Keep verifications for (days)"
          description={`1 to ${retention_days_max}. A shorter time deletes what is older.`}
          defaultValue={String(retention_days)}
          inputMode="numeric"
          maxLength={6}
          autoComplete="off"
        />
      </Form>
      <Confirm
        title="Keep verifications for a shorter time?"
        action="Delete what is older"
        opened={asked.opened}
        onClose={asked.close}
        onConfirm={async () => asked.item && save(asked.item)}
      >
        Verifications older than {counted(asked.item?.days ?? retention_days, 'day')} are deleted from the log within a
        minute or so, with their addresses and replies. They do not come back when the time is made longer again.
        Charges and usage counters stay.
      </Confirm>
    </>
  );
}
