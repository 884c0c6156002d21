import { Button, Group, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { createMailvet, type Verification } from '../../../../sdk/src/index.ts';
import { useSession } from '../../api/session.ts';
import { CopyText } from '../../parts/copy-text.tsx';
import { Failure } from '../../parts/failure.tsx';
import { takeFocus } from '../../parts/focus.ts';
import { useTry } from '../../parts/use-try.ts';
import { headline, wordsOf } from '../../parts/verdict/reasons.ts';
import { counted } from '../../parts/words.ts';
import { curl } from './curl.ts';

/** A key that was just made: the one time that its value is seen. It lives in the dialog's state and goes with it. */
export function Made(props: { value: string; children?: ReactNode; onTried: () => void; onClose: () => void }) {
  const { value, children, onTried, onClose } = props;
  const { user } = useSession();
  const email = user?.email ?? 'someone@gmail.com';
  return (
    <Stack>
      <Text size="sm" ref={takeFocus} tabIndex={-1} style={{ outline: 'none' }} fw={600}>
        This key is shown once and cannot be shown again: only its hash is kept. Copy it now to where your program reads
        its secrets.
      </Text>
      {children}
      <CopyText label="the key" text={value} />
      <Text size="sm">A first request, ready to paste:</Text>
      <CopyText label="the curl command" text={curl(location.origin, value, email)} block />
      <TryIt value={value} email={email} onTried={onTried} />
      <Group justify="flex-end">
        <Button variant="filled" onClick={onClose}>
          Done
        </Button>
      </Group>
    </Stack>
  );
}

/** One request with the new key, as a program would send it. */
function TryIt({ value, email, onTried }: { value: string; email: string; onTried: () => void }) {
  const [verdict, setVerdict] = useState<Verification | null>(null);
  const { run, busy, error } = useTry(async () => {
    setVerdict(null);
    setVerdict(await createMailvet({ url: location.origin, key: value }).verify({ email }));
    onTried();
  });
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Button onClick={run} loading={busy}>
          Try it
        </Button>
        <Text size="sm" className="anywhere" flex={1}>
          Verifies {email} with this key, for at most 1 credit.
        </Text>
      </Group>
      <div role="status">
        {verdict && (
          <Text size="sm">
            It works. {headline(verdict)}. {wordsOf(verdict).means} It cost {counted(verdict.credits_used, 'credit')}.
          </Text>
        )}
      </div>
      {error && <Failure error={error} />}
    </Stack>
  );
}
