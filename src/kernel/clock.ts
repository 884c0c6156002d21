/** The only access to the system's clock; a test enforces this. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. May jump when the system's clock is set. */
  now(): number;
  /** Milliseconds from an arbitrary start; never goes backwards. For durations and deadlines. */
  elapsed(): number;
}

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
};

/** Milliseconds for which the event loop of this thread has had nothing to do, since its start. */
export const totalIdleMs = (): number => performance.eventLoopUtilization().idle;

/** Libraries may take only a Date. */
export const toDate = (ms: number): Date => new Date(ms);

let isoOf = { ms: 0, text: new Date(0).toISOString() };

/**
 * `2026-11-20T10:00:00.000Z` (RFC 3339, UTC, milliseconds). The last one is kept: under load, many fall in a
 * millisecond.
 */
export function toIso(ms: number): string {
  if (ms !== isoOf.ms) isoOf = { ms, text: new Date(ms).toISOString() };
  return isoOf.text;
}

export const toIsoOrNull = (ms: number | null): string | null => (ms === null ? null : toIso(ms));

/** Returns `ms` at the start of its UTC calendar month, and of the next one. */
export function monthOf(ms: number): { start: number; end: number } {
  const d = new Date(ms);
  return {
    start: Date.UTC(d.getUTCFullYear(), d.getUTCMonth(), 1),
    end: Date.UTC(d.getUTCFullYear(), d.getUTCMonth() + 1, 1),
  };
}

let currentHour = { start: 0, end: 0, name: '' };
/** The UTC calendar month of `ms`: `2026-11`. Asked for with every charge, so the last one is kept. */
export function monthName(ms: number): string {
  if (ms < currentHour.start || ms >= currentHour.end)
    currentHour = { ...monthOf(ms), name: new Date(ms).toISOString().slice(0, 'YYYY-MM'.length) };
  return currentHour.name;
}

/** Reads the date of a mail (RFC 5322 §3.3) as Unix time in ms; null if it is none. */
export function fromMailDate(text: string): number | null {
  // A comment with the name of a zone may follow.
  const [date = ''] = text.slice(0, 64).split('(');
  const ms = Date.parse(date);
  return Number.isNaN(ms) ? null : ms;
}

/** Milliseconds of an RFC 3339 date or date-time, or null. A bare date is midnight UTC. */
export function fromIso(text: string): number | null {
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2}))?$/.test(text)) return null;
  const ms = Date.parse(text);
  // 30 February would otherwise be read as a day in March.
  const day = Number(text.slice(8, 10));
  const days = new Date(Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)), 0)).getUTCDate();
  return Number.isNaN(ms) || day < 1 || day > days ? null : ms;
}
