import { Box, Button, List, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { api, unwrap } from '../../api/client.ts';
import type { Account } from '../../api/schema.ts';
import { useRefreshSession, useSession } from '../../api/session.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { pluralize } from '../../parts/format.ts';

/** For owners only. */
export function DeleteAccount({ account }: { account: Account }) {
  const { id, name, credits } = account;
  const [opened, { open, close }] = useDisclosure();
  const refresh = useRefreshSession();
  const navigate = useNavigate();
  const { user, accounts } = useSession();
  // Operators keep their user.
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
        Delete account
      </Title>
      <Text size="sm" mb="sm" maw={640}>
        Permanently deletes the account with its API keys, log, filters, credits and members. This cannot be undone.
      </Text>
      <Button color="red" variant="outline" onClick={open}>
        Delete this account
      </Button>
      <ConfirmDialog
        title={`Delete ${name}?`}
        action="Delete permanently"
        typed={name}
        password
        opened={opened}
        onClose={close}
        onConfirm={remove}
      >
        <Text inherit mb="xs">
          This is deleted immediately and permanently:
        </Text>
        <List size="sm" spacing={4}>
          <List.Item>All API keys. Requests that use them are rejected.</List.Item>
          <List.Item>The verification log, the usage statistics and the audit log.</List.Item>
          <List.Item>All filters. Download them first if you may need them again.</List.Item>
          <List.Item>
            The remaining balance of {pluralize(credits.remaining + credits.locked, 'credit')} and the credit ledger.
          </List.Item>
          <List.Item>
            All memberships. Users who are not members of another account can no longer sign in
            {losesSignIn ? '; this includes you' : ''}.
          </List.Item>
        </List>
      </ConfirmDialog>
    </Box>
  );
}
