import { plural, t } from '@lingui/core/macro';
import { Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { INVITATION_DAYS } from '../../../src/kernel/facts/lifetimes.ts';
import type { Invited } from '../api/schema.ts';
import { CopyText } from './copy-text.tsx';
import { DialogForm, Form } from './form.tsx';
import { FormResult } from './form-result.tsx';
import { SuggestingEmailField } from './suggesting-email-field.tsx';
import { useSubmit } from './use-submit.ts';

const VALIDITY = t`The link works once and expires in ${plural(INVITATION_DAYS, { one: '# day', other: '# days' })}.`;

/** What became of an invitation. */
function outcomeOf({ mailed, link }: Invited, email: string): string {
  if (mailed) return t`Invitation sent to ${email}. ${VALIDITY}`;
  if (link === null) return t`The email to ${email} could not be sent. Try again later.`;
  return t`No email was sent. Share this link with ${email} yourself; it is not shown again. ${VALIDITY}`;
}

/**
 * Invites somebody by email address, then says what became of it. A link that was not mailed is shown once: it is in no
 * cache, and gone when this is.
 */
export function InvitationForm(props: {
  send: (email: string) => Promise<Invited>;
  /** In a dialog. */
  onCancel?: () => void;
  /** Below what became of it. */
  done?: ReactNode;
  /** More fields. */
  children?: ReactNode;
}) {
  const { send, onCancel, done, children } = props;
  const { mutateAsync, data } = useMutation({ mutationFn: send, gcTime: 0 });
  const [invited, setInvited] = useState('');
  const submit = useSubmit(async ({ email = '' }) => {
    await mutateAsync(email.trim());
    setInvited(email.trim());
  });
  if (data)
    return (
      <FormResult action={done}>
        <Stack gap="sm">
          <Text size="sm">{outcomeOf(data, invited)}</Text>
          {data.link === null ? null : <CopyText text={data.link} label={t`invitation link`} />}
        </Stack>
      </FormResult>
    );
  const fields = (
    <>
      <SuggestingEmailField
        {...submit.field('email')}
        autoComplete="off"
        data-autofocus={onCancel !== undefined || undefined}
      />
      {children}
    </>
  );
  const form = { submit, action: t`Invite`, children: fields };
  return onCancel ? <DialogForm {...form} onCancel={onCancel} /> : <Form {...form} />;
}
