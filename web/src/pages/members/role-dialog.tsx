import { Modal, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Role, useAccount, useRefreshSession } from '../../api/session.ts';
import { Form } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { useSubmit } from '../../parts/use-submit.ts';
import { changeRole, type Member } from './queries.ts';
import { RoleChoice } from './role-choice.tsx';

/** Changes the role of a member and explains the consequences. */
export function RoleDialog(props: { member: Member | null; opened: boolean; onClose: () => void }) {
  const { member, opened, onClose } = props;
  const title = member?.is_you ? 'Your role' : `Role of ${member?.name ?? ''}`;
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
    void notify(`${member.is_you ? 'You are' : `${member.name} is`} now ${role === 'member' ? 'a' : 'an'} ${role}.`);
    if (member.is_you) await refreshSession();
    await client.invalidateQueries({ queryKey: ['account', id, 'members'] });
  });
  return (
    <Form submit={submit} action="Save" main onCancel={onClose}>
      <RoleChoice value={role} onChange={setRole} />
      <Text size="sm" role="status">
        {consequence(member, role)}
      </Text>
    </Form>
  );
}

function consequence({ email, role, is_you }: Member, next: Role): string | null {
  if (next === role) return null;
  if (next === 'owner') return `${email} will have full control, including removing you and deleting the account.`;
  if (is_you) return 'You immediately lose the permissions of your current role. Only another member can restore them.';
  if (role === 'owner') return `${email} will no longer be able to manage owners or delete the account.`;
  return null;
}
