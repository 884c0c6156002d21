import { Box, Button, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useAccount, useMay } from '../../api/session.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { focusContent } from '../../parts/focus.ts';
import { notify } from '../../parts/notify.tsx';
import { useAsked } from '../../parts/use-asked.ts';
import { When } from '../../parts/when.tsx';
import { type Invitation, withdraw } from './queries.ts';
import { roleLabel } from './rules.ts';

/** Who was invited and has not come yet. */
export function Invitations({ invitations }: { invitations: readonly Invitation[] }) {
  const { id } = useAccount();
  const mayWithdraw = useMay('admin');
  const client = useQueryClient();
  const asked = useAsked<Invitation>();
  if (invitations.length === 0) return null;

  async function take(invitation: Invitation) {
    await withdraw(id, invitation.id);
    await client.invalidateQueries({ queryKey: ['account', id, 'members'] });
    focusContent();
    void notify(`The invitation of ${invitation.email} was withdrawn.`);
  }
  const columns: readonly Column<Invitation>[] = [
    { header: 'Address', cell: ({ email }) => <span className="anywhere">{email}</span> },
    { header: 'Role', cell: ({ role }) => roleLabel(role) },
    { header: 'Invited by', cell: ({ invited_by }) => <span className="anywhere">{invited_by}</span>, wideOnly: true },
    { header: 'Valid until', cell: ({ expires_at }) => <When at={expires_at} />, wideOnly: true },
  ];
  const button: Column<Invitation> = {
    header: 'Withdraw',
    quietHeader: true,
    numeric: true,
    cell: (invitation) => (
      <Button size="xs" aria-label={`Withdraw ${invitation.email}`} onClick={() => asked.ask(invitation)}>
        Withdraw
      </Button>
    ),
  };
  return (
    <Box component="section" aria-labelledby="invitations">
      <Title order={2} id="invitations" mb="xs">
        Invitations
      </Title>
      <DataTable
        label="Open invitations"
        columns={mayWithdraw ? [...columns, button] : columns}
        rows={invitations}
        rowKey={(invitation) => invitation.id}
      />
      <Confirm
        title="Withdraw the invitation?"
        action="Withdraw"
        opened={asked.opened}
        onClose={asked.close}
        onConfirm={async () => asked.item && take(asked.item)}
      >
        The link of {asked.item?.email} no longer works.
      </Confirm>
    </Box>
  );
}
