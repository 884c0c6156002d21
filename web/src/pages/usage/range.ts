/** Which time the page is about: a preset that moves with the clock, or days of one's own. All in UTC. */

export const PRESETS = { '24h': '24 hours', '7d': '7 days', '30d': '30 days', month: 'This month' } as const;
export type Preset = keyof typeof PRESETS;

/** As the address of the page has it. */
export interface UsageSearch {
  range?: Preset;
  /** First and last day, `2026-11-03`; both or none. */
  from?: string;
  to?: string;
}

const isPreset = (value: unknown): value is Preset => typeof value === 'string' && Object.hasOwn(PRESETS, value);

/** A real day, no time: `2026-02-30` is none. */
export function isDay(value: unknown): value is string {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return false;
  const time = Date.parse(`${value}T00:00:00Z`);
  return !Number.isNaN(time) && dayOf(time) === value;
}

export function usageSearch(search: Record<string, unknown>): UsageSearch {
  const { range, from, to } = search;
  if (isDay(from) && isDay(to)) return { from, to };
  return isPreset(range) ? { range } : {};
}

export interface Range {
  /** RFC 3339; `to` is exclusive. */
  readonly from: string;
  readonly to: string;
  readonly bucket: 'hour' | 'day';
  /** First and last day that have a part in it. */
  readonly days: readonly [first: string, last: string];
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Beyond it a chart by hours says no more. */
const HOURS_UP_TO = 8 * DAY;
/** As many buckets as the server gives at once. */
export const MOST_DAYS = 800;

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

function between(from: number, to: number): Range {
  return {
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    bucket: to - from <= HOURS_UP_TO ? 'hour' : 'day',
    days: [dayOf(from), dayOf(to - 1)],
  };
}

/** The same within an hour, so that it names one question. `now` in milliseconds. */
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

/** What is wrong with days of one's own, for the field that it is about; null where nothing is. */
export function wrongDays(from: string, to: string): { field: 'from' | 'to'; error: string } | null {
  if (!isDay(from)) return { field: 'from', error: 'Enter a day.' };
  if (!isDay(to)) return { field: 'to', error: 'Enter a day.' };
  const days = (Date.parse(to) - Date.parse(from)) / DAY + 1;
  if (days < 1) return { field: 'to', error: 'Enter a day that is not before the first.' };
  if (days > MOST_DAYS) return { field: 'from', error: `Choose at most ${MOST_DAYS} days; these are ${days}.` };
  return null;
}
