import { Button, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { INVITATION_DAYS, USER_EMAIL_LENGTH } from '../../api/limits.ts';
import type { Invited } from '../../api/schema.ts';
import { type Role, useAccount } from '../../api/session.ts';
import { CopyText } from '../../parts/copy-text.tsx';
import { Form } from '../../parts/form.tsx';
import { FormResult } from '../../parts/form-result.tsx';
import { pluralize } from '../../parts/format.ts';
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
          <Text size="sm">{outcomeOf(data, invited)}</Text>
          {data.link === null ? null : <CopyText text={data.link} label="invitation link" />}
        </Stack>
      </FormResult>
    );
  return (
    <Form submit={submit} action="Invite" main beside={<Button onClick={onClose}>Cancel</Button>}>
      <TextInput
        {...submit.field('email')}
        type="email"
        label="Email"
        maxLength={USER_EMAIL_LENGTH.max}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
      />
      <RoleChoice value={role} onChange={setRole} />
    </Form>
  );
}

const VALIDITY = `The link works once and expires in ${pluralize(INVITATION_DAYS, 'day')}.`;
function outcomeOf({ mailed, link }: Invited, email: string): string {
  if (mailed) return `Invitation sent to ${email}. ${VALIDITY}`;
  if (link === null) return `The email to ${email} could not be sent. Try again later.`;
  return `No email was sent. Share this link with ${email} yourself; it is not shown again. ${VALIDITY}`;
}
