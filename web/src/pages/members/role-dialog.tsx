import { Button, Modal, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Role, useAccount, useRefreshSession } from '../../api/session.ts';
import { Form } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { useSubmit } from '../../parts/use-submit.ts';
import { changeRole, type Member } from './queries.ts';
import { RoleChoice } from './role-choice.tsx';

/** Gives a member another role; says what it takes away or hands over. */
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
    void notify(`${member.is_you ? 'You are' : `${member.name} is`} ${role === 'member' ? 'a' : 'an'} ${role} now.`);
    if (member.is_you) await refreshSession();
    await client.invalidateQueries({ queryKey: ['account', id, 'members'] });
  });
  return (
    <Form submit={submit} action="Save" main beside={<Button onClick={onClose}>Cancel</Button>}>
      <RoleChoice value={role} onChange={setRole} />
      <Text size="sm" role="status">
        {consequence(member, role)}
      </Text>
    </Form>
  );
}

function consequence({ email, role, is_you }: Member, next: Role): string | null {
  if (next === role) return null;
  if (next === 'owner') return `${email} can then do everything, also remove you and delete the account.`;
  if (is_you) return 'What only your present role can do is closed to you at once. Somebody else has to give it back.';
  if (role === 'owner') return `${email} can then no longer make owners or delete the account.`;
  return null;
}
