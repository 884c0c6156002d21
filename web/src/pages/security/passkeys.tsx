import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, Button, Group, Modal, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { PASSKEY_NAME_LENGTH } from '../../../../src/kernel/facts/limits.ts';
import { api, unwrap } from '../../api/client.ts';
import type { Passkeys } from '../../api/schema.ts';
import { type SignedInUser, sessionQuery } from '../../api/session.ts';
import { CodeField, normalizeCode } from '../../parts/code-field.tsx';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { HiddenUsername } from '../../parts/email-field.tsx';
import { ErrorAlert } from '../../parts/error-alert.tsx';
import { DialogForm } from '../../parts/form.tsx';
import { Loading } from '../../parts/loading.tsx';
import { notify } from '../../parts/notify.tsx';
import { addPasskey, type Proof, useSupportsPasskeys } from '../../parts/passkeys.ts';
import { PasswordField } from '../../parts/password-field.tsx';
import {
  ProviderConfirmation,
  type ProviderConfirmed,
  useProviderConfirmed,
} from '../../parts/provider-confirmation.tsx';
import { Timestamp } from '../../parts/timestamp.tsx';
import { useDialogState } from '../../parts/use-dialog-state.ts';
import { type Submission, useSubmit } from '../../parts/use-submit.ts';
import { Section } from './section.tsx';

const METHODS = {
  password: t`Use your password`,
  oidc: t`Use your sign-in provider`,
  code: t`Use an authenticator code`,
  passkey: t`Use a passkey you have`,
} as const;
type Method = keyof typeof METHODS;

function proofOf(method: Method, values: Readonly<Record<string, string>>, by: ProviderConfirmed): Proof {
  const { password = '', code = '' } = values;
  switch (method) {
    case 'passkey':
      return method;
    case 'code':
      return { code: normalizeCode(code) };
    case 'oidc':
      return by.use();
    case 'password':
      return { password };
  }
}

interface Props {
  readonly user: SignedInUser;
  readonly hasPasskey: boolean;
  readonly onAdded: () => Promise<void>;
  readonly onCancel: () => void;
}

function AddPasskey({ user, hasPasskey, onAdded, onCancel }: Props) {
  const by = useProviderConfirmed('add_passkey');
  const methods: readonly Method[] = [
    ...(user.has_password ? (['password'] as const) : []),
    ...(by.provider === null ? [] : (['oidc'] as const)),
    ...(user.second_factor ? (['code'] as const) : []),
    ...(hasPasskey ? (['passkey'] as const) : []),
  ];
  const [method, setMethod] = useState<Method>(methods[0] ?? 'password');
  const submit = useSubmit(async (values) => {
    await addPasskey((values.name ?? '').trim(), proofOf(method, values, by));
    await onAdded();
    await notify(t`Passkey added.`);
  }, method);
  const isReady = method !== 'oidc' || by.confirmed;
  return (
    <DialogForm submit={submit} action={t`Continue`} onCancel={onCancel} disabled={!isReady}>
      <TextInput
        label={t`Passkey name`}
        description={t`For example the device that stores it. Your browser asks for the rest.`}
        autoComplete="off"
        maxLength={PASSKEY_NAME_LENGTH.max}
        data-autofocus
        {...submit.field('name')}
      />
      <HiddenUsername email={user.email} />
      <ProofField method={method} submit={submit} by={by} />
      <Group gap="md">
        {methods
          .filter((other) => other !== method)
          .map((other) => (
            <Anchor key={other} component="button" type="button" fz="sm" onClick={() => setMethod(other)}>
              {METHODS[other]}
            </Anchor>
          ))}
      </Group>
    </DialogForm>
  );
}

function ProofField({ method, submit, by }: { method: Method; submit: Submission; by: ProviderConfirmed }) {
  switch (method) {
    case 'oidc':
      return <ProviderConfirmation action="add_passkey" by={by} />;
    case 'password':
      return <PasswordField label={t`Password`} {...submit.field('password')} />;
    case 'code':
      return <CodeField {...submit.field('code')} />;
    case 'passkey':
      return <Text size="sm">{t`Your browser first asks for a passkey that you have, then for the new one.`}</Text>;
  }
}

type Passkey = Passkeys['passkeys'][number];

const KEY = ['passkeys'];

export function PasskeysSection({ user }: { user: SignedInUser }) {
  const client = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: KEY,
    queryFn: () => unwrap(api.GET('/dashboard/passkeys')),
  });
  const [adding, { open, close }] = useDisclosure(useProviderConfirmed('add_passkey').confirmed);
  const supportsPasskeys = useSupportsPasskeys();
  const { item: removing, ...removal } = useDialogState<Passkey>();
  const refresh = () => client.invalidateQueries({ queryKey: KEY });
  async function remove() {
    if (removing === null) return;
    await unwrap(api.DELETE('/dashboard/passkeys/{id}', { params: { path: { id: removing.id } } }));
    // It may have been the last second factor.
    await Promise.all([refresh(), client.invalidateQueries({ queryKey: sessionQuery.queryKey })]);
  }
  return (
    <Section
      title={t`Passkeys`}
      about={t`Sign in with a device lock, a password manager or a security key instead of your password and code.`}
    >
      {error && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data?.passkeys.length === 0 && <Text size="sm">{t`No passkeys yet.`}</Text>}
      {data && data.passkeys.length > 0 && (
        <DataTable
          label={t`Your passkeys`}
          rows={data.passkeys}
          rowKey={(row) => row.id}
          columns={[
            { header: t`Name`, cell: (row) => <span className="anywhere">{row.name}</span> },
            { header: t`Added`, folds: true, cell: (row) => <Timestamp at={row.created_at} /> },
            {
              header: t`Last used`,
              cell: (row) => (row.last_used_at === null ? t`Not yet` : <Timestamp at={row.last_used_at} />),
            },
            {
              header: t`Actions`,
              quietHeader: true,
              cell: (row) => (
                <Group justify="flex-end">
                  <Button
                    size="compact-sm"
                    onClick={() => removal.open(row)}
                    aria-label={t`Remove ${row.name}`}
                  >{t`Remove`}</Button>
                </Group>
              ),
            },
          ]}
        />
      )}
      {supportsPasskeys ? (
        <Button onClick={open} style={{ alignSelf: 'flex-start' }}>{t`Add passkey`}</Button>
      ) : (
        <Text size="sm">{t`To add a passkey, open the dashboard at its host name over HTTPS, or at localhost. Browsers do not support passkeys elsewhere.`}</Text>
      )}
      <Modal opened={adding} onClose={close} title={t`Add passkey`}>
        <AddPasskey
          user={user}
          hasPasskey={(data?.passkeys.length ?? 0) > 0}
          onCancel={close}
          onAdded={async () => {
            await refresh();
            close();
          }}
        />
      </Modal>
      <ConfirmDialog
        title={t`Remove passkey?`}
        action={t`Remove`}
        opened={removal.opened}
        onClose={removal.close}
        onConfirm={remove}
      >
        <Text size="sm">
          <Trans>
            You can no longer sign in with “{removing?.name}”. Delete it from the device or password manager that stores
            it as well.
          </Trans>
        </Text>
      </ConfirmDialog>
    </Section>
  );
}
