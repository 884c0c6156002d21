import { Button, Modal, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { SignedInUser } from '../../api/session.ts';
import { RemoveAuthenticator } from './remove-authenticator.tsx';
import { Section } from './section.tsx';
import { SetUpAuthenticator } from './set-up-authenticator.tsx';

/** `On` and `off` are the server's word; a dialog that was left half-way changes nothing. */
export function AuthenticatorSection({ user }: { user: SignedInUser }) {
  const [opened, { open, close }] = useDisclosure();
  const on = user.second_factor;
  return (
    <Section
      title="Authenticator app"
      about="A code of six digits, asked after the password. Who learns your password alone cannot sign in."
    >
      <Text size="sm">{on ? 'On: a code is asked at every sign-in with the password.' : 'Off.'}</Text>
      <Button onClick={open} style={{ alignSelf: 'flex-start' }}>
        {on ? 'Remove the app' : 'Set up an app'}
      </Button>
      {/* Not closed by a click beside it: the recovery codes are not shown again. */}
      <Modal
        opened={opened}
        onClose={close}
        closeOnClickOutside={false}
        size="lg"
        title={on ? 'Remove the authenticator app?' : 'Set up an authenticator app'}
      >
        {on ? (
          <RemoveAuthenticator email={user.email} onRemoved={close} />
        ) : (
          <SetUpAuthenticator email={user.email} onDone={close} />
        )}
      </Modal>
    </Section>
  );
}
