import { Box, Button, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useAccount, useHasRole } from '../../api/session.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { focusContent } from '../../parts/focus.ts';
import { notify } from '../../parts/notify.tsx';
import { ROLE_LABELS } from '../../parts/roles.ts';
import { Timestamp } from '../../parts/timestamp.tsx';
import { useDialogState } from '../../parts/use-dialog-state.ts';
import { type Invitation, revokeInvitation } from './queries.ts';

/** Invitations that have not been accepted yet. */
export function Invitations({ invitations }: { invitations: readonly Invitation[] }) {
  const { id } = useAccount();
  const isAdmin = useHasRole('admin');
  const client = useQueryClient();
  const revocation = useDialogState<Invitation>();
  if (invitations.length === 0) return null;

  async function revoke(invitation: Invitation) {
    await revokeInvitation(id, invitation.id);
    await client.invalidateQueries({ queryKey: ['account', id, 'members'] });
    focusContent();
    void notify(`Invitation for ${invitation.email} revoked.`);
  }
  const columns: readonly Column<Invitation>[] = [
    { header: 'Email', cell: ({ email }) => <span className="anywhere">{email}</span> },
    { header: 'Role', cell: ({ role }) => ROLE_LABELS[role] },
    { header: 'Invited by', cell: ({ invited_by }) => <span className="anywhere">{invited_by}</span>, wideOnly: true },
    { header: 'Expires', cell: ({ expires_at }) => <Timestamp at={expires_at} />, wideOnly: true },
  ];
  const button: Column<Invitation> = {
    header: 'Revoke',
    quietHeader: true,
    numeric: true,
    cell: (invitation) => (
      <Button
        size="xs"
        aria-label={`Revoke invitation for ${invitation.email}`}
        onClick={() => revocation.open(invitation)}
      >
        Revoke
      </Button>
    ),
  };
  return (
    <Box component="section" aria-labelledby="invitations">
      <Title order={2} id="invitations" mb="xs">
        Invitations
      </Title>
      <DataTable
        label="Pending invitations"
        columns={isAdmin ? [...columns, button] : columns}
        rows={invitations}
        rowKey={(invitation) => invitation.id}
      />
      <ConfirmDialog
        title="Revoke invitation?"
        action="Revoke"
        opened={revocation.opened}
        onClose={revocation.close}
        onConfirm={async () => revocation.item && revoke(revocation.item)}
      >
        The link sent to {revocation.item?.email} will stop working.
      </ConfirmDialog>
    </Box>
  );
}
