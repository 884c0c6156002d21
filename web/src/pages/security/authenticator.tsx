import { Button, Modal, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { SignedInUser } from '../../api/session.ts';
import { RemoveAuthenticator } from './remove-authenticator.tsx';
import { Section } from './section.tsx';
import { SetUpAuthenticator } from './set-up-authenticator.tsx';

export function AuthenticatorSection({ user }: { user: SignedInUser }) {
  const [opened, { open, close }] = useDisclosure();
  const on = user.second_factor;
  return (
    <Section
      title="Authenticator app"
      about="Two-factor authentication: signing in with your password also requires a six-digit code from an app."
    >
      <Text size="sm">{on ? 'Two-factor authentication is on.' : 'Two-factor authentication is off.'}</Text>
      <Button onClick={open} style={{ alignSelf: 'flex-start' }}>
        {on ? 'Remove authenticator app' : 'Set up authenticator app'}
      </Button>
      {/* An accidental click outside must not close it: the recovery codes are shown only once. */}
      <Modal
        opened={opened}
        onClose={close}
        closeOnClickOutside={false}
        size="lg"
        title={on ? 'Remove authenticator app?' : 'Set up authenticator app'}
      >
        {on ? (
          <RemoveAuthenticator email={user.email} onRemoved={close} onCancel={close} />
        ) : (
          <SetUpAuthenticator email={user.email} onDone={close} onCancel={close} />
        )}
      </Modal>
    </Section>
  );
}
