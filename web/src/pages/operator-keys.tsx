import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Button, Checkbox, Group, Modal, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { NAME_LENGTH, OPERATOR_KEY_DAYS } from '../../../src/kernel/facts/limits.ts';
import { OPERATOR_SCOPES, type OperatorScope } from '../../../src/kernel/facts/scopes.ts';
import { api, unwrap } from '../api/client.ts';
import type { OperatorKey } from '../api/schema.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { CopyText } from '../parts/copy-text.tsx';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { focusContent, focusOnMount } from '../parts/focus.ts';
import { DialogForm } from '../parts/form.tsx';
import { notify } from '../parts/notify.tsx';
import { Page } from '../parts/page.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { Timestamp } from '../parts/timestamp.tsx';
import { useDialogState } from '../parts/use-dialog-state.ts';
import { useFields } from '../parts/use-fields.ts';
import { parseEntries } from './keys/entries.ts';
import { OperatorOnly } from './operator/operator-only.tsx';
import { OPERATOR_KEY } from './operator/queries.ts';

const KEYS = '/dashboard/operator/keys';

const keysQuery = queryOptions({ queryKey: [...OPERATOR_KEY, 'keys'], queryFn: () => unwrap(api.GET(KEYS)) });

interface NewKey {
  readonly name: string;
  readonly allow_ips: string[];
  readonly scopes: OperatorScope[];
  readonly expires_at: string;
}
const createKey = (body: NewKey) => unwrap(api.POST(KEYS, { body }));
const revokeKey = (id: string) =>
  unwrap(api.POST('/dashboard/operator/keys/{id}/revoke', { params: { path: { id } } }));

const SCOPE_LABELS: Readonly<Record<OperatorScope, string>> = {
  'accounts:read': t`accounts:read: list accounts`,
  'accounts:write': t`accounts:write: create, change and delete accounts, and make API keys for them`,
  credits: t`credits: grant credits and take them back`,
  usage: t`usage: read usage and ledgers`,
};

/** Settings of a new key. */
function KeyForm({ onSave, onCancel }: { onSave: (key: NewKey) => Promise<unknown>; onCancel: () => void }) {
  const [name, setName] = useState('');
  const [addresses, setAddresses] = useState('');
  const [scopes, setScopes] = useState<OperatorScope[]>([]);
  const [expires, setExpires] = useState('');
  const fields = useFields({
    values: { name, allow_ips: addresses, scopes, expires_at: expires },
    send: () => onSave({ name: name.trim(), allow_ips: parseEntries(addresses), scopes, expires_at: expires }),
  });
  return (
    <DialogForm submit={fields} action={t`Create key`} onCancel={onCancel}>
      <TextInput
        label={t`Name`}
        description={t`The program that uses the key, such as “Billing”.`}
        maxLength={NAME_LENGTH.max}
        autoComplete="off"
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={fields.errorOf('name')}
      />
      <Textarea
        label={t`Allowed IP addresses`}
        description={t`IP addresses and CIDR blocks of the program, separated by commas or new lines. Required.`}
        placeholder={'192.0.2.10\n2001:db8::/48'}
        autosize
        minRows={2}
        maxRows={10}
        autoComplete="off"
        spellCheck={false}
        value={addresses}
        onChange={(event) => setAddresses(event.currentTarget.value)}
        error={fields.errorOf('allow_ips')}
      />
      <Checkbox.Group
        label={t`Scopes`}
        description={t`What the key may be used for, in all accounts.`}
        value={scopes}
        onChange={(chosen) => setScopes(OPERATOR_SCOPES.filter((scope) => chosen.includes(scope)))}
        error={fields.errorOf('scopes')}
      >
        <Stack gap="xs" mt={6}>
          {OPERATOR_SCOPES.map((scope) => (
            <Checkbox key={scope} value={scope} label={SCOPE_LABELS[scope]} />
          ))}
        </Stack>
      </Checkbox.Group>
      <TextInput
        type="date"
        label={t`Expiry date`}
        description={t`The key is rejected from the beginning of this day (UTC); at most ${OPERATOR_KEY_DAYS.max} days from now.`}
        value={expires}
        onChange={(event) => setExpires(event.currentTarget.value)}
        error={fields.errorOf('expires_at')}
      />
    </DialogForm>
  );
}

