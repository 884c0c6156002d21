import { Button, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { api, unwrap } from '../../api/client.ts';
import { leave } from '../../api/sign-out.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Section } from './section.tsx';

export function EverywhereSection() {
  const [opened, { open, close }] = useDisclosure();
  async function signOut() {
    await unwrap(api.POST('/dashboard/sign-out-everywhere'));
    leave();
  }
  return (
    <Section title="Sessions" about="For when a device is lost, or was used by somebody else.">
      <Button onClick={open} style={{ alignSelf: 'flex-start' }}>
        Sign out everywhere
      </Button>
      <Confirm
        title="Sign out everywhere?"
        action="Sign out everywhere"
        opened={opened}
        onClose={close}
        onConfirm={signOut}
      >
        <Text size="sm">
          Every browser in which you are signed in is signed out, this one too. API keys go on working.
        </Text>
      </Confirm>
    </Section>
  );
}
