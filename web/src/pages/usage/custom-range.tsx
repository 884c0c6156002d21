import { Button, Group, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useFocusInvalid } from '../../parts/use-focus-invalid.ts';
import { type Range, validateDays } from './range.ts';

/** First and last day (UTC). */
export function CustomRange({
  days,
  onChange,
}: {
  days: Range['days'];
  onChange: (days: { from: string; to: string }) => void;
}) {
  const [from, setFrom] = useState(days[0]);
  const [to, setTo] = useState(days[1]);
  const [wrong, setWrong] = useState<ReturnType<typeof validateDays>>(null);
  const { form, onAttempt } = useFocusInvalid(null);
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onAttempt();
        const found = validateDays(from, to);
        setWrong(found);
        if (found === null) onChange({ from, to });
      }}
    >
      <Group align="flex-end" gap="xs">
        <TextInput
          type="date"
          size="xs"
          label="From (UTC)"
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
          error={wrong?.field === 'from' && wrong.error}
        />
        <TextInput
          type="date"
          size="xs"
          label="To (inclusive)"
          value={to}
          onChange={(event) => setTo(event.currentTarget.value)}
          error={wrong?.field === 'to' && wrong.error}
        />
        <Button type="submit" size="xs">
          Apply
        </Button>
      </Group>
    </form>
  );
}
