import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import { createMailvet, type Verification } from '../../../../sdk/src/index.ts';
import { DEFAULT_LEVEL, PRICE } from '../../../../src/kernel/facts/plans.ts';
import { rememberKey } from '../../api/remembered-key.ts';
import { useAccount, useSession } from '../../api/session.ts';
import { CopyText } from '../../parts/copy-text.tsx';
import { curl } from '../../parts/curl.ts';
import { ErrorAlert } from '../../parts/error-alert.tsx';
import { focusOnMount } from '../../parts/focus.ts';
import { pluralize } from '../../parts/format.ts';
import { useAsyncAction } from '../../parts/use-async-action.ts';
import { headline, wordsOf } from '../../parts/verdict/reasons.ts';

/** What guards a key that is shown once. `leaving`: the user is about to close it. */
export interface Once {
  readonly leaving: boolean;
  readonly onShown: () => void;
}

/** Shows the value of a new key, once. It exists only in the state of the dialog. */
export function KeyCreatedPanel(props: {
  value: string;
  once: Once;
  children?: ReactNode;
  onTried: () => void;
  onClose: () => void;
}) {
  const { value, once, children, onTried, onClose } = props;
  const { onShown } = once;
  useEffect(onShown, []);
  const { user } = useSession();
  const { test } = useAccount();
  // A live key would make the samples of the API reference cost credits.
  useEffect(() => {
    if (test) rememberKey(value);
  }, [test, value]);
  const email = user?.email ?? 'someone@gmail.com';
  const request = { method: 'POST', url: `${location.origin}/v1/verify`, key: value, body: { email } };
  return (
    <Stack>
      <Text size="sm" ref={focusOnMount} tabIndex={-1} style={{ outline: 'none' }} fw={600}>
        This key is shown only once, as the service stores only its hash. Copy it now and store it where your
        application reads its secrets.
      </Text>
      {children}
      <CopyText label="API key" text={value} />
      <Text size="sm">To send a first request, run:</Text>
      <CopyText label="curl command" text={curl(request)} block />
      <TestRequest value={value} email={email} onTried={onTried} />
      {once.leaving ? (
        <Alert color="red" variant="outline" role="alert" title="Close without the key?">
          <Text size="sm" mb="xs">
            It cannot be shown again. If it is not stored anywhere, you have to create another one.
          </Text>
          <Group gap="xs">
            <Button onClick={onShown} data-autofocus ref={focusOnMount}>
              Keep it open
            </Button>
            <Button color="red" variant="filled" onClick={onClose}>
              Close
            </Button>
          </Group>
        </Alert>
      ) : (
        <Group justify="flex-end">
          <Button variant="filled" onClick={onClose}>
            Done
          </Button>
        </Group>
      )}
    </Stack>
  );
}

/** Sends one request with the new key through the public API. */
function TestRequest({ value, email, onTried }: { value: string; email: string; onTried: () => void }) {
  const { test } = useAccount();
  const [verdict, setVerdict] = useState<Verification | null>(null);
  const { run, busy, error } = useAsyncAction(async () => {
    setVerdict(null);
    setVerdict(await createMailvet({ url: location.origin, key: value }).verify({ email }));
    onTried();
  });
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Button onClick={run} loading={busy}>
          Test key
        </Button>
        <Text size="sm" className="anywhere" flex={1}>
          Verifies {email} with this key.{' '}
          {test ? 'Costs nothing.' : `Costs at most ${pluralize(PRICE[DEFAULT_LEVEL], 'credit')}.`}
        </Text>
      </Group>
      <div role="status">
        {verdict && (
          <Text size="sm">
            The key works. {headline(verdict)}. {wordsOf(verdict).meaning} Cost:{' '}
            {pluralize(verdict.credits_used, 'credit')}.
          </Text>
        )}
      </div>
      {error && <ErrorAlert error={error} />}
    </Stack>
  );
}
