import { Button, Group, Modal, TextInput } from '@mantine/core';
import { useState } from 'react';
import { dayOf } from './days.ts';
import { type TimeSearch, validateDays } from './time.ts';
import { useFocusInvalid } from './use-focus-invalid.ts';

/** Asks for the first and the last day (UTC); begins with those of `time`, or with today. */
export function CustomRangeDialog(props: {
  opened: boolean;
  time: TimeSearch;
  onClose: () => void;
  onChange: (days: { from: string; to: string }) => void;
}) {
  const { opened, time, onClose, onChange } = props;
  const today = dayOf(Date.now());
  return (
    <Modal opened={opened} onClose={onClose} title="Time">
      <CustomRange days={[time.from ?? today, time.to ?? today]} onChange={onChange} />
    </Modal>
  );
}

function CustomRange({
  days,
  onChange,
}: {
  days: readonly [first: string, last: string];
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
