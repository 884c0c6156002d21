import type { ChartBucket } from '../../../../src/kernel/facts/outcomes.ts';
import { formatClock, formatDate, formatDayOfMonth, formatMinute, formatUtcDate } from '../format.ts';

/** One value per bucket; null: no data. */
export interface Series {
  readonly label: string;
  readonly tone: Tone;
  readonly values: readonly (number | null)[];
  /** To be distinguishable without color. */
  readonly line?: 'dashed' | 'dotted';
}

export interface ChartData {
  /** Start times of the buckets, ISO 8601. */
  readonly at: readonly string[];
  readonly bucket: ChartBucket;
  /** For `bars` stacked in this order, the first at the bottom. */
  readonly series: readonly Series[];
  readonly shape: 'bars' | 'lines';
}

/** Tokens with a contrast of at least 3:1 with the page (WCAG 2.2 §1.4.11); adjacent tones also differ in greyscale. */
const TONES = {
  rejected: '--v-rejected',
  limited: '--v-risky',
  first: '--accent',
  second: '--v-risky-ink',
  before: '--ink-3',
} as const;
type Tone = keyof typeof TONES;

export const toneColor = (tone: Tone): string => `var(${TONES[tone]})`;
/** The color as it is now, for a canvas. */
export const tokenColor = (token: string): string => getComputedStyle(document.documentElement).getPropertyValue(token);
export const toneFill = (tone: Tone): string => tokenColor(TONES[tone]);

/** Cumulative sums from the bottom up, for stacked bars. */
export function stack(series: readonly Series[]): number[][] {
  const sums: number[][] = [];
  for (const { values } of series) {
    const below = sums.at(-1);
    sums.push(values.map((value, i) => (value ?? 0) + (below?.[i] ?? 0)));
  }
  return sums;
}

/** `14:00`, or `3 Nov` at midnight. Takes Unix seconds. Days are those that the service counts, in UTC. */
export function formatTick(seconds: number, bucket: ChartData['bucket']): string {
  const iso = new Date(seconds * 1000).toISOString();
  return bucket === 'day' || isMidnight(iso) ? formatDayOfMonth(iso, bucket) : formatMinute(iso);
}

/** Whether a day begins for the reader. */
export const isMidnight = (iso: string): boolean => formatClock(iso) === '00:00:00';

/** `3 Nov 2026, 14:00`, or the date only. */
export const formatBucket = (iso: string, bucket: ChartData['bucket']): string =>
  bucket === 'day' ? formatUtcDate(iso) : `${formatDate(iso)}, ${formatMinute(iso)}`;
