import { Box, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { InvitationForm } from '../../parts/invitation-form.tsx';
import { inviteOwner } from '../operator/queries.ts';

/** Invites the first owner of an account without members. */
export function OwnerForm({ account }: { account: string }) {
  const [sent, setSent] = useState(false);
  return (
    <Box component="section" aria-labelledby="owner" maw={480}>
      <Title order={2} id="owner" mb="xs">
        Invite the owner
      </Title>
      {!sent && (
        <Text size="sm" mb="xs">
          This account has no members yet. Its owner can invite others, and creates its API keys.
        </Text>
      )}
      <InvitationForm
        send={async (email) => {
          const invited = await inviteOwner(account, { email });
          setSent(true);
          return invited;
        }}
      />
    </Box>
  );
}
