import { Box, Stack, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { CopyText } from '../../parts/copy-text.tsx';
import { Form } from '../../parts/form.tsx';
import { FormResult } from '../../parts/form-result.tsx';
import { invitationOutcome } from '../../parts/invitation-outcome.ts';
import { SuggestingEmailField } from '../../parts/suggesting-email-field.tsx';
import { useSubmit } from '../../parts/use-submit.ts';
import { inviteOwner } from '../operator/queries.ts';

/** Invites the first owner of an account without members. A link that was not mailed is shown once. */
export function OwnerForm({ account }: { account: string }) {
  const { mutateAsync, data } = useMutation({
    mutationFn: (email: string) => inviteOwner(account, { email }),
    gcTime: 0,
  });
  const [invited, setInvited] = useState('');
  const submit = useSubmit(async ({ email = '' }) => {
    await mutateAsync(email.trim());
    setInvited(email.trim());
  });
  return (
    <Box component="section" aria-labelledby="owner" maw={480}>
      <Title order={2} id="owner" mb="xs">
        Invite the owner
      </Title>
      {data ? (
        <FormResult>
          <Stack gap="sm">
            <Text size="sm">{invitationOutcome(data, invited)}</Text>
            {data.link === null ? null : <CopyText text={data.link} label="invitation link" />}
          </Stack>
        </FormResult>
      ) : (
        <>
          <Text size="sm" mb="xs">
            This account has no members yet. Its owner can invite others, and creates its API keys.
          </Text>
          <Form submit={submit} action="Invite">
            <SuggestingEmailField {...submit.field('email')} autoComplete="off" />
          </Form>
        </>
      )}
    </Box>
  );
}
