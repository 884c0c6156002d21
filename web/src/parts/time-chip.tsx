import { t } from '@lingui/core/macro';
import { useState } from 'react';
import { keysOf } from '../../../src/kernel/facts/keys-of.ts';
import { CustomRangeDialog } from './custom-range.tsx';
import { FilterChip } from './filter-chip.tsx';
import { RANGES, type TimeSearch, timeSearch, timeText } from './time.ts';

const CUSTOM = { value: 'custom', label: t`Custom…` };
const TIMES = [...keysOf(RANGES).map((value) => ({ value, label: RANGES[value] })), CUSTOM];

/** The time as a filter of a search. */
export function TimeChip({ time, onChange }: { time: TimeSearch; onChange: (time: TimeSearch) => void }) {
  const [isChoosing, setChoosing] = useState(false);
  // Days and hours are no choice of the menu: they stand there while they are chosen.
  const chosen = time.from ?? time.hour;
  const own = chosen === undefined ? [] : [{ value: chosen, label: timeText(time) ?? '' }];
  return (
    <>
      <FilterChip
        name="Time"
        options={[...own, ...TIMES]}
        value={chosen ?? time.range ?? null}
        onChange={(range) => (range === CUSTOM.value ? setChoosing(true) : onChange(timeSearch({ range })))}
      />
      <CustomRangeDialog
        opened={isChoosing}
        time={time}
        onClose={() => setChoosing(false)}
        onChange={(days) => {
          setChoosing(false);
          onChange(days);
        }}
      />
    </>
  );
}
