import { Box, Button, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import type { OperatorAccount } from '../../api/schema.ts';
import { sessionQuery } from '../../api/session.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { notify } from '../../parts/notify.tsx';
import { changeAccount, OPERATOR_KEY } from '../operator/queries.ts';

/** Suspends or resumes an account, after confirmation. */
export function Suspension({ account: { id, name, status } }: { account: OperatorAccount }) {
  const client = useQueryClient();
  const [opened, { open, close }] = useDisclosure();
  const suspended = status === 'suspended';
  async function change() {
    await changeAccount(id, { status: suspended ? 'active' : 'suspended' });
    void notify(suspended ? `${name} resumed.` : `${name} suspended.`);
    // The operator may be a member of the account.
    await Promise.all([
      client.invalidateQueries({ queryKey: OPERATOR_KEY }),
      client.invalidateQueries({ queryKey: sessionQuery.queryKey }),
    ]);
  }
  return (
    <Box component="section" aria-labelledby="suspension">
      <Title order={2} id="suspension" mb="xs">
        {suspended ? 'Account suspended' : 'Suspend account'}
      </Title>
      <Text size="sm" mb="sm" maw={640}>
        {suspended
          ? 'Its API keys are rejected and it cannot verify addresses. All data is kept.'
          : 'Blocks verifications by this account. All data is kept.'}
      </Text>
      <Button onClick={open} {...(suspended ? {} : { color: 'red', variant: 'outline' })}>
        {suspended ? 'Resume this account' : 'Suspend this account'}
      </Button>
      <ConfirmDialog
        title={suspended ? `Resume ${name}?` : `Suspend ${name}?`}
        action={suspended ? 'Resume' : 'Suspend'}
        opened={opened}
        onClose={close}
        onConfirm={change}
      >
        {suspended
          ? 'Its API keys work again immediately, with the remaining balance.'
          : 'Its API keys are rejected immediately and its members can change nothing. They can still sign in, and read, download and delete everything; they see that the account is suspended. Nothing is deleted. You can resume the account at any time.'}
      </ConfirmDialog>
    </Box>
  );
}
