import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Badge, Box, Button, Divider, Group, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap } from '../api/client.ts';
import type { Sessions } from '../api/schema.ts';
import { type SignedInUser, sessionQuery, useSession } from '../api/session.ts';
import { redirectToSignIn } from '../api/sign-out.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { HiddenUsername, PersonNameField } from '../parts/email-field.tsx';
import { ErrorAlert } from '../parts/error-alert.tsx';
import { Form } from '../parts/form.tsx';
import { Loading } from '../parts/loading.tsx';
import { notify } from '../parts/notify.tsx';
import { Page } from '../parts/page.tsx';
import { NewPasswordField, PasswordField } from '../parts/password-field.tsx';
import { Timestamp } from '../parts/timestamp.tsx';
import { useDialogState } from '../parts/use-dialog-state.ts';
import { useSubmit } from '../parts/use-submit.ts';
import { AuthenticatorSection } from './security/authenticator.tsx';
import { PasskeysSection } from './security/passkeys.tsx';
import { Section } from './security/section.tsx';

export function SecurityPage() {
  const { user, oidc } = useSession();
  if (user === null) return null;
  return (
    <Page title={t`Sign-in and security`} about={t`Signed in as ${user.email}.`}>
      <Stack gap="lg" maw={640}>
        <NameSection user={user} />
        <Divider />
        {oidc !== null && !user.has_password ? <ProviderSection {...oidc} /> : <PasswordSection user={user} />}
        <Divider />
        {(!oidc?.only || user.second_factor) && (
          <>
            <AuthenticatorSection user={user} />
            <Divider />
          </>
        )}
        {!oidc?.only && (
          <>
            <PasskeysSection user={user} />
            <Divider />
          </>
        )}
        <SessionsSection />
      </Stack>
    </Page>
  );
}

function NameSection({ user }: { user: SignedInUser }) {
  const client = useQueryClient();
  const submit = useSubmit(async ({ name = '' }) => {
    await unwrap(api.PATCH('/dashboard/profile', { body: { name: name.trim() } }));
    await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
    await notify(t`Name saved.`);
  });
  return (
    <Section title={t`Name`} about={t`Shown to other members of your accounts, together with your email address.`}>
      <Box maw={360}>
        <Form submit={submit} action={t`Save name`}>
          <PersonNameField defaultValue={user.name} {...submit.field('name')} />
        </Form>
      </Box>
    </Section>
  );
}

function ProviderSection({ name, only }: { name: string; only: boolean }) {
  const none = only ? t`This service has no passwords or passkeys of its own.` : t`You have no password here.`;
  return (
    <Section title={t`Sign-in`} about={t`You sign in with ${name}. ${none}`}>
      {null}
    </Section>
  );
}

function PasswordSection({ user }: { user: SignedInUser }) {
  const [changes, setChanges] = useState(0);
  return (
    <Section title={t`Password`} about={t`Changing your password signs out all your other sessions.`}>
      <Box maw={360}>
        {/* Remounted after each change, to clear the fields. */}
        <PasswordForm key={changes} email={user.email} onChanged={() => setChanges(changes + 1)} />
      </Box>
    </Section>
  );
}

function PasswordForm({ email, onChanged }: { email: string; onChanged: () => void }) {
  const submit = useSubmit(async ({ current = '', password = '' }) => {
    await unwrap(api.POST('/dashboard/password', { body: { current, password } }));
    onChanged();
    await notify(t`Password changed. All your other sessions have been signed out.`);
  }, 'current');
  return (
    <Form submit={submit} action={t`Change password`}>
      <HiddenUsername email={email} />
      <PasswordField label={t`Current password`} {...submit.field('current')} />
      <NewPasswordField label={t`New password`} {...submit.field('password')} />
    </Form>
  );
}

