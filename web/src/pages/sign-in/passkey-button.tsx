import { Button, Stack } from '@mantine/core';
import { ErrorAlert } from '../../parts/error-alert.tsx';
import { signInWithPasskey } from '../../parts/passkeys.ts';
import { useAsyncAction } from '../../parts/use-async-action.ts';

export function PasskeyButton({ onSignedIn }: { onSignedIn: () => Promise<void> }) {
  const { run, busy, error } = useAsyncAction(async () => {
    await signInWithPasskey();
    await onSignedIn();
  });
  return (
    <Stack>
      <Button onClick={run} loading={busy}>
        Sign in with a passkey
      </Button>
      {error && <ErrorAlert error={error} />}
    </Stack>
  );
}
