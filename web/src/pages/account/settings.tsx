import { Box, Text, TextInput, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { NAME_LENGTH, RETENTION_DAYS } from '../../../../src/kernel/facts/limits.ts';
import type { Account } from '../../api/schema.ts';
import { sessionQuery, useHasRole } from '../../api/session.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { Form } from '../../parts/form.tsx';
import { pluralize } from '../../parts/format.ts';
import { notify } from '../../parts/notify.tsx';
import { parseInteger } from '../../parts/parse-integer.ts';
import { useDialogState } from '../../parts/use-dialog-state.ts';
import { useSubmit } from '../../parts/use-submit.ts';
import { changeAccount } from './queries.ts';

interface Change {
  readonly name: string;
  readonly days: number;
}

/** Name and retention. Editable by admins only. */
export function Settings({ account }: { account: Account }) {
  const isAdmin = useHasRole('admin');
  return (
    <Box component="section" aria-labelledby="settings" maw={480}>
      <Title order={2} id="settings" mb="xs">
        Name and retention
      </Title>
      {isAdmin ? (
        <SettingsForm key={`${account.name} ${account.retention_days}`} account={account} />
      ) : (
        <Text size="sm">
          {account.name}. Verifications are kept for {pluralize(account.retention_days, 'day')}, then deleted. Only
          admins and owners can change this.
        </Text>
      )}
    </Box>
  );
}

function SettingsForm({ account }: { account: Account }) {
  const { id, name, retention_days, retention_days_max } = account;
  const client = useQueryClient();
  const confirmation = useDialogState<Change>();

  async function save(change: Change) {
    // The maximum is stored as null, so that it follows the server's setting.
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
      days: parseInteger(values.retention_days ?? '', 'retention_days', RETENTION_DAYS.min),
    };
    if (change.name === name && change.days === retention_days) return void notify('No changes to save.');
    if (change.days < retention_days) confirmation.open(change);
    else await save(change);
  });

  return (
    <>
      <Form submit={submit} action="Save">
        <TextInput
          {...submit.field('name')}
          label="Name"
          defaultValue={name}
          maxLength={NAME_LENGTH.max}
          autoComplete="off"
        />
        <TextInput
          {...submit.field('retention_days')}
          label="Retention (days)"
          description={`${RETENTION_DAYS.min} to ${retention_days_max}. Reducing it deletes older verifications.`}
          defaultValue={String(retention_days)}
          inputMode="numeric"
          maxLength={6}
          autoComplete="off"
        />
      </Form>
      <ConfirmDialog
        title="Reduce the retention period?"
        action="Delete older verifications"
        opened={confirmation.opened}
        onClose={confirmation.close}
        onConfirm={async () => confirmation.item && save(confirmation.item)}
      >
        Verifications older than {pluralize(confirmation.item?.days ?? retention_days, 'day')} are deleted from the log
        within about a minute, including addresses and replies. Increasing the retention period later does not restore
        them. Charges and usage statistics are kept.
      </ConfirmDialog>
    </>
  );
}
