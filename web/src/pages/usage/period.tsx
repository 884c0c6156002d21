import { useQuery } from '@tanstack/react-query';
import { useAccount } from '../../api/session.ts';
import { usageQuery } from '../../api/usage.ts';
import { SourceSwitch } from '../../parts/source-switch.tsx';
import {
  comparable,
  hasTime,
  periodBefore,
  rangeOf,
  type TimeSearch,
  timeSearch,
  USUAL,
  withoutTime,
} from '../../parts/time.ts';
import { TimePicker } from '../../parts/time-picker.tsx';
import type { UsageSearch } from './search.ts';

/** The period and source that the URL names, their charts, those of the period before, and the controls of both. */
export function useUsagePeriod(search: UsageSearch, onSearch: (next: UsageSearch) => void) {
  const { id } = useAccount();
  const time = hasTime(search) ? timeSearch({ ...search }) : USUAL;
  const range = rangeOf(time, Date.now());
  const { source, ...ofAll } = search;
  const usage = useQuery(usageQuery(id, range, { source }));
  const before = comparable(useQuery(usageQuery(id, periodBefore(range), { source })).data);
  const showTime = (next: TimeSearch) => onSearch({ ...withoutTime(search), ...next });
  const controls = (
    <>
      <TimePicker time={timeSearch({ ...search })} usual={USUAL} onChange={showTime} />
      <SourceSwitch source={source} onChange={(next) => onSearch({ ...ofAll, ...next })} />
    </>
  );
  return { time, range, source, usage, before, showTime, controls };
}
