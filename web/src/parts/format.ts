/** Formatting of times, numbers and identifiers, in the language of the page and the time zone of the reader. */
import { SOURCE_LANGUAGE } from '../../../src/kernel/facts/languages.ts';
import type { ChartBucket } from '../../../src/kernel/facts/outcomes.ts';
import { language } from '../i18n.ts';
import { timeZone } from './time-zone.ts';

// Dates in English have the day first.
const DATES = language === SOURCE_LANGUAGE ? 'en-GB' : language;
const DATE = { day: 'numeric', month: 'short', year: 'numeric' } as const;
const MINUTE = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;

/** Formats times by these options; in a zone, or in that of the reader. */
function inZone(options: Intl.DateTimeFormatOptions, zone: () => string = timeZone) {
  let made: { readonly zone: string; readonly format: Intl.DateTimeFormat } | null = null;
  return (time: string | number): string => {
    if (made?.zone !== zone())
      made = { zone: zone(), format: new Intl.DateTimeFormat(DATES, { ...options, timeZone: zone() }) };
    // Of other forms in CLDR: the three letters of the other months.
    return made.format.format(new Date(time)).replace('Sept ', 'Sep ');
  };
}
const utc = () => 'UTC';

const date = inZone(DATE);
const utcDate = inZone(DATE, utc);
const clock = inZone({ ...MINUTE, second: '2-digit' });
const utcClock = inZone({ ...MINUTE, second: '2-digit' }, utc);
const minute = inZone(MINUTE);
const weekday = inZone({ weekday: 'long', ...DATE, month: 'long' });
const dayOfMonth = inZone({ day: 'numeric', month: 'short' });
const utcDayOfMonth = inZone({ day: 'numeric', month: 'short' }, utc);

/** `UTC`, `CET`: of the reader's zone at this time. */
export function zoneName(iso: string | number): string {
  const format = new Intl.DateTimeFormat(DATES, { timeZone: timeZone(), timeZoneName: 'short' });
  return format.formatToParts(new Date(iso)).find(({ type }) => type === 'timeZoneName')?.value ?? timeZone();
}

/** `22 Nov 2026, 14:31:48 UTC`, with the zone of the reader. */
export const formatDateTime = (iso: string): string => `${date(iso)}, ${clock(iso)} ${zoneName(iso)}`;
/** `22 Nov 2026, 14:31:48 UTC`, in UTC for every reader. */
export const formatUtc = (iso: string): string => `${utcDate(iso)}, ${utcClock(iso)} UTC`;
/** `22 Nov 2026`, the day where the reader is. */
export const formatDate = (iso: string): string => date(iso);
/** `22 Nov 2026`: a day that the service counts, in UTC. */
export const formatUtcDate = (iso: string): string => utcDate(iso);
/** `14:31:48` */
export const formatClock = (iso: string): string => clock(iso);
/** `14:31` */
export const formatMinute = (iso: string): string => minute(iso);
/** `Sunday 22 November 2026`, the day where the reader is. */
export const formatDay = (iso: string): string =>
  language === SOURCE_LANGUAGE ? weekday(iso).replaceAll(',', '') : weekday(iso);
/** `22 Nov` */
export const formatDayOfMonth = (time: string | number, bucket: ChartBucket = 'hour'): string =>
  (bucket === 'day' ? utcDayOfMonth : dayOfMonth)(time);

/** Numbers by these options, with a minus sign (U+2212), which is as wide as the plus sign. */
function numbers(options: Intl.NumberFormatOptions) {
  const format = new Intl.NumberFormat(language, options);
  return (n: number): string => format.format(n).replace('-', '−');
}
export const formatNumber = numbers({});
/** `12K` */
export const formatCompact = numbers({ notation: 'compact' });
/** With at most one decimal. */
export const formatDecimal = numbers({ maximumFractionDigits: 1 });
/** `+38`, `−4` */
export const formatSigned = numbers({ maximumFractionDigits: 0, signDisplay: 'exceptZero' });

/** `288 ms`, `1.84 s`, `1 min 43 s`. */
export function formatMs(ms: number): string {
  if (ms < 1000) return `${formatNumber(Math.round(ms))} ms`;
  if (ms < 60_000) return `${formatNumber(Math.round(ms / 10) / 100)} s`;
  const seconds = Math.round(ms / 1000);
  return `${formatNumber(Math.floor(seconds / 60))} min ${seconds % 60} s`;
}
const list = new Intl.ListFormat(language, { type: 'conjunction' });
/** `a, b, and c` */
export const formatList = (items: readonly string[]): string => list.format(items);

const collator = new Intl.Collator(language);
/** Order of texts that the reader sees. */
export const compareTexts = (a: string, b: string): number => collator.compare(a, b);

const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
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

/** A label within a sentence: with a small letter, but for abbreviations; German keeps its capitals. */
export const inSentence = (label: string): string =>
  language === 'de' || /^\p{Lu}{2}/u.test(label) ? label : label.charAt(0).toLocaleLowerCase(language) + label.slice(1);
