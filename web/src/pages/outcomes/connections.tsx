import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Button, Group, Modal, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { NAME_LENGTH, OUTCOME_SECRET_LENGTH } from '../../../../src/kernel/facts/limits.ts';
import { OUTCOME_PROVIDER_FACTS, OUTCOME_PROVIDERS } from '../../../../src/kernel/facts/sent-mail.ts';
import { api, unwrap } from '../../api/client.ts';
import type { OutcomeSource } from '../../api/schema.ts';
import { useAccount } from '../../api/session.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { factText } from '../../parts/fact-text.ts';
import { DialogForm } from '../../parts/form.tsx';
import { formatNumber } from '../../parts/format.ts';
import { notify } from '../../parts/notify.tsx';
import { Timestamp } from '../../parts/timestamp.tsx';
import { useFields } from '../../parts/use-fields.ts';
import { CallerFacts, CallerUrl, RollSecret } from '../webhooks/caller-secret.tsx';
import { SECRET_DIALOG } from '../webhooks/create-dialog.tsx';
import { outcomeSourcesQuery } from './queries.ts';
import { RowsLink } from './reliability.tsx';

export type ConnectionDialog =
  | { readonly what: 'create' }
  | { readonly what: 'roll' | 'delete'; readonly source: OutcomeSource };

const isTheirs = ({ provider }: OutcomeSource): boolean => OUTCOME_PROVIDER_FACTS[provider].secretOf === 'provider';
const secretAction = (source: OutcomeSource): string => (isTheirs(source) ? t`Enter secret` : t`Roll secret`);

/** `onOpen`: null for those who cannot change connections. */
export const Connections = (props: {
  sources: readonly OutcomeSource[];
  onOpen: ((dialog: ConnectionDialog) => void) | null;
}) => (
  <DataTable
    label={t`Connections`}
    columns={props.onOpen === null ? COLUMNS : [...COLUMNS, actionsColumn(props.onOpen)]}
    rows={props.sources}
    rowKey={({ id }) => id}
  />
);

const COLUMNS: readonly Column<OutcomeSource>[] = [
  { header: t`Connection`, cell: (source) => <NameAndUrl of={source} /> },
  { header: t`Outcomes`, numeric: true, folds: true, cell: (source) => <Received of={source} /> },
  { header: t`Last one`, folds: true, cell: (source) => <LastOne of={source} /> },
];

/** How many, which leads to the verifications. */
const Received = ({ of: { id, received } }: { of: OutcomeSource }) =>
  received === 0 ? 0 : <RowsLink search={{ reported: id }}>{formatNumber(received)}</RowsLink>;

const LastOne = ({ of: { last_received_at } }: { of: OutcomeSource }) =>
  last_received_at === null ? t`None yet` : <Timestamp at={last_received_at} />;

const actionsColumn = (onOpen: (dialog: ConnectionDialog) => void): Column<OutcomeSource> => ({
  header: t`Actions`,
  quietHeader: true,
  cell: (source) => (
    <Group gap="xs" justify="flex-end">
      <Button
        size="xs"
        onClick={() => onOpen({ what: 'roll', source })}
        aria-label={t`${secretAction(source)} of ${source.name}`}
      >
        {secretAction(source)}
      </Button>
      <Button
        size="xs"
        color="red"
        onClick={() => onOpen({ what: 'delete', source })}
        aria-label={t`Delete ${source.name}`}
      >{t`Delete`}</Button>
    </Group>
  ),
});

function NameAndUrl({ of }: { of: OutcomeSource }) {
  const { name, provider } = of;
  const { name: caller } = OUTCOME_PROVIDER_FACTS[provider];
  const secret = factText(OUTCOME_PROVIDER_FACTS[provider].secret);
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600} className="anywhere">
        {name}
      </Text>
      <CallerFacts
        caller={caller}
        of={of}
        refused={
          <Trans>
            Requests are refused until you enter what {caller} shows: {secret}.
          </Trans>
        }
      />
    </Stack>
  );
}

