import { CHART_BUCKETS_MAX } from '../../../../src/kernel/facts/limits.ts';
import type { UsageChart } from '../../api/schema.ts';
import { dayOf, isDay } from '../../parts/days.ts';
import { type Orders, type SortSearch, sortSearch } from '../../parts/sorting.tsx';
import { type SourceSearch, sourceSearch } from '../../parts/source.ts';

/** The period of the usage page: a preset relative to now, or a range of days. All in UTC. */

export const PRESETS = { '24h': '24 hours', '7d': '7 days', '30d': '30 days', month: 'This month' } as const;
type Preset = keyof typeof PRESETS;

/** What the table of keys is sorted by. */
export const BY_KEY_ORDERS = {
  requests: 'desc',
  name: 'asc',
  unknown: 'desc',
  rejected: 'desc',
  credits: 'desc',
} as const satisfies Orders<string>;
export type BySort = keyof typeof BY_KEY_ORDERS;

/** Search parameters of the page. */
export interface UsageSearch extends SourceSearch, SortSearch<BySort> {
  range?: Preset;
  /** First and last day, `2026-11-03`; both or neither. */
  from?: string;
  to?: string;
}

const isPreset = (value: unknown): value is Preset => typeof value === 'string' && Object.hasOwn(PRESETS, value);

export function usageSearch(search: Record<string, unknown>): UsageSearch {
  const { range, from, to } = search;
  const rest = { ...sourceSearch(search), ...sortSearch(BY_KEY_ORDERS, search) };
  if (isDay(from) && isDay(to)) return { from, to, ...rest };
  return isPreset(range) ? { range, ...rest } : rest;
}

interface Period {
  /** RFC 3339; `to` is exclusive. */
  readonly from: string;
  readonly to: string;
  readonly bucket: 'hour' | 'day';
}

/** The period of the same length before. */
export function periodBefore({ from, to, bucket }: Period): Period {
  const length = Date.parse(to) - Date.parse(from);
  return { from: new Date(Date.parse(from) - length).toISOString(), to: from, bucket };
}

/** What a period is compared with; null: nothing happened in the one before. */
export const comparable = (before: UsageChart | undefined): UsageChart | null =>
  before === undefined || before.totals.requests + before.totals.refused + before.totals.rate_limited === 0
    ? null
    : before;

export interface Range extends Period {
  /** First and last day of the period. */
  readonly days: readonly [first: string, last: string];
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Longer periods are shown by day. */
const HOURLY_MAX = 8 * DAY;

function between(from: number, to: number): Range {
  return {
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    bucket: to - from <= HOURLY_MAX ? 'hour' : 'day',
    days: [dayOf(from), dayOf(to - 1)],
  };
}

/** Constant within an hour, so that the query key is stable. `now` in milliseconds. */
export function rangeOf({ range = '7d', from, to }: UsageSearch, now: number): Range {
  if (from !== undefined && to !== undefined)
    return between(Date.parse(`${from}T00:00:00Z`), Date.parse(`${to}T00:00:00Z`) + DAY);
  const hour = Math.ceil((now + 1) / HOUR) * HOUR;
  const tomorrow = Math.ceil((now + 1) / DAY) * DAY;
  if (range === '24h') return between(hour - DAY, hour);
  if (range === '7d') return between(hour - 7 * DAY, hour);
  if (range === '30d') return between(tomorrow - 30 * DAY, tomorrow);
  return between(Date.parse(`${dayOf(now).slice(0, 7)}-01T00:00:00Z`), tomorrow);
}

/** Validates a custom range; null if it is valid. */
export function validateDays(from: string, to: string): { field: 'from' | 'to'; error: string } | null {
  if (!isDay(from)) return { field: 'from', error: 'Enter a date.' };
  if (!isDay(to)) return { field: 'to', error: 'Enter a date.' };
  const days = (Date.parse(to) - Date.parse(from)) / DAY + 1;
  if (days < 1) return { field: 'to', error: 'The end date must not be before the start date.' };
  if (days > CHART_BUCKETS_MAX)
    return { field: 'from', error: `Choose at most ${CHART_BUCKETS_MAX} days (currently ${days}).` };
  return null;
}
