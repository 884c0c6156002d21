import { Button, Stack } from '@mantine/core';
import { Failure } from '../../parts/failure.tsx';
import { signInWithPasskey } from '../../parts/passkeys.ts';
import { useTry } from '../../parts/use-try.ts';

export function PasskeyButton({ onSignedIn }: { onSignedIn: () => Promise<void> }) {
  const { run, busy, error } = useTry(async () => {
    await signInWithPasskey();
    await onSignedIn();
  });
  return (
    <Stack>
      <Button onClick={run} loading={busy}>
        Use a passkey
      </Button>
      {error && <Failure error={error} />}
    </Stack>
  );
}
