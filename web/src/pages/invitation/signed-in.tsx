import { Button, Stack, Text } from '@mantine/core';
import { useRefreshSession } from '../../api/session.ts';
import { endSession } from '../../api/sign-out.ts';
import { ErrorAlert } from '../../parts/error-alert.tsx';
import { Form } from '../../parts/form.tsx';
import { useAsyncAction } from '../../parts/use-async-action.ts';
import { useSubmit } from '../../parts/use-submit.ts';
import { type AcceptProps, useAcceptInvitation } from './use-accept-invitation.ts';

/** The user is signed in with the invited address. */
export function AcceptSignedIn(joining: AcceptProps) {
  const join = useAcceptInvitation(joining);
  const submit = useSubmit(() => join(null));
  return (
    <Form submit={submit} action="Join" main>
      <Text className="anywhere">You are signed in as {joining.email}.</Text>
    </Form>
  );
}

/** The user is signed in with another address than the invited one. */
export function WrongUser({ email, mine }: { email: string; mine: string }) {
  const refresh = useRefreshSession();
  const { run, busy, error } = useAsyncAction(async () => {
    await endSession();
    await refresh();
  });
  return (
    <Stack align="flex-start">
      <Text className="anywhere">
        This invitation is for {email}, but you are signed in as {mine}. Sign out to accept it, or ask for an invitation
        for {mine}.
      </Text>
      {error && <ErrorAlert error={error} />}
      <Button variant="filled" onClick={run} loading={busy}>
        Sign out
      </Button>
    </Stack>
  );
}
