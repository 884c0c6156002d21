import { Select } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Role, useAccount, useRefreshSession } from '../../api/session.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { notify } from '../../parts/notify.tsx';
import { useAsked } from '../../parts/use-asked.ts';
import { changeRole, type Member } from './queries.ts';
import { grantable, roleLabel } from './rules.ts';

/** Changes a role where it is shown; one's own, and making or unmaking owners, is asked about first. */
export function RoleSelect({ member, onError }: { member: Member; onError: (error: Error | null) => void }) {
  const { id, role: mine } = useAccount();
  const client = useQueryClient();
  const refreshSession = useRefreshSession();
  const asked = useAsked<Role>();
  const [busy, setBusy] = useState(false);

  async function change(role: Role) {
    await changeRole(id, member.user_id, role);
    if (member.is_you) await refreshSession();
    await client.invalidateQueries({ queryKey: ['account', id, 'members'] });
    void notify(`${member.name} is ${roleLabel(role).toLowerCase()} now.`);
  }
  async function changeNow(role: Role) {
    setBusy(true);
    onError(null);
    await change(role).catch(onError);
    setBusy(false);
  }
  function choose(role: Role) {
    if (role === member.role) return;
    if (member.is_you || role === 'owner' || member.role === 'owner') asked.ask(role);
    else void changeNow(role);
  }

  return (
    <>
      <Select
        aria-label={`Role of ${member.email}`}
        size="xs"
        w={110}
        data={grantable(mine).map(({ role, label }) => ({ value: role, label }))}
        value={member.role}
        onChange={(role) => choose(role as Role)}
        disabled={busy}
        allowDeselect={false}
        comboboxProps={{ shadow: 'md' }}
      />
      <Confirm
        title={`${member.is_you ? 'Change your own role' : `Change the role of ${member.name}`}?`}
        action={`Make ${member.is_you ? 'me' : 'them'} ${asked.item === null ? '' : roleLabel(asked.item).toLowerCase()}`}
        opened={asked.opened}
        onClose={asked.close}
        onConfirm={async () => asked.item && change(asked.item)}
      >
        {asked.item === 'owner'
          ? `${member.email} can then do everything, also remove you and delete the account.`
          : member.is_you
            ? 'What only your present role can do is closed to you at once; somebody else has to give it back.'
            : `${member.email} can then no longer make owners or delete the account.`}
      </Confirm>
    </>
  );
}
