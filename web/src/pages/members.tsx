import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Badge, Box, Button, Group, Modal, Radio, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type Role, useAccount, useHasRole, useRefreshSession } from '../api/session.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { focusContent } from '../parts/focus.ts';
import { DialogForm } from '../parts/form.tsx';
import { InvitationForm } from '../parts/invitation-form.tsx';
import { notify } from '../parts/notify.tsx';
import { Page } from '../parts/page.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { parseRole, ROLE_LABELS } from '../parts/roles.ts';
import { Timestamp } from '../parts/timestamp.tsx';
import { useDialogState } from '../parts/use-dialog-state.ts';
import { useSearchOnce } from '../parts/use-search-once.ts';
import { useSubmit } from '../parts/use-submit.ts';
import {
  changeRole,
  type Invitation,
  invite,
  type Member,
  membersQuery,
  removeMember,
  revokeInvitation,
} from './members/queries.ts';
import { assignableRoles, canManage, ROLE_DESCRIPTIONS } from './members/rules.ts';

/** Notices of a changed role. */
const NOW = {
  you: {
    viewer: t`You are now a viewer.`,
    member: t`You are now a member.`,
    admin: t`You are now an admin.`,
    owner: t`You are now an owner.`,
  },
  other: {
    viewer: (name) => t`${name} is now a viewer.`,
    member: (name) => t`${name} is now a member.`,
    admin: (name) => t`${name} is now an admin.`,
    owner: (name) => t`${name} is now an owner.`,
  },
} as const satisfies { you: Record<Role, string>; other: Record<Role, (name: string) => string> };

export function MembersPage() {
  const { id } = useAccount();
  const isAdmin = useHasRole('admin');
  const [opened, { open, close }] = useDisclosure();
  const query = useQuery(membersQuery(id));
  const { invite } = route.useSearch();
  useSearchOnce('invite', invite, () => isAdmin && open());
  return (
    <Page
      title={t`Members`}
      about={t`Viewers can view everything. Members also verify addresses and edit filters, admins manage API keys and members. Owners have full control.`}
      action={isAdmin && <Button variant="filled" onClick={open}>{t`Invite member`}</Button>}
    >
      <QueryResult query={query}>
        {({ members, invitations }) => (
          <>
            <MembersTable members={members} />
            <Invitations invitations={invitations} />
          </>
        )}
      </QueryResult>
      <InviteDialog opened={opened} onClose={close} />
    </Page>
  );
}

/** The roles that the user may assign. */
function RoleChoice({ value, onChange }: { value: Role; onChange: (role: Role) => void }) {
  const { role: mine } = useAccount();
  return (
    <Radio.Group label={t`Role`} value={value} onChange={(next) => onChange(parseRole(next) ?? value)}>
      <Stack gap="xs" mt="xs">
        {assignableRoles(mine).map((role) => (
          <Radio key={role} value={role} label={ROLE_LABELS[role]} description={ROLE_DESCRIPTIONS[role]} />
        ))}
      </Stack>
    </Radio.Group>
  );
}

/** Invites a user by email address. */
function InviteDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title={t`Invite member`} closeOnClickOutside={false}>
      <Invite onClose={onClose} />
    </Modal>
  );
}

/** Mounted with the dialog, so that the link is gone when it closes. */
function Invite({ onClose }: { onClose: () => void }) {
  const { id } = useAccount();
  const client = useQueryClient();
  const [role, setRole] = useState<Role>('member');
  return (
    <InvitationForm
      send={async (email) => {
        const invited = await invite(id, { email, role });
        await client.invalidateQueries({ queryKey: ['account', id, 'members'] });
        return invited;
      }}
      onCancel={onClose}
      done={<Button onClick={onClose}>{t`Done`}</Button>}
    >
      <RoleChoice value={role} onChange={setRole} />
    </InvitationForm>
  );
}

/** Changes the role of a member and explains the consequences. */
function RoleDialog(props: { member: Member | null; opened: boolean; onClose: () => void }) {
  const { member, opened, onClose } = props;
  const title = member?.is_you ? t`Your role` : t`Role of ${member?.name ?? ''}`;
  return (
    <Modal opened={opened} onClose={onClose} title={title}>
      {member && <RoleForm member={member} onClose={onClose} />}
    </Modal>
  );
}

function RoleForm({ member, onClose }: { member: Member; onClose: () => void }) {
  const { id } = useAccount();
  const client = useQueryClient();
  const refreshSession = useRefreshSession();
  const [role, setRole] = useState<Role>(member.role);
  const submit = useSubmit(async () => {
    if (role !== member.role) await changeRole(id, member.user_id, role);
    onClose();
    void notify(member.is_you ? NOW.you[role] : NOW.other[role](member.name));
    if (member.is_you) await refreshSession();
    await client.invalidateQueries({ queryKey: ['account', id, 'members'] });
  });
  return (
    <DialogForm submit={submit} action={t`Save`} onCancel={onClose}>
      <RoleChoice value={role} onChange={setRole} />
      <Text size="sm" role="status">
        {consequence(member, role)}
      </Text>
    </DialogForm>
  );
}

function consequence({ email, role, is_you }: Member, next: Role): string | null {
  if (next === role) return null;
  if (next === 'owner') return t`${email} will have full control, including removing you and deleting the account.`;
  if (is_you)
    return t`You immediately lose the permissions of your current role. Only another member can restore them.`;
  if (role === 'owner') return t`${email} will no longer be able to manage owners or delete the account.`;
  return null;
}

