import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Button, Divider, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { pinAccount } from '../api/account-path.ts';
import { api, unwrap } from '../api/client.ts';
import { type Role, useRefreshSession, useSession } from '../api/session.ts';
import { endSession } from '../api/sign-out.ts';
import { EmailField, PersonNameField } from '../parts/email-field.tsx';
import { ErrorAlert } from '../parts/error-alert.tsx';
import { focusOnMount } from '../parts/focus.ts';
import { Form } from '../parts/form.tsx';
import { InvalidLink } from '../parts/invalid-link.tsx';
import { type OpenedLink, useLink } from '../parts/link-token.ts';
import { Loading } from '../parts/loading.tsx';
import { OidcButton } from '../parts/oidc-button.tsx';
import { Page } from '../parts/page.tsx';
import { NewPasswordField } from '../parts/password-field.tsx';
import { useAsyncAction } from '../parts/use-async-action.ts';
import { useLookup } from '../parts/use-lookup.ts';
import { useRedirectAfterAuth } from '../parts/use-redirect-after-auth.ts';
import { useSubmit } from '../parts/use-submit.ts';

export function InvitationPage() {
  const link = useLink('/invitation');
  if (link.token === null)
    return (
      <InvalidLink link={link}>
        {link.rejection === null
          ? t`Open the link in your invitation again.`
          : t`Ask the person who invited you for a new link.`}
      </InvalidLink>
    );
  return <Invitation key={link.token} token={link.token} link={link} />;
}

/** There is a user with the invited address, who signs in first. The link token stays in memory meanwhile. */
function SignInFirst({ email, token }: { email: string; token: string }) {
  const { oidc } = useSession();
  return (
    <Stack align="flex-start">
      <Text className="anywhere">
        <Trans>
          Sign in as {email} to join.{!oidc?.only && t` You will return to this page.`}
        </Trans>
      </Text>
      {!oidc?.only && (
        <Button
          variant="filled"
          renderRoot={(props) => <Link {...props} to="/sign-in" search={{ next: '/invitation' }} state={{ email }} />}
        >{t`Sign in`}</Button>
      )}
      {oidc && <OidcButton name={oidc.name} next="/" invitation={token} filled={oidc.only} />}
    </Stack>
  );
}

interface AcceptProps {
  readonly token: string;
  readonly link: OpenedLink;
  readonly email: string;
  readonly onJoined: () => void;
}

/** Accepts the invitation and selects its account. `person`: name and password of a new user. */
function useAcceptInvitation({ link, onJoined }: AcceptProps) {
  const before = useSession().accounts.map(({ id }) => id);
  const enter = useRedirectAfterAuth();
  return async (person: { name: string; password: string } | null) => {
    const send = (token: string) => unwrap(api.POST('/dashboard/invitation/accept', { body: { token, ...person } }));
    await link.use(send, () => {
      onJoined();
      return enter(({ accounts }) => {
        const joined = accounts.find(({ id }) => !before.includes(id));
        if (joined) pinAccount(joined.id);
      });
    });
  };
}

/** The user is signed in with the invited address. */
function AcceptSignedIn(joining: AcceptProps) {
  const join = useAcceptInvitation(joining);
  const submit = useSubmit(() => join(null));
  return (
    <Form submit={submit} action={t`Join`} main>
      <Text className="anywhere">
        <Trans>You are signed in as {joining.email}.</Trans>
      </Text>
    </Form>
  );
}

/** The user is signed in with another address than the invited one. */
function WrongUser({ email, mine }: { email: string; mine: string }) {
  const refresh = useRefreshSession();
  const { run, busy, error } = useAsyncAction(async () => {
    await endSession();
    await refresh();
  });
  return (
    <Stack align="flex-start">
      <Text className="anywhere">
        <Trans>
          This invitation is for {email}, but you are signed in as {mine}. Sign out to accept it, or ask for an
          invitation for {mine}.
        </Trans>
      </Text>
      {error && <ErrorAlert error={error} />}
      <Button variant="filled" onClick={run} loading={busy}>{t`Sign out`}</Button>
    </Stack>
  );
}

/** There is no user with the invited address yet. */
function AcceptAsNewUser(joining: AcceptProps) {
  const { oidc } = useSession();
  if (oidc === null) return <PersonForm joining={joining} passwordLabel={t`Password`} />;
  const { name, only } = oidc;
  return (
    <Stack>
      {!only && <PersonForm joining={joining} passwordLabel={t`Password`} />}
      {!only && <Divider label={t`or`} labelPosition="center" />}
      <OidcButton name={name} next="/" invitation={joining.token} filled={only} />
    </Stack>
  );
}

/**
 * The signed-in user has the invited address, but has never proven it: the link does, and nothing of before is kept.
 */
const AcceptUnconfirmed = (joining: AcceptProps) => (
  <Stack>
    <Text className="anywhere">
      <Trans>
        You are signed in as {joining.email}, but this address has never been confirmed. The link confirms it: choose a
        new password to join. This ends all your sessions and removes all your passkeys and your authenticator app.
      </Trans>
    </Text>
    <PersonForm joining={joining} passwordLabel={t`New password`} />
  </Stack>
);

function PersonForm({ joining, passwordLabel }: { joining: AcceptProps; passwordLabel: string }) {
  const join = useAcceptInvitation(joining);
  const submit = useSubmit(({ name = '', password = '' }) => join({ name: name.trim(), password }));
  return (
    <Form submit={submit} action={t`Join`} main>
      <EmailField
        name="email"
        defaultValue={joining.email}
        readOnly
        description={t`The invitation was sent to this address.`}
      />
      <PersonNameField {...submit.field('name')} ref={focusOnMount} />
      <NewPasswordField label={passwordLabel} {...submit.field('password')} />
    </Form>
  );
}

function Invitation({ token, link }: { token: string; link: OpenedLink }) {
  const { user } = useSession();
  const lookUp = () => unwrap(api.POST('/dashboard/invitation', { body: { token } }));
  const { found: invitation, error, retry } = useLookup(link, lookUp);
  const [joined, setJoined] = useState(false);
  if (invitation === null || joined)
    return <Page title={t`Invitation`}>{error ? <ErrorAlert error={error} onRetry={retry} /> : <Loading />}</Page>;
  const { account, email, role, known } = invitation;
  const parts = { token, link, email, onJoined: () => setJoined(true) };
  return (
    <Page title={t`Join ${account.name}`} about={ABOUT[role]}>
      {user !== null && !sameAddress(user.email, email) && <WrongUser email={email} mine={user.email} />}
      {user !== null && sameAddress(user.email, email) && known && <AcceptSignedIn {...parts} />}
      {user !== null && sameAddress(user.email, email) && !known && <AcceptUnconfirmed {...parts} />}
      {user === null && known && <SignInFirst email={email} token={token} />}
      {user === null && !known && <AcceptAsNewUser {...parts} />}
    </Page>
  );
}

const ABOUT: Readonly<Record<Role, string>> = {
  viewer: t`You are invited as a viewer: you can view everything, and change nothing.`,
  member: t`You are invited as a member: you can verify addresses, edit filters and view everything else.`,
  admin: t`You are invited as an admin: you can also manage API keys, members and settings.`,
  owner: t`You are invited as an owner: you have full control of the account.`,
};

const sameAddress = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