/** Creates a key and shows its value, which exists only in the state of this dialog. */
function CreateDialog({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [value, setValue] = useState<string | null>(null);
  async function save(key: NewKey) {
    const created = await createKey(key);
    setValue(created.value);
    await client.invalidateQueries({ queryKey: keysQuery.queryKey });
  }
  const isShown = value !== null;
  return (
    <Modal
      opened
      onClose={onClose}
      title={isShown ? t`Operator key created` : t`Create operator key`}
      closeOnClickOutside={!isShown}
      closeOnEscape={!isShown}
    >
      {isShown ? (
        <Stack>
          <Text
            size="sm"
            ref={focusOnMount}
            tabIndex={-1}
            style={{ outline: 'none' }}
            fw={600}
          >{t`This key is shown only once, as the service stores only its hash. Copy it now and store it where your program reads its secrets.`}</Text>
          <CopyText label={t`Operator key`} text={value} />
          <Group justify="flex-end">
            <Button variant="filled" onClick={onClose}>{t`Done`}</Button>
          </Group>
        </Stack>
      ) : (
        <KeyForm onSave={save} onCancel={onClose} />
      )}
    </Modal>
  );
}

const STATES: Readonly<Record<OperatorKey['state'], string>> = {
  active: t`Active`,
  expired: t`Expired`,
  revoked: t`Revoked`,
};

function KeysTable({ keys }: { keys: readonly OperatorKey[] }) {
  const client = useQueryClient();
  const revoking = useDialogState<OperatorKey>();
  async function revoke({ id, name }: OperatorKey) {
    await revokeKey(id);
    await client.invalidateQueries({ queryKey: keysQuery.queryKey });
    focusContent();
    void notify(t`${name} was revoked.`);
  }
  const columns: readonly Column<OperatorKey>[] = [
    {
      header: t`Name`,
      cell: ({ name, key }) => (
        <>
          <Text size="sm" className="anywhere">
            {name}
          </Text>
          <Text size="xs" c="dimmed" className="anywhere">
            {key}
          </Text>
        </>
      ),
    },
    { header: t`State`, cell: ({ state }) => STATES[state] },
    { header: t`Scopes`, cell: ({ scopes }) => scopes.join(', '), folds: true },
    { header: t`Allowed from`, cell: ({ allow_ips }) => allow_ips.join(', '), folds: true },
    { header: t`Expires`, cell: ({ expires_at }) => <Timestamp at={expires_at} />, folds: true },
    {
      header: t`Last used`,
      cell: ({ last_used_at }) => (last_used_at === null ? t`Never` : <Timestamp at={last_used_at} />),
      folds: true,
    },
    {
      header: t`Actions`,
      quietHeader: true,
      cell: (key) =>
        key.state === 'revoked' ? null : (
          <Button size="xs" aria-label={t`Revoke ${key.name}`} onClick={() => revoking.open(key)}>{t`Revoke`}</Button>
        ),
    },
  ];
  return (
    <>
      <DataTable label={t`Operator keys`} columns={columns} rows={keys} rowKey={({ id }) => id} />
      <ConfirmDialog
        title={t`Revoke the key?`}
        action={t`Revoke`}
        opened={revoking.opened}
        onClose={revoking.close}
        onConfirm={async () => revoking.item && revoke(revoking.item)}
      >
        <Trans>Requests with {revoking.item?.name ?? t`it`} are rejected immediately. This cannot be undone.</Trans>
      </ConfirmDialog>
    </>
  );
}

export const OperatorKeysPage = () => (
  <OperatorOnly>
    <OperatorKeys />
  </OperatorOnly>
);

function OperatorKeys() {
  const query = useQuery(keysQuery);
  const [creating, setCreating] = useState(false);
  return (
    <Page
      title={t`Operator keys`}
      about={t`For programs that run this service: they create accounts, grant credits and make API keys by the operator API.`}
      action={<Button variant="filled" onClick={() => setCreating(true)}>{t`Create key`}</Button>}
    >
      <QueryResult query={query}>
        {({ keys }) =>
          keys.length > 0 ? (
            <KeysTable keys={keys} />
          ) : (
            <EmptyState
              title={t`No operator keys`}
            >{t`A shop or a billing system needs one to create accounts and to grant credits.`}</EmptyState>
          )
        }
      </QueryResult>
      {creating && <CreateDialog onClose={() => setCreating(false)} />}
    </Page>
  );
}
