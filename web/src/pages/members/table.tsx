import { Badge, Button, Group, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useAccount, useRefreshSession } from '../../api/session.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { focusContent } from '../../parts/focus.ts';
import { notify } from '../../parts/notify.tsx';
import { useAsked } from '../../parts/use-asked.ts';
import { When } from '../../parts/when.tsx';
import { type Member, removeMember } from './queries.ts';
import { RoleDialog } from './role-dialog.tsx';
import { mayTouch, roleLabel } from './rules.ts';

/** Who is in the account, and what they may do. */
export function MembersTable({ members }: { members: readonly Member[] }) {
  const { id, name, role: mine } = useAccount();
  const client = useQueryClient();
  const refreshSession = useRefreshSession();
  const navigate = useNavigate();
  const asked = useAsked<Member>();
  const leaving = asked.item;
  const role = useAsked<Member>();

  async function remove(member: Member) {
    await removeMember(id, member.user_id);
    if (member.is_you) {
      await refreshSession();
      return navigate({ to: '/' });
    }
    await client.invalidateQueries({ queryKey: ['account', id, 'members'] });
    focusContent();
    void notify(`${member.name} was removed.`);
  }

  const columns: readonly Column<Member>[] = [
    {
      header: 'Who',
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
          {roleLabel(member.role)}
          {mayTouch(mine, member) && (
            <Button
              size="compact-xs"
              aria-label={`Change the role of ${member.email}`}
              onClick={() => role.ask(member)}
            >
              Change
            </Button>
          )}
        </Group>
      ),
    },
    {
      header: 'Second factor',
      cell: ({ second_factor }) => (second_factor ? 'Authenticator app' : 'None'),
      wideOnly: true,
    },
    { header: 'Joined', cell: ({ created_at }) => <When at={created_at} />, wideOnly: true },
    {
      header: 'Remove',
      quietHeader: true,
      numeric: true,
      cell: (member) =>
        (member.is_you || mayTouch(mine, member)) && (
          <Button
            size="xs"
            aria-label={member.is_you ? 'Leave the account' : `Remove ${member.email}`}
            onClick={() => asked.ask(member)}
          >
            {member.is_you ? 'Leave' : 'Remove'}
          </Button>
        ),
    },
  ];

  return (
    <>
      <DataTable label="Members" columns={columns} rows={members} rowKey={({ user_id }) => user_id} />
      <RoleDialog member={role.item} opened={role.opened} onClose={role.close} />
      <Confirm
        title={leaving?.is_you ? `Leave ${name}?` : `Remove ${leaving?.name ?? ''}?`}
        action={leaving?.is_you ? 'Leave' : 'Remove'}
        opened={asked.opened}
        onClose={asked.close}
        onConfirm={async () => leaving && remove(leaving)}
      >
        {leaving?.is_you
          ? 'You no longer see this account from the next click on. Somebody in it has to invite you to come back. Its keys, filters and log stay.'
          : `${leaving?.email ?? ''} no longer sees this account from the next click on. Keys, filters and log stay, also what they made: roll the keys that they have seen.`}
      </Confirm>
    </>
  );
}
