import { Button, Modal, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Role, useAccount } from '../../api/session.ts';
import { CopyText } from '../../parts/copy-text.tsx';
import { Form } from '../../parts/form.tsx';
import { FormResult } from '../../parts/form-result.tsx';
import { invitationOutcome } from '../../parts/invitation-outcome.ts';
import { SuggestingEmailField } from '../../parts/suggesting-email-field.tsx';
import { useSubmit } from '../../parts/use-submit.ts';
import { invite } from './queries.ts';
import { RoleChoice } from './role-choice.tsx';

/** Invites a user by email address. A link that was not mailed is shown once. */
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
      <FormResult action={<Button onClick={onClose}>Done</Button>}>
        <Stack gap="sm">
          <Text size="sm">{invitationOutcome(data, invited)}</Text>
          {data.link === null ? null : <CopyText text={data.link} label="invitation link" />}
        </Stack>
      </FormResult>
    );
  return (
    <Form submit={submit} action="Invite" main onCancel={onClose}>
      <SuggestingEmailField {...submit.field('email')} autoComplete="off" data-autofocus />
      <RoleChoice value={role} onChange={setRole} />
    </Form>
  );
}
