import { Text } from '@mantine/core';
import { getRouteApi, useLocation, useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useRefreshSession, useSession } from '../api/session.ts';
import { Loading } from '../parts/loading.tsx';
import { Page } from '../parts/page.tsx';
import { SetupHint } from '../parts/setup-hint.tsx';
import { CodeStep } from './sign-in/code-step.tsx';
import { ForgotStep } from './sign-in/forgot-step.tsx';
import { PasswordStep } from './sign-in/password-step.tsx';

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Pre-fills the sign-in form. */
    email?: string;
  }
}

const route = getRouteApi('/open/sign-in');

export function SignInPage() {
  const { next } = route.useSearch();
  const { hash, state } = useLocation();
  const { user, needs_setup, signup } = useSession();
  const refresh = useRefreshSession();
  const router = useRouter();
  const [email, setEmail] = useState(state.email ?? '');
  const [needsCode, setNeedsCode] = useState(false);

  useEffect(() => {
    if (user !== null) router.history.replace(next);
  }, [user, next, router]);

  if (user !== null) return <Loading />;
  if (needs_setup && !signup) return <NotSetUp />;
  if (needsCode) return <CodeStep onSignedIn={refresh} onBack={() => setNeedsCode(false)} />;
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

const NotSetUp = () => (
  <Page title="Not set up yet" about="Nobody can sign in until the setup link has been opened.">
    <SetupHint>
      <Text>It prints the link, which works once.</Text>
    </SetupHint>
  </Page>
);
