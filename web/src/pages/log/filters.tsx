import { useQuery } from '@tanstack/react-query';
import { memo } from 'react';
import { ADDRESS_LENGTH } from '../../../../src/kernel/facts/limits.ts';
import type { LogNegatable } from '../../../../src/kernel/facts/log-filters.ts';
import { LEVELS } from '../../../../src/kernel/facts/plans.ts';
import { REASON_FILTERS } from '../../../../src/kernel/facts/reasons.ts';
import { useAccount } from '../../api/session.ts';
import { SEGMENT_LABELS } from '../../parts/chart/bars.ts';
import { formatDays } from '../../parts/days.ts';
import { FilterChip } from '../../parts/filter-chip.tsx';
import { formatClock, formatDate } from '../../parts/format.ts';
import { keysOf } from '../../parts/keys-of.ts';
import { operatorName } from '../../parts/operator-name.ts';
import { SearchBox } from '../../parts/search-box.tsx';
import { reasonName } from '../../parts/verdict/reasons.ts';
import { keysQuery } from '../keys/query.ts';
import css from './log.module.css';
import { type LogSearch, logSearch, negatedOf, ORIGIN_LABELS, RANGES, STATUS_LABELS } from './search.ts';

type Name = Exclude<keyof LogSearch, 'query' | 'hour' | 'until' | 'from' | 'to' | 'operator' | 'not' | 'open'>;

const labeled = <K extends string>(labels: Readonly<Record<K, string>>) =>
  keysOf(labels).map((value) => ({ value, label: labels[value] }));

const NO_TIME = { range: null, hour: null, until: null, from: null, to: null } as const;

/** `23 Nov 2026, 09:00–12:00 UTC` */
function hoursText(hour: string, until: string | undefined): string {
  const clock = (at: string) => formatClock(at).slice(0, 5);
  const start = `${formatDate(hour)}, ${clock(hour)}`;
  if (until === undefined) return `${start} UTC`;
  return `${start}–${formatDate(until) === formatDate(hour) ? '' : `${formatDate(until)}, `}${clock(until)} UTC`;
}

/** Search and filters; their state is the URL. Those that are set come first, as the others may be out of sight. */
export const LogFilters = memo(function LogFilters(props: {
  search: LogSearch;
  onSearch: (search: LogSearch) => void;
}) {
  const { search, onSearch } = props;
  const { id } = useAccount();
  const { data } = useQuery(keysQuery(id));
  const keys = (data?.keys ?? []).map(({ id, name, key }) => ({ value: id, label: `${name} (${key.slice(-4)})` }));
  const chips: readonly (readonly [name: Name, label: string, options: readonly { value: string; label: string }[]])[] =
    [
      ['range', 'Time', labeled(RANGES)],
      ['deliverability', 'Deliverability', labeled(SEGMENT_LABELS)],
      ['reason', 'Reason', REASON_FILTERS.map((value) => ({ value, label: reasonName(value) }))],
      ['key', 'Key', keys],
      ['level', 'Level', LEVELS.map((value) => ({ value, label: value }))],
      ['origin', 'Origin', labeled(ORIGIN_LABELS)],
      ['status', 'Status', labeled(STATUS_LABELS)],
    ];
  const hasTime = search.hour !== undefined || search.from !== undefined;
  const offered = chips.filter(([name]) => name !== 'range' || !hasTime);
  const isSet = ([name]: (typeof chips)[number]): boolean => search[name] !== undefined;
  const change = (part: Readonly<Record<string, string | null>>) => onSearch(logSearch({ ...search, ...part }));
  const negated = negatedOf(search);
  const negation = (name: LogNegatable) => ({
    negated: negated.includes(name),
    onNegate: (isNot: boolean) =>
      change({ not: [...negated.filter((one) => one !== name), ...(isNot ? [name] : [])].join(',') }),
  });
  return (
    <search className={css.filters} aria-label="Verifications">
      <div className={css.search}>
        <SearchBox
          label="Address, domain or ID"
          hideLabel
          placeholder="Address, domain, ID"
          maxLength={ADDRESS_LENGTH.max}
          value={search.query ?? ''}
          onSearch={(query) => change({ query })}
        />
      </div>
      <div className={css.chips}>
        {search.hour !== undefined && (
          <FilterChip
            name={search.until === undefined ? 'Hour' : 'Time'}
            value={search.hour}
            options={[{ value: search.hour, label: hoursText(search.hour, search.until) }]}
            onChange={() => change(NO_TIME)}
          />
        )}
        {search.from !== undefined && search.to !== undefined && (
          <FilterChip
            name="Day"
            value={search.from}
            options={[{ value: search.from, label: formatDays(search.from, search.to) }]}
            onChange={() => change(NO_TIME)}
          />
        )}
        {search.operator !== undefined && (
          <FilterChip
            name="Mail operator"
            value={search.operator}
            options={[{ value: search.operator, label: operatorName(search.operator) }]}
            onChange={(operator) => change({ operator })}
            {...negation('operator')}
          />
        )}
        {[...offered.filter(isSet), ...offered.filter((chip) => !isSet(chip))].map(([name, label, options]) => (
          <FilterChip
            key={name}
            name={label}
            options={options}
            value={search[name] ?? null}
            onChange={(value) => change(name === 'range' ? { ...NO_TIME, range: value } : { [name]: value })}
            {...(name === 'range' ? {} : negation(name))}
          />
        ))}
      </div>
    </search>
  );
});
