import { Button, Modal } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Role, useAccount } from '../../api/session.ts';
import { InvitationForm } from '../../parts/invitation-form.tsx';
import { invite } from './queries.ts';
import { RoleChoice } from './role-choice.tsx';

/** Invites a user by email address. */
export function InviteDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Invite member" closeOnClickOutside={false}>
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
      main
      onCancel={onClose}
      done={<Button onClick={onClose}>Done</Button>}
    >
      <RoleChoice value={role} onChange={setRole} />
    </InvitationForm>
  );
}
