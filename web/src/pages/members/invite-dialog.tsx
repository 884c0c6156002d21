import { Button, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Invited } from '../../api/schema.ts';
import { type Role, useAccount } from '../../api/session.ts';
import { CopyText } from '../../parts/copy-text.tsx';
import { Form } from '../../parts/form.tsx';
import { Outcome } from '../../parts/outcome.tsx';
import { useSubmit } from '../../parts/use-submit.ts';
import { invite } from './queries.ts';
import { RoleChoice } from './role-choice.tsx';

/** Invites somebody by address; a link that was not mailed is shown once. */
export function InviteDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Invite somebody" closeOnClickOutside={false}>
      <Invite onClose={onClose} />
    </Modal>
  );
}

/** Mounted with the dialog: the link is gone when it closes. */
function Invite({ onClose }: { onClose: () => void }) {
  const { id } = useAccount();
  const client = useQueryClient();
  const [role, setRole] = useState<Role>('member');
  const { mutateAsync, data } = useMutation({
    mutationFn: (email: string) => invite(id, { email, role }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['account', id, 'members'] }),
    gcTime: 0,
  });
  const [invited, setInvited] = useState('');
  const submit = useSubmit(async ({ email = '' }) => {
    await mutateAsync(email.trim());
    setInvited(email.trim());
  });
  if (data)
    return (
      <Outcome action={<Button onClick={onClose}>Done</Button>}>
        <Stack gap="sm">
          <Text size="sm">{outcomeOf(data, invited)}</Text>
          {data.link === null ? null : <CopyText text={data.link} label="invitation link" />}
        </Stack>
      </Outcome>
    );
  return (
    <Form submit={submit} action="Invite" main beside={<Button onClick={onClose}>Cancel</Button>}>
      <TextInput
        {...submit.field('email')}
        type="email"
        label="Address"
        maxLength={254}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
      />
      <RoleChoice value={role} onChange={setRole} />
    </Form>
  );
}

function outcomeOf({ mailed, link }: Invited, email: string): string {
  if (mailed) return `A mail with a link is on its way to ${email}. It works once, for seven days.`;
  if (link === null) return `The mail to ${email} could not be sent. Invite them again later.`;
  return `No mail was sent: hand this link to ${email} yourself. It works once, for seven days, and is not shown again.`;
}