function SessionTable({
  sessions,
  onEnd,
}: {
  sessions: Sessions['sessions'];
  onEnd: (session: Sessions['sessions'][number]) => void;
}) {
  return (
    <DataTable
      label={t`Your sessions`}
      rows={sessions}
      rowKey={(row) => row.id}
      columns={[
        {
          header: t`Device`,
          cell: (row) => (
            <Group gap="xs">
              {row.device}
              {row.current && <Badge variant="outline" size="sm" tt="none">{t`This device`}</Badge>}
            </Group>
          ),
        },
        { header: t`IP address`, cell: (row) => <span className="anywhere">{row.ip ?? t`Unknown`}</span> },
        { header: t`Signed in`, folds: true, cell: (row) => <Timestamp at={row.signed_in_at} /> },
        { header: t`Last seen`, folds: true, cell: (row) => <Timestamp at={row.last_seen_at} /> },
        {
          header: t`Actions`,
          quietHeader: true,
          cell: (row) =>
            !row.current && (
              <Group justify="flex-end">
                <Button
                  size="compact-sm"
                  onClick={() => onEnd(row)}
                  aria-label={t`Sign out ${row.device}, ${row.ip ?? t`unknown address`}`}
                >{t`Sign out`}</Button>
              </Group>
            ),
        },
      ]}
    />
  );
}

type Session = Sessions['sessions'][number];

const KEY = ['sessions'];

function SessionsSection() {
  const { oidc } = useSession();
  const client = useQueryClient();
  const { data, error, refetch } = useQuery({ queryKey: KEY, queryFn: () => unwrap(api.GET('/dashboard/sessions')) });
  const { item: ending, ...ended } = useDialogState<Session>();
  const [others, othersDialog] = useDisclosure();
  const [everywhere, everywhereDialog] = useDisclosure();
  const refresh = () => client.invalidateQueries({ queryKey: KEY });
  async function end() {
    if (ending === null) return;
    await unwrap(api.DELETE('/dashboard/sessions/{id}', { params: { path: { id: ending.id } } }));
    await refresh();
  }
  async function endOthers() {
    await unwrap(api.POST('/dashboard/sessions/end-others'));
    await refresh();
    await notify(t`All your other sessions have been signed out.`);
  }
  async function endAll() {
    await unwrap(api.POST('/dashboard/sign-out-everywhere'));
    redirectToSignIn();
  }
  return (
    <Section
      title={t`Sessions`}
      about={t`Browsers that are signed in. If you do not recognize one, sign it out and change your password${oidc?.only ? t` at ${oidc.name}` : ''}.`}
    >
      {error && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && <SessionTable sessions={data.sessions} onEnd={ended.open} />}
      <Group gap="sm">
        {data && data.sessions.length > 1 && (
          <Button onClick={othersDialog.open}>{t`Sign out all other sessions`}</Button>
        )}
        <Button onClick={everywhereDialog.open}>{t`Sign out everywhere`}</Button>
      </Group>
      <ConfirmDialog
        title={t`Sign out this session?`}
        action={t`Sign out`}
        opened={ended.opened}
        onClose={ended.close}
        onConfirm={end}
      >
        <Text size="sm">
          <Trans>
            {ending?.device}
            {ending?.ip ? `, ${ending.ip},` : ''} is signed out at once.
          </Trans>
        </Text>
      </ConfirmDialog>
      <ConfirmDialog
        title={t`Sign out all other sessions?`}
        action={t`Sign out`}
        opened={others}
        onClose={othersDialog.close}
        onConfirm={endOthers}
      >
        <Text size="sm">{t`This signs you out of all browsers but this one. Links to choose a password that were sent to you stop working.`}</Text>
      </ConfirmDialog>
      <ConfirmDialog
        title={t`Sign out everywhere?`}
        action={t`Sign out everywhere`}
        opened={everywhere}
        onClose={everywhereDialog.close}
        onConfirm={endAll}
      >
        <Text size="sm">{t`This signs you out of all browsers, including this one. API keys keep working.`}</Text>
      </ConfirmDialog>
    </Section>
  );
}
