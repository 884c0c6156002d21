/** Formatting of times, numbers and identifiers. */

// The interface is in English: its formats do not follow the browser's language. All times are UTC, to the second.
const UTC = { timeZone: 'UTC' } as const;
const DATE = { day: 'numeric', month: 'short', year: 'numeric' } as const;
const CLOCK = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
const date = new Intl.DateTimeFormat('en-GB', { ...UTC, ...DATE });
const clock = new Intl.DateTimeFormat('en-GB', { ...UTC, ...CLOCK });
const weekday = new Intl.DateTimeFormat('en-GB', { ...UTC, weekday: 'long', ...DATE, month: 'long' });
const number = new Intl.NumberFormat('en');
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** `22 Nov 2026, 14:31:48 UTC`. */
export const formatDateTime = (iso: string): string => `${formatDate(iso)}, ${formatClock(iso)} UTC`;
/** `22 Nov 2026`, the day in UTC. */
export const formatDate = (iso: string): string => date.format(new Date(iso)).replace('Sept', 'Sep');
/** `14:31:48`, in UTC. */
export const formatClock = (iso: string): string => clock.format(new Date(iso));
/** `Sunday 22 November 2026`, the day in UTC. */
export const formatDay = (iso: string): string => weekday.format(new Date(iso)).replaceAll(',', '');
export const formatNumber = (n: number): string => number.format(n).replace('-', '−');
/** `288 ms`, `1.84 s`, `1 min 43 s`. */
export function formatMs(ms: number): string {
  if (ms < 1000) return `${formatNumber(Math.round(ms))} ms`;
  if (ms < 60_000) return `${number.format(Math.round(ms / 10) / 100)} s`;
  const seconds = Math.round(ms / 1000);
  return `${formatNumber(Math.floor(seconds / 60))} min ${seconds % 60} s`;
}
/** `1 credit`, `2 credits`. */
export const pluralize = (n: number, one: string, many = `${one}s`): string =>
  `${formatNumber(n)} ${n === 1 ? one : many}`;

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** `3 hours ago`, `in 2 days`. */
export function formatRelative(iso: string, now: number = Date.now()): string {
  const seconds = (new Date(iso).getTime() - now) / 1000;
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
  return relative.format(Math.trunc(seconds / size), unit);
}
