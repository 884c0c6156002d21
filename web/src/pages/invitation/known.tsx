import { Button, Stack, Text } from '@mantine/core';
import { useRefreshSession } from '../../api/session.ts';
import { endSession } from '../../api/sign-out.ts';
import { Failure } from '../../parts/failure.tsx';
import { Form } from '../../parts/form.tsx';
import { useSubmit } from '../../parts/use-submit.ts';
import { useTry } from '../../parts/use-try.ts';
import { type Joining, useJoin } from './use-join.ts';

/** Signed in under the address that was invited: one click. */
export function JoinAsMe(joining: Joining) {
  const join = useJoin(joining);
  const submit = useSubmit(() => join(null));
  return (
    <Form submit={submit} action="Join" main>
      <Text className="anywhere">You are signed in as {joining.email}.</Text>
    </Form>
  );
}

/** Signed in under another address: the invitation is not for that one. */
export function JoinAsSomebodyElse({ email, mine }: { email: string; mine: string }) {
  const refresh = useRefreshSession();
  const { run, busy, error } = useTry(async () => {
    await endSession();
    await refresh();
  });
  return (
    <Stack align="flex-start">
      <Text className="anywhere">
        The invitation is for {email}. You are signed in as {mine}: sign out first, or ask for an invitation to that
        address.
      </Text>
      {error && <Failure error={error} />}
      <Button variant="filled" onClick={run} loading={busy}>
        Sign out
      </Button>
    </Stack>
  );
}