/** `mine`: the role of the user. */
function columnsFor(
  mine: Role,
  onRole: (of: Member) => void,
  onRemove: (of: Member) => void,
): readonly Column<Member>[] {
  return [
    {
      header: t`Member`,
      cell: (member) => (
        <>
          <Group gap="xs">
            <span className="anywhere">{member.name}</span>
            {member.is_you && <Badge variant="outline" size="sm" tt="none">{t`You`}</Badge>}
          </Group>
          <Text size="xs" c="dimmed" className="anywhere">
            {member.email}
          </Text>
        </>
      ),
    },
    {
      header: t`Role`,
      folds: true,
      cell: (member) => (
        <Group gap="xs">
          {ROLE_LABELS[member.role]}
          {canManage(mine, member) && (
            <Button
              size="compact-xs"
              aria-label={t`Change role of ${member.email}`}
              onClick={() => onRole(member)}
            >{t`Change`}</Button>
          )}
        </Group>
      ),
    },
    {
      header: t`Two-factor authentication`,
      cell: ({ second_factor }) => (second_factor ? t`Authenticator app` : t`Off`),
      folds: true,
    },
    {
      header: t`Last active`,
      cell: ({ last_active_at }) => (last_active_at === null ? t`Not recorded` : <Timestamp at={last_active_at} />),
      folds: true,
    },
    { header: t`Joined`, cell: ({ created_at }) => <Timestamp at={created_at} />, folds: true },
    {
      header: t`Remove`,
      quietHeader: true,
      numeric: true,
      cell: (member) =>
        (member.is_you || canManage(mine, member)) && (
          <Button
            size="xs"
            aria-label={member.is_you ? t`Leave account` : t`Remove ${member.email}`}
            onClick={() => onRemove(member)}
          >
            {member.is_you ? t`Leave` : t`Remove`}
          </Button>
        ),
    },
  ];
}

function MembersTable({ members }: { members: readonly Member[] }) {
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
    void notify(t`${member.name} removed.`);
  }

  return (
    <>
      <DataTable
        label={t`Members`}
        columns={columnsFor(mine, roleDialog.open, removal.open)}
        rows={members}
        rowKey={({ user_id }) => user_id}
      />
      <RoleDialog member={roleDialog.item} opened={roleDialog.opened} onClose={roleDialog.close} />
      <ConfirmDialog
        title={leaving?.is_you ? t`Leave ${name}?` : t`Remove ${leaving?.name ?? ''}?`}
        action={leaving?.is_you ? t`Leave` : t`Remove`}
        opened={removal.opened}
        onClose={removal.close}
        onConfirm={async () => leaving && remove(leaving)}
      >
        {leaving?.is_you
          ? t`You lose access to this account immediately and need a new invitation to return. API keys, filters and the log are kept.`
          : t`${leaving?.email ?? ''} loses access to this account immediately. API keys, filters and the log are kept: roll any keys that this member has seen.`}
      </ConfirmDialog>
    </>
  );
}

/** Invitations that have not been accepted yet. */
function Invitations({ invitations }: { invitations: readonly Invitation[] }) {
  const { id } = useAccount();
  const isAdmin = useHasRole('admin');
  const client = useQueryClient();
  const revocation = useDialogState<Invitation>();
  if (invitations.length === 0) return null;

  async function revoke(invitation: Invitation) {
    await revokeInvitation(id, invitation.id);
    await client.invalidateQueries({ queryKey: ['account', id, 'members'] });
    focusContent();
    void notify(t`Invitation for ${invitation.email} revoked.`);
  }
  const columns: readonly Column<Invitation>[] = [
    { header: t`Email`, cell: ({ email }) => <span className="anywhere">{email}</span> },
    { header: t`Role`, folds: true, cell: ({ role }) => ROLE_LABELS[role] },
    { header: t`Invited by`, cell: ({ invited_by }) => <span className="anywhere">{invited_by}</span>, folds: true },
    { header: t`Expires`, cell: ({ expires_at }) => <Timestamp at={expires_at} />, folds: true },
  ];
  const button: Column<Invitation> = {
    header: t`Revoke`,
    quietHeader: true,
    numeric: true,
    cell: (invitation) => (
      <Button
        size="xs"
        aria-label={t`Revoke invitation for ${invitation.email}`}
        onClick={() => revocation.open(invitation)}
      >{t`Revoke`}</Button>
    ),
  };
  return (
    <Box component="section" aria-labelledby="invitations">
      <Title order={2} id="invitations" mb="xs">{t`Invitations`}</Title>
      <DataTable
        label={t`Pending invitations`}
        columns={isAdmin ? [...columns, button] : columns}
        rows={invitations}
        rowKey={(invitation) => invitation.id}
      />
      <ConfirmDialog
        title={t`Revoke invitation?`}
        action={t`Revoke`}
        opened={revocation.opened}
        onClose={revocation.close}
        onConfirm={async () => revocation.item && revoke(revocation.item)}
      >
        <Trans>The link sent to {revocation.item?.email} will stop working.</Trans>
      </ConfirmDialog>
    </Box>
  );
}

const route = getRouteApi('/inside/account/members');
