import { Box, Button, List, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { api, unwrap } from '../../api/client.ts';
import type { Account } from '../../api/schema.ts';
import { useRefreshSession, useSession } from '../../api/session.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { counted } from '../../parts/words.ts';

/** The end of the account: for owners. */
export function Danger({ account }: { account: Account }) {
  const { id, name, credits } = account;
  const [opened, { open, close }] = useDisclosure();
  const refresh = useRefreshSession();
  const navigate = useNavigate();
  const { user, accounts } = useSession();
  // Operators stay.
  const losesSignIn = accounts.length === 1 && user?.operator !== true;

  async function remove(password: string) {
    const path = '/dashboard/accounts/{account}/delete';
    await unwrap(api.POST(path, { params: { path: { account: id } }, body: { name, password } }));
    await refresh();
    await navigate({ to: '/' });
  }

  return (
    <Box component="section" aria-labelledby="danger">
      <Title order={2} id="danger" mb="xs">
        Delete the account
      </Title>
      <Text size="sm" mb="sm" maw={640}>
        For good: keys, log, filters, credits and members. It cannot be undone.
      </Text>
      <Button color="red" variant="outline" onClick={open}>
        Delete this account
      </Button>
      <Confirm
        title={`Delete ${name}?`}
        action="Delete for good"
        typed={name}
        password
        opened={opened}
        onClose={close}
        onConfirm={remove}
      >
        <Text inherit mb="xs">
          This is lost, at once and for good:
        </Text>
        <List size="sm" spacing={4}>
          <List.Item>All API keys: whatever uses one is refused with its next request.</List.Item>
          <List.Item>The log of verifications, the usage counters, and the audit log.</List.Item>
          <List.Item>All filters. Download them first if you may want them again.</List.Item>
          <List.Item>
            {counted(credits.remaining + credits.locked, 'credit')} that{' '}
            {credits.remaining + credits.locked === 1 ? 'is' : 'are'} left, and the ledger.
          </List.Item>
          <List.Item>
            All members. Who is in no other account can no longer sign in{losesSignIn ? '; that includes you' : ''}.
          </List.Item>
        </List>
      </Confirm>
    </Box>
  );
}
