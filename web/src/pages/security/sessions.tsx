import { Button, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { api, unwrap } from '../../api/client.ts';
import { redirectToSignIn } from '../../api/sign-out.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { Section } from './section.tsx';

export function SessionsSection() {
  const [opened, { open, close }] = useDisclosure();
  async function signOut() {
    await unwrap(api.POST('/dashboard/sign-out-everywhere'));
    redirectToSignIn();
  }
  return (
    <Section title="Sessions" about="If you lost a device or someone else used it, sign out everywhere.">
      <Button onClick={open} style={{ alignSelf: 'flex-start' }}>
        Sign out everywhere
      </Button>
      <ConfirmDialog
        title="Sign out everywhere?"
        action="Sign out everywhere"
        opened={opened}
        onClose={close}
        onConfirm={signOut}
      >
        <Text size="sm">This signs you out of all browsers, including this one. API keys keep working.</Text>
      </ConfirmDialog>
    </Section>
  );
}
