import { Anchor, Box, Button, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Account } from '../../api/schema.ts';
import { sessionQuery, useHasRole, useSession } from '../../api/session.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { notify } from '../../parts/notify.tsx';
import { changeAccount } from './queries.ts';

/** Whether members need a second factor. Editable by admins only, and turned on only in a session begun with one. */
export function SecondFactor({ account }: { account: Account }) {
  const { user } = useSession();
  const isAdmin = useHasRole('admin');
  const required = account.second_factor_required;
  return (
    <Box component="section" aria-labelledby="second-factor" maw={640}>
      <Title order={2} id="second-factor" mb="xs">
        Second factor
      </Title>
      <Text size="sm" mb="sm">
        {required
          ? 'Members can use this account only after signing in with a code of an authenticator app or with a passkey.'
          : 'Members can use this account with a password alone.'}
        {!isAdmin && ' Only admins and owners can change this.'}
      </Text>
      {isAdmin &&
        (required || user?.with_second_factor ? (
          <Change account={account} />
        ) : (
          <Text size="sm">
            To require a second factor of all members,{' '}
            <Anchor component={Link} to="/security" inherit underline="always">
              set up an authenticator app
            </Anchor>{' '}
            or sign in with a passkey first.
          </Text>
        ))}
    </Box>
  );
}

function Change({ account: { id, name, second_factor_required: required } }: { account: Account }) {
  const client = useQueryClient();
  const [opened, { open, close }] = useDisclosure();
  async function change() {
    await changeAccount(id, { second_factor_required: !required });
    await Promise.all([
      client.invalidateQueries({ queryKey: ['account', id] }),
      client.invalidateQueries({ queryKey: sessionQuery.queryKey }),
    ]);
    void notify(required ? 'The second factor is optional.' : 'A second factor is required.');
  }
  const action = required ? 'Make it optional' : 'Require a second factor';
  return (
    <>
      <Button onClick={open}>{action}</Button>
      <ConfirmDialog
        title={required ? 'Make the second factor optional?' : `Require a second factor in ${name}?`}
        action={action}
        opened={opened}
        onClose={close}
        onConfirm={change}
      >
        {required
          ? 'Members can then use this account with a password alone.'
          : 'Members who signed in without one are locked out immediately, until they set one up and sign in with it. API keys keep working.'}
      </ConfirmDialog>
    </>
  );
}
