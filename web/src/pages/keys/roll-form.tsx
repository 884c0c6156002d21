import { Button, Group, Radio, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Failure } from '../../parts/failure.tsx';
import { useTry } from '../../parts/use-try.ts';

/** How long the old key stays valid, in seconds. */
const GRACES = [
  [0, 'At once', null],
  [3600, 'After 1 hour', '1 hour'],
  [86_400, 'After 1 day', '1 day'],
  [604_800, 'After 7 days', '7 days'],
  [2_592_000, 'After 30 days', '30 days'],
] as const;
const USUAL = 86_400;

/** A new key in place of an old one. `onRoll` also gets the grace in words, null for none. */
export function RollForm(props: {
  name: string;
  onRoll: (seconds: number, grace: string | null) => Promise<unknown>;
  onCancel: () => void;
}) {
  const { name, onRoll, onCancel } = props;
  const [seconds, setSeconds] = useState<number>(USUAL);
  const { run, busy, error } = useTry(async () => {
    const [, , grace] = GRACES.find(([grace]) => grace === seconds)!;
    await onRoll(seconds, grace);
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        run();
      }}
    >
      <Stack>
        <Text size="sm">
          Makes a new key with the name and the allowed addresses of “{name}”. Until the old one is revoked both work,
          so that you can change your programs without a gap.
        </Text>
        <Radio.Group label="Revoke the old key" value={String(seconds)} onChange={(value) => setSeconds(Number(value))}>
          <Stack gap="xs" mt={4}>
            {GRACES.map(([grace, label]) => (
              <Radio key={grace} value={String(grace)} label={label} />
            ))}
          </Stack>
        </Radio.Group>
        {seconds === 0 && (
          <Text size="sm" role="status">
            Requests with the old key are refused from this moment on. That is final.
          </Text>
        )}
        {error && <Failure error={error} />}
        <Group justify="flex-end">
          <Button onClick={onCancel}>Cancel</Button>
          <Button type="submit" variant="filled" loading={busy}>
            Roll the key
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
