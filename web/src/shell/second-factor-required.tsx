import { Button, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useAccount, useSession } from '../api/session.ts';
import { signOut } from '../api/sign-out.ts';
import { Page } from '../parts/page.tsx';

/** In place of every page of an account that requires a second factor, in a session begun without one. */
export function SecondFactorRequired() {
  const { name } = useAccount();
  const { user } = useSession();
  const hasApp = user?.second_factor === true;
  return (
    <Page title="Second factor required">
      <Text maw={640} className="anywhere">
        {name} can only be used with a second factor, and you signed in without one.{' '}
        {hasApp
          ? 'Sign out, then sign in with a code of your authenticator app or with a passkey.'
          : 'Set up an authenticator app now, or sign in with a passkey.'}
      </Text>
      <Group>
        {!hasApp && (
          <Button component={Link} to="/security" variant="filled">
            Set up a second factor
          </Button>
        )}
        <Button onClick={() => void signOut()} variant={hasApp ? 'filled' : 'default'}>
          Sign out
        </Button>
      </Group>
    </Page>
  );
}
