import { Button, Group, Radio, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { KEY_GRACE_SECONDS } from '../../../../src/kernel/facts/limits.ts';
import { ErrorAlert } from '../../parts/error-alert.tsx';
import { useAsyncAction } from '../../parts/use-async-action.ts';

const DAY = 86_400;
const WEEK = 7 * DAY;
const LONGEST = `${KEY_GRACE_SECONDS.max / DAY} days`;
/** How long the old key stays valid, in seconds. */
const GRACE_PERIODS = [
  [0, 'Immediately', null],
  [3600, 'After 1 hour', '1 hour'],
  [DAY, 'After 1 day', '1 day'],
  [WEEK, 'After a week', 'a week'],
  [KEY_GRACE_SECONDS.max, `After ${LONGEST}`, LONGEST],
] as const;

/** Replaces a key. `onRoll` also gets the grace period as text, null for none. */
export function RollForm(props: {
  name: string;
  onRoll: (seconds: number, grace: string | null) => Promise<unknown>;
  onCancel: () => void;
}) {
  const { name, onRoll, onCancel } = props;
  const [seconds, setSeconds] = useState<number>(KEY_GRACE_SECONDS.default);
  const grace = GRACE_PERIODS.find(([value]) => value === seconds)?.[2] ?? null;
  const { run, busy, error } = useAsyncAction(() => onRoll(seconds, grace));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        run();
      }}
    >
      <Stack>
        <Text size="sm">
          Creates a new key with the settings of “{name}”. Both keys work until the old one is revoked, so that you can
          switch without downtime.
        </Text>
        <Radio.Group label="Revoke the old key" value={String(seconds)} onChange={(value) => setSeconds(Number(value))}>
          <Stack gap="xs" mt={4}>
            {GRACE_PERIODS.map(([grace, label]) => (
              <Radio key={grace} value={String(grace)} label={label} />
            ))}
          </Stack>
        </Radio.Group>
        {seconds === 0 && (
          <Text size="sm" role="status">
            Requests with the old key are rejected immediately. This cannot be undone.
          </Text>
        )}
        {error && <ErrorAlert error={error} />}
        <Group justify="flex-end">
          <Button onClick={onCancel}>Cancel</Button>
          <Button type="submit" variant="filled" loading={busy}>
            Roll key
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
