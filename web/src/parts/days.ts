import { formatUtcDate } from './format.ts';

/** Days in UTC, `2026-11-03`. */

export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** A calendar date without a time; `2026-02-30` is not one. */
export function isDay(value: unknown): value is string {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return false;
  const time = Date.parse(`${value}T00:00:00Z`);
  return !Number.isNaN(time) && dayOf(time) === value;
}

/** `3 Nov 2026`, or `3 Nov 2026 – 7 Nov 2026`. */
export const formatDays = (from: string, to: string): string =>
  from === to ? formatUtcDate(from) : `${formatUtcDate(from)} – ${formatUtcDate(to)}`;
