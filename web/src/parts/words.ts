/** How times, numbers and verdicts are worded, everywhere the same. */

const time = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const number = new Intl.NumberFormat();
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });

export const atTime = (iso: string): string => time.format(new Date(iso));
export const onDay = (iso: string): string => day.format(new Date(iso));
export const count = (n: number): string => number.format(n);
/** `1 credit`, `2 credits`. */
export const counted = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** `3 hours ago`, `in 2 days`. */
export function fromNow(iso: string, now: number = Date.now()): string {
  const seconds = (new Date(iso).getTime() - now) / 1000;
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
  return relative.format(Math.trunc(seconds / size), unit);
}

/** `blocked_by_filter` → `blocked by filter`. */
export const spoken = (word: string): string => word.replaceAll('_', ' ');

export const PLAN_NAMES: Readonly<Record<string, string>> = {
  starter: 'Starter',
  premium: 'Premium',
  enterprise: 'Enterprise',
};
