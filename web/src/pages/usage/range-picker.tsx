import { Button, Group, TextInput } from '@mantine/core';
import { useState } from 'react';
import { keysOf } from '../../parts/keys-of.ts';
import { useFocusInvalid } from '../../parts/use-focus-invalid.ts';
import { PRESETS, type Range, type UsageSearch, validateDays } from './range.ts';

/** Presets and a custom range of days. */
export function RangePicker(props: { search: UsageSearch; range: Range; onChange: (search: UsageSearch) => void }) {
  const { search, range, onChange } = props;
  const current = search.from === undefined ? (search.range ?? '7d') : null;
  return (
    <Group align="flex-end" gap="lg">
      <Group gap="xs" role="group" aria-label="Period">
        {keysOf(PRESETS).map((preset) => (
          <Button
            key={preset}
            size="xs"
            variant={preset === current ? 'light' : 'default'}
            aria-pressed={preset === current}
            onClick={() => onChange({ range: preset })}
          >
            {PRESETS[preset]}
          </Button>
        ))}
      </Group>
      <CustomRange key={range.days.join()} days={range.days} onChange={onChange} />
    </Group>
  );
}

function CustomRange({ days, onChange }: { days: Range['days']; onChange: (search: UsageSearch) => void }) {
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
