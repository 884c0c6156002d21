import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, Button, Code, Divider, Group, Stack, Text } from '@mantine/core';
import { getRouteApi, Link, useLocation, useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { api, unwrap } from '../api/client.ts';
import { useRefreshSession, useSession } from '../api/session.ts';
import { CodeField, normalizeCode } from '../parts/code-field.tsx';
import { EmailField } from '../parts/email-field.tsx';
import { ErrorAlert } from '../parts/error-alert.tsx';
import { focusOnMount } from '../parts/focus.ts';
import { Form } from '../parts/form.tsx';
import { FormResult } from '../parts/form-result.tsx';
import { Loading } from '../parts/loading.tsx';
import { OidcButton } from '../parts/oidc-button.tsx';
import { Page } from '../parts/page.tsx';
import { signInWithPasskey, useSupportsPasskeys } from '../parts/passkeys.ts';
import { PasswordField } from '../parts/password-field.tsx';
import { SetupHint } from '../parts/setup-hint.tsx';
import { useAsyncAction } from '../parts/use-async-action.ts';
import { useHydrated } from '../parts/use-hydrated.ts';
import { useSubmit } from '../parts/use-submit.ts';

const HOME = { next: '/' };

export function SignInPage() {
  const search = route.useSearch();
  // Not known to the service, which renders the page once for everybody.
  const { next } = useHydrated() ? search : HOME;
  const { hash, state } = useLocation();
  const { user, setup_command, signup, oidc } = useSession();
  const refresh = useRefreshSession();
  const router = useRouter();
  const [email, setEmail] = useState(state.email ?? '');
  const [needsCode, setNeedsCode] = useState(state.needsCode ?? false);

  useEffect(() => {
    if (user !== null) router.history.replace(next);
  }, [user, next, router]);

  if (user !== null) return <Loading />;
  if (setup_command !== null && !signup) return <NotSetUp />;
  if (needsCode) return <CodeStep onSignedIn={refresh} onBack={() => setNeedsCode(false)} />;
  if (oidc?.only)
    return (
      <Page title={t`Sign in`}>
        <OidcButton name={oidc.name} next={next} filled />
      </Page>
    );
  if (hash === 'forgot') return <ForgotStep email={email} next={next} />;
  return (
    <PasswordStep
      email={email}
      next={next}
      onEmail={setEmail}
      onSignedIn={refresh}
      onCodeRequired={() => setNeedsCode(true)}
    />
  );
}

function PasskeyButton({ onSignedIn }: { onSignedIn: () => Promise<void> }) {
  const { run, busy, error } = useAsyncAction(async () => {
    await signInWithPasskey();
    await onSignedIn();
  });
  return (
    <Stack>
      <Button onClick={run} loading={busy}>{t`Sign in with a passkey`}</Button>
      {error && <ErrorAlert error={error} />}
    </Stack>
  );
}

function PasswordStep(props: {
  email: string;
  next: string;
  onEmail: (email: string) => void;
  onSignedIn: () => Promise<void>;
  onCodeRequired: () => void;
}) {
  const { email, next, onEmail, onSignedIn, onCodeRequired } = props;
  const { signup, setup_command, oidc } = useSession();
  const supportsPasskeys = useSupportsPasskeys();
  // Initial value only: the focus must not move while the address is typed.
  const [isPrefilled] = useState(email !== '');
  const submit = useSubmit(async ({ email = '', password = '' }) => {
    const body = { email: email.trim(), password };
    const { second_factor } = await unwrap(api.POST('/dashboard/sign-in', { body }));
    if (second_factor) onCodeRequired();
    else await onSignedIn();
  }, 'password');
  return (
    <Page title={t`Sign in`}>
      <Stack>
        <Form submit={submit} action={t`Sign in`} main beside={setup_command === null && <Forgot next={next} />}>
          <EmailField
            {...submit.field('email')}
            defaultValue={email}
            onChange={(event) => onEmail(event.currentTarget.value)}
            ref={isPrefilled ? null : focusOnMount}
          />
          <PasswordField label={t`Password`} {...submit.field('password')} ref={isPrefilled ? focusOnMount : null} />
        </Form>
        {(supportsPasskeys || oidc) && <Divider label={t`or`} labelPosition="center" />}
        {oidc && <OidcButton name={oidc.name} next={next} />}
        {supportsPasskeys && <PasskeyButton onSignedIn={onSignedIn} />}
        {signup && (
          <Group gap={6} fz="sm">
            <Trans>
              No account yet?
              <Anchor component={Link} to="/sign-up" fz="sm" underline="always">
                Sign up
              </Anchor>
            </Trans>
          </Group>
        )}
      </Stack>
    </Page>
  );
}

const Forgot = ({ next }: { next: string }) => (
  <Anchor
    fz="sm"
    renderRoot={(props) => <Link {...props} to="/sign-in" search={{ next }} hash="forgot" />}
  >{t`Forgot your password?`}</Anchor>
);

/** Needs no quoting in a shell. */
const PLAIN = /^[\w.+-]+@[\w.-]+$/;

function ForgotStep({ email, next }: { email: string; next: string }) {
  const { mail } = useSession();
  const [message, setMessage] = useState<string | null>(null);
  const submit = useSubmit(async ({ email = '' }) => {
    const reply = await unwrap(api.POST('/dashboard/password/forgot', { body: { email: email.trim() } }));
    setMessage(reply.message);
  });
  const back = (
    <Anchor
      fz="sm"
      renderRoot={(props) => <Link {...props} to="/sign-in" search={{ next }} />}
    >{t`Back to sign-in`}</Anchor>
  );
  if (!mail)
    return (
      <Page title={t`Reset your password`}>
        <FormResult action={back}>
          <Text>{t`This service does not send email. Ask its operator for a link to choose a new password. The operator runs this command on the host:`}</Text>
          <Code block mt="sm" className="anywhere" style={{ whiteSpace: 'pre-wrap' }}>
            mailvet user reset-password {PLAIN.test(email) ? email : t`<your email address>`}
          </Code>
        </FormResult>
      </Page>
    );
  if (message !== null)
    return (
      <Page title={t`Check your email`}>
        <FormResult action={back}>{message}</FormResult>
      </Page>
    );
  return (
    <Page title={t`Reset your password`} about={t`You will get an email with a link to choose a new password.`}>
      <Form submit={submit} action={t`Send email`} main beside={back}>
        <EmailField {...submit.field('email')} defaultValue={email} ref={focusOnMount} />
      </Form>
    </Page>
  );
}

function CodeStep({ onSignedIn, onBack }: { onSignedIn: () => Promise<void>; onBack: () => void }) {
  const [recovery, setRecovery] = useState(false);
  const submit = useSubmit(async ({ code }) => {
    await unwrap(api.POST('/dashboard/sign-in/code', { body: { code: normalizeCode(code) } }));
    await onSignedIn();
  }, 'code');
  return (
    <Page
      title={t`Two-factor authentication`}
      about={recovery ? t`Each recovery code works once.` : t`Enter the six-digit code from your authenticator app.`}
    >
      <Stack>
        <Form
          submit={submit}
          action={t`Sign in`}
          main
          beside={
            <Anchor component="button" type="button" fz="sm" onClick={() => setRecovery(!recovery)}>
              {recovery ? t`Use an authenticator code` : t`Use a recovery code`}
            </Anchor>
          }
        >
          <CodeField key={String(recovery)} recovery={recovery} {...submit.field('code')} ref={focusOnMount} />
        </Form>
        <Anchor
          component="button"
          type="button"
          fz="sm"
          ta="left"
          onClick={onBack}
        >{t`Sign in as a different user`}</Anchor>
      </Stack>
    </Page>
  );
}

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Pre-fills the sign-in form. */
    email?: string;
    /** The OpenID provider has done its part: a code is asked next. */
    needsCode?: boolean;
  }
}

const route = getRouteApi('/open/sign-in');

const NotSetUp = () => (
  <Page title={t`Not set up yet`} about={t`Nobody can sign in before there is a first user.`}>
    <SetupHint />
  </Page>
);
