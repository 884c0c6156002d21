import { plural, t } from '@lingui/core/macro';
import { keysOf } from '../../../src/kernel/facts/keys-of.ts';
import { CHART_BUCKETS_MAX } from '../../../src/kernel/facts/limits.ts';
import type { ChartBucket } from '../../../src/kernel/facts/outcomes.ts';
import type { UsageChart } from '../api/schema.ts';
import { dayOf, formatDays, isDay } from './days.ts';
import { factText } from './fact-text.ts';
import { formatDate, formatMinute, zoneName } from './format.ts';
import { oneOf } from './search-params.ts';

/** The time that a page shows: relative to now, some hours, or some days of UTC. It is kept from page to page. */

export const RANGES = {
  '24h': t`Last 24 hours`,
  '7d': t`Last 7 days`,
  '30d': t`Last 30 days`,
  month: t`This month`,
} as const;
type Named = keyof typeof RANGES;

/** Search parameters of pages with a time; one of the three, or none. */
export interface TimeSearch {
  range?: Named;
  /** The start of an hour in RFC 3339. */
  hour?: string;
  /** The end of several hours that begin with `hour`. */
  until?: string;
  /** First and last day, `2026-11-03`; both or neither. */
  from?: string;
  to?: string;
}

/** What charts show where no time was chosen. */
export const USUAL = { range: '30d' } as const satisfies TimeSearch;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Longer times are shown by day. */
const HOURLY_MAX_MS = 8 * DAY_MS;

const hourOf = (value: unknown): string | undefined =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:00:00(\.000)?Z$/.test(value) && !Number.isNaN(Date.parse(value))
    ? value
    : undefined;

export function timeSearch(search: Record<string, unknown>): TimeSearch {
  const { from, to } = search;
  if (isDay(from) && isDay(to) && from <= to) return { from, to };
  const [hour, until] = [hourOf(search.hour), hourOf(search.until)];
  // An end that is not after the start is left out.
  if (hour !== undefined)
    return { hour, ...(until !== undefined && Date.parse(until) > Date.parse(hour) ? { until } : {}) };
  const range = oneOf(keysOf(RANGES), search.range);
  return range === undefined ? {} : { range };
}

export const hasTime = ({ range, hour, from }: TimeSearch): boolean =>
  range !== undefined || hour !== undefined || from !== undefined;

/** A search without its time. */
export function withoutTime<S extends TimeSearch>(search: S): Omit<S, keyof TimeSearch> {
  const { range: _range, hour: _hour, until: _until, from: _from, to: _to, ...others } = search;
  return others;
}

/** When the chosen hours end, in milliseconds. */
export const endOf = (hour: string, until: string | undefined): number =>
  until === undefined ? Date.parse(hour) + HOUR_MS : Date.parse(until);

/** The time of one bar. */
export const timeOfBucket = (at: string, bucket: ChartBucket): TimeSearch =>
  bucket === 'hour' ? { hour: at } : { from: at.slice(0, 10), to: at.slice(0, 10) };

/** The time of neighboring bars, by their numbers. */
export function timeOfBuckets(
  { bucket, buckets, to }: Pick<UsageChart, 'bucket' | 'to'> & { readonly buckets: readonly { readonly at: string }[] },
  first: number,
  last: number,
): TimeSearch {
  const [start, end] = [buckets[first], buckets[last]];
  if (start === undefined || end === undefined) return {};
  if (bucket === 'day') return { from: start.at.slice(0, 10), to: end.at.slice(0, 10) };
  return first === last ? { hour: start.at } : { hour: start.at, until: buckets[last + 1]?.at ?? to };
}

interface Period {
  /** RFC 3339; `to` is exclusive. */
  readonly from: string;
  readonly to: string;
  readonly bucket: ChartBucket;
}

export interface Range extends Period {
  /** First and last day. */
  readonly days: readonly [first: string, last: string];
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

function between(from: number, to: number): Range {
  return {
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    bucket: to - from <= HOURLY_MAX_MS ? 'hour' : 'day',
    days: [dayOf(from), dayOf(to - 1)],
  };
}

/** Constant within an hour, so that the query key is stable. `now` in milliseconds. */
export function rangeOf({ range, hour, until, from, to }: TimeSearch, now: number): Range {
  if (from !== undefined && to !== undefined)
    return between(Date.parse(`${from}T00:00:00Z`), Date.parse(`${to}T00:00:00Z`) + DAY_MS);
  if (hour !== undefined) return between(Date.parse(hour), endOf(hour, until));
  const nextHour = Math.ceil((now + 1) / HOUR_MS) * HOUR_MS;
  const tomorrow = Math.ceil((now + 1) / DAY_MS) * DAY_MS;
  const named: Readonly<Record<Named, () => Range>> = {
    '24h': () => between(nextHour - DAY_MS, nextHour),
    '7d': () => between(nextHour - 7 * DAY_MS, nextHour),
    '30d': () => between(tomorrow - 30 * DAY_MS, tomorrow),
    month: () => between(Date.parse(`${dayOf(now).slice(0, 7)}-01T00:00:00Z`), tomorrow),
  };
  return named[range ?? USUAL.range]();
}

/** `23 Nov 2026, 09:00–12:00 UTC` */
function hoursText(hour: string, until: string): string {
  const end = formatDate(until) === formatDate(hour) ? '' : `${formatDate(until)}, `;
  return `${formatDate(hour)}, ${formatMinute(hour)}–${end}${formatMinute(until)} ${zoneName(until)}`;
}

/** In words: `Last 7 days`, `23 Nov 2026, 09:00–12:00 UTC`, `3 Nov 2026 – 7 Nov 2026`; null: none was chosen. */
export function timeText({ range, hour, until, from, to }: TimeSearch): string | null {
  if (from !== undefined && to !== undefined) return formatDays(from, to);
  if (hour !== undefined) return hoursText(hour, new Date(endOf(hour, until)).toISOString());
  return range === undefined ? null : RANGES[range];
}

/** What a range covers, in words. */
export const spanText = ({ from, to, days: [first, last] }: Range): string =>
  from.endsWith('T00:00:00.000Z') && to.endsWith('T00:00:00.000Z')
    ? `${formatDays(first, last)} (UTC)`
    : hoursText(from, to);

/** `30 days`, of a whole number of days, or `5 hours`. */
export function lengthText({ from, to }: Period): string {
  const hours = (Date.parse(to) - Date.parse(from)) / HOUR_MS;
  if (hours % 24 === 0 && hours > 24) return plural(hours / 24, { one: '# day', other: '# days' });
  return hours === 1 ? factText('hour') : plural(hours, { one: '# hour', other: '# hours' });
}

/** Validates a custom range; null if it is valid. */
export function validateDays(from: string, to: string): { field: 'from' | 'to'; error: string } | null {
  if (!isDay(from)) return { field: 'from', error: t`Enter a date.` };
  if (!isDay(to)) return { field: 'to', error: t`Enter a date.` };
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  if (days < 1) return { field: 'to', error: t`The end date must not be before the start date.` };
  if (days > CHART_BUCKETS_MAX)
    return { field: 'from', error: t`Choose at most ${CHART_BUCKETS_MAX} days (currently ${days}).` };
  return null;
}