/** What admins do with connections; one dialog at a time. */
export function ConnectionDialogs({ open, onClose }: { open: ConnectionDialog | null; onClose: () => void }) {
  const { id: account } = useAccount();
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: outcomeSourcesQuery(account).queryKey });
  const isOpen = (what: ConnectionDialog['what']) => open?.what === what;
  const source = open !== null && open.what !== 'create' ? open.source : null;
  return (
    <>
      <Modal opened={isOpen('create')} onClose={onClose} title={t`Connect provider`} {...SECRET_DIALOG}>
        <Create onDone={refresh} onClose={onClose} />
      </Modal>
      <Modal opened={isOpen('roll')} onClose={onClose} title={t`Secret of the connection`} {...SECRET_DIALOG}>
        {source && <Roll source={source} onDone={refresh} onClose={onClose} />}
      </Modal>
      <ConfirmDialog
        opened={isOpen('delete')}
        onClose={onClose}
        title={t`Delete connection`}
        action={t`Delete`}
        onConfirm={async () => {
          if (source === null) return;
          const params = { path: { account, id: source.id } };
          await unwrap(api.DELETE('/dashboard/accounts/{account}/outcome-sources/{id}', { params }));
          await refresh();
          void notify(t`Connection deleted.`);
        }}
      >
        <Trans>Requests of “{source?.name}” are refused from now on. What it reported so far still counts.</Trans>
      </ConfirmDialog>
    </>
  );
}

type Actions = { readonly onDone: () => Promise<unknown>; readonly onClose: () => void };

const PROVIDERS = OUTCOME_PROVIDERS.map((value) => ({ value, label: OUTCOME_PROVIDER_FACTS[value].name }));

/** Mounted with the dialog, so that its state resets. */
function Create({ onDone, onClose }: Actions) {
  const { id: account } = useAccount();
  const [provider, setProvider] = useState(OUTCOME_PROVIDERS[0] as OutcomeSource['provider']);
  const [name, setName] = useState('');
  const [made, setMade] = useState<{ source: OutcomeSource; secret: string | null } | null>(null);
  const fields = useFields({
    values: { provider, name },
    missing: { name: name.trim() === '' && t`Enter a name.` },
    send: async () => {
      const call = { params: { path: { account } }, body: { provider, name: name.trim() } };
      setMade(await unwrap(api.POST('/dashboard/accounts/{account}/outcome-sources', call)));
      await onDone();
    },
  });
  if (made !== null) return <Made {...made} onClose={onClose} />;
  return (
    <DialogForm submit={fields} action={t`Connect provider`} onCancel={onClose}>
      <NativeSelect
        label={t`Provider`}
        description={t`What sends your mail.`}
        data={PROVIDERS}
        value={provider}
        onChange={({ currentTarget: { value } }) =>
          setProvider(OUTCOME_PROVIDERS.find((one) => one === value) ?? provider)
        }
        error={fields.errorOf('provider')}
      />
      <TextInput
        label={t`Name`}
        description={t`What is sent with it, such as “Newsletter”.`}
        required
        withAsterisk={false}
        maxLength={NAME_LENGTH.max}
        autoComplete="off"
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={fields.errorOf('name')}
      />
    </DialogForm>
  );
}

/** What to enter at the provider. */
function Made({ source, secret, onClose }: { source: OutcomeSource; secret: string | null; onClose: () => void }) {
  const facts = OUTCOME_PROVIDER_FACTS[source.provider];
  const [name, what, setting] = [facts.name, factText(facts.secret), factText(facts.setting)];
  return (
    <CallerUrl
      caller={name}
      url={source.url}
      secret={secret}
      setting={t`Set up there: ${setting}.`}
      then={t`Then choose “Enter secret” here and enter what ${name} shows: ${what}. Its requests are refused until then.`}
      onClose={onClose}
    />
  );
}

function Roll({ source, onDone, onClose }: Actions & { source: OutcomeSource }) {
  const { id: account } = useAccount();
  const { name, secret, example } = OUTCOME_PROVIDER_FACTS[source.provider];
  const label = factText(secret);
  const description = t`What ${name} shows, such as ${example ?? ''}`;
  return (
    <RollSecret
      caller={name}
      theirs={isTheirs(source) ? { label, description, maxLength: OUTCOME_SECRET_LENGTH.max } : null}
      replaces={source.has_secret}
      onRoll={async (body) => {
        const call = { params: { path: { account, id: source.id } }, body };
        const path = '/dashboard/accounts/{account}/outcome-sources/{id}/roll';
        const { secret } = await unwrap(api.POST(path, call));
        await onDone();
        return secret;
      }}
      shown={(secret) => <Made source={source} secret={secret} onClose={onClose} />}
      onClose={onClose}
    />
  );
}
