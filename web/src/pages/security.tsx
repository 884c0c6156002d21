import { Divider, Stack } from '@mantine/core';
import { useSession } from '../api/session.ts';
import { Page } from '../parts/page.tsx';
import { AuthenticatorSection } from './security/authenticator.tsx';
import { NameSection } from './security/name.tsx';
import { PasskeysSection } from './security/passkeys.tsx';
import { PasswordSection } from './security/password.tsx';
import { SessionsSection } from './security/sessions.tsx';

export function SecurityPage() {
  const { user } = useSession();
  if (user === null) return null;
  return (
    <Page title="Sign-in and security" about={`Signed in as ${user.email}.`}>
      <Stack gap="lg" maw={640}>
        <NameSection user={user} />
        <Divider />
        <PasswordSection user={user} />
        <Divider />
        <AuthenticatorSection user={user} />
        <Divider />
        <PasskeysSection user={user} />
        <Divider />
        <SessionsSection />
      </Stack>
    </Page>
  );
}
