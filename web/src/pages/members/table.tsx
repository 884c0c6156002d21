import { Badge, Button, Group, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useAccount, useRefreshSession } from '../../api/session.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { focusContent } from '../../parts/focus.ts';
import { notify } from '../../parts/notify.tsx';
import { ROLE_LABELS } from '../../parts/roles.ts';
import { Timestamp } from '../../parts/timestamp.tsx';
import { useDialogState } from '../../parts/use-dialog-state.ts';
import { type Member, removeMember } from './queries.ts';
import { RoleDialog } from './role-dialog.tsx';
import { canManage } from './rules.ts';

export function MembersTable({ members }: { members: readonly Member[] }) {
  const { id, name, role: mine } = useAccount();
  const client = useQueryClient();
  const refreshSession = useRefreshSession();
  const navigate = useNavigate();
  const removal = useDialogState<Member>();
  const leaving = removal.item;
  const roleDialog = useDialogState<Member>();

  async function remove(member: Member) {
    await removeMember(id, member.user_id);
    if (member.is_you) {
      await refreshSession();
      return navigate({ to: '/' });
    }
    await client.invalidateQueries({ queryKey: ['account', id, 'members'] });
    focusContent();
    void notify(`${member.name} removed.`);
  }

  const columns: readonly Column<Member>[] = [
    {
      header: 'Member',
      cell: (member) => (
        <>
          <Group gap="xs">
            <span className="anywhere">{member.name}</span>
            {member.is_you && (
              <Badge variant="outline" size="sm" tt="none">
                You
              </Badge>
            )}
          </Group>
          <Text size="xs" c="dimmed" className="anywhere">
            {member.email}
          </Text>
        </>
      ),
    },
    {
      header: 'Role',
      cell: (member) => (
        <Group gap="xs">
          {ROLE_LABELS[member.role]}
          {canManage(mine, member) && (
            <Button
              size="compact-xs"
              aria-label={`Change role of ${member.email}`}
              onClick={() => roleDialog.open(member)}
            >
              Change
            </Button>
          )}
        </Group>
      ),
    },
    {
      header: 'Two-factor authentication',
      cell: ({ second_factor }) => (second_factor ? 'Authenticator app' : 'Off'),
      wideOnly: true,
    },
    { header: 'Joined', cell: ({ created_at }) => <Timestamp at={created_at} />, wideOnly: true },
    {
      header: 'Remove',
      quietHeader: true,
      numeric: true,
      cell: (member) =>
        (member.is_you || canManage(mine, member)) && (
          <Button
            size="xs"
            aria-label={member.is_you ? 'Leave account' : `Remove ${member.email}`}
            onClick={() => removal.open(member)}
          >
            {member.is_you ? 'Leave' : 'Remove'}
          </Button>
        ),
    },
  ];

  return (
    <>
      <DataTable label="Members" columns={columns} rows={members} rowKey={({ user_id }) => user_id} />
      <RoleDialog member={roleDialog.item} opened={roleDialog.opened} onClose={roleDialog.close} />
      <ConfirmDialog
        title={leaving?.is_you ? `Leave ${name}?` : `Remove ${leaving?.name ?? ''}?`}
        action={leaving?.is_you ? 'Leave' : 'Remove'}
        opened={removal.opened}
        onClose={removal.close}
        onConfirm={async () => leaving && remove(leaving)}
      >
        {leaving?.is_you
          ? 'You lose access to this account immediately and need a new invitation to return. API keys, filters and the log are kept.'
          : `${leaving?.email ?? ''} loses access to this account immediately. API keys, filters and the log are kept: roll any keys that this member has seen.`}
      </ConfirmDialog>
    </>
  );
}
