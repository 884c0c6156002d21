import { Box, Button, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import type { OperatorAccount } from '../../api/schema.ts';
import { sessionQuery } from '../../api/session.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { notify } from '../../parts/notify.tsx';
import { changeAccount, OPERATOR_KEY } from '../operator/queries.ts';

/** Stops an account for a while, and lets it go on. Both are asked about first. */
export function Suspension({ account: { id, name, status } }: { account: OperatorAccount }) {
  const client = useQueryClient();
  const [opened, { open, close }] = useDisclosure();
  const suspended = status === 'suspended';
  async function change() {
    await changeAccount(id, { status: suspended ? 'active' : 'suspended' });
    void notify(suspended ? `${name} goes on.` : `${name} is suspended.`);
    // It may be one of the operator's own.
    await Promise.all([
      client.invalidateQueries({ queryKey: OPERATOR_KEY }),
      client.invalidateQueries({ queryKey: sessionQuery.queryKey }),
    ]);
  }
  return (
    <Box component="section" aria-labelledby="suspension">
      <Title order={2} id="suspension" mb="xs">
        {suspended ? 'Suspended' : 'Suspend'}
      </Title>
      <Text size="sm" mb="sm" maw={640}>
        {suspended
          ? 'Its keys are refused, and nothing can be verified. Everything else is as it was.'
          : 'Stops the account without losing anything of it.'}
      </Text>
      <Button onClick={open} {...(suspended ? {} : { color: 'red', variant: 'outline' })}>
        {suspended ? 'Resume this account' : 'Suspend this account'}
      </Button>
      <Confirm
        title={suspended ? `Resume ${name}?` : `Suspend ${name}?`}
        action={suspended ? 'Resume' : 'Suspend'}
        opened={opened}
        onClose={close}
        onConfirm={change}
      >
        {suspended
          ? 'Its keys work again from the next request on, with the balance that is left.'
          : 'All of its keys are refused from the next request on, and its people can verify nothing. They still sign in and see everything, and are told that the account is suspended. Nothing is deleted; it can be resumed at any time.'}
      </Confirm>
    </Box>
  );
}
