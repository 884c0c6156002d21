/** What a chart shows: one value per bucket; null where there is nothing to say. */
export interface Series {
  readonly label: string;
  readonly tone: Tone;
  readonly values: readonly (number | null)[];
  /** A broken line, so that it is told apart without its colour. */
  readonly broken?: boolean;
}

export interface ChartData {
  /** Beginnings of the buckets, ISO 8601. */
  readonly at: readonly string[];
  readonly bucket: 'hour' | 'day';
  /** The first stands at the bottom, where `shape` is `bars`: each on top of the one before. */
  readonly series: readonly Series[];
  readonly shape: 'bars' | 'lines';
}

/** Each is told from the page by at least 3 to 1 (WCAG 2.2 §1.4.11), and from its neighbour also in grey. */
const TONES = {
  good: ['#1864ab', '#74c0fc'],
  bad: ['#e8590c', '#ffc078'],
  first: ['#1864ab', '#74c0fc'],
  second: ['#9c36b5', '#eebefa'],
} as const;
export type Tone = keyof typeof TONES;

export const toneColor = (tone: Tone, dark: boolean): string => TONES[tone][dark ? 1 : 0];

/** Sums from the bottom up, as bars that stand on each other are drawn: each behind the one before. */
export function stacked(series: readonly Series[]): number[][] {
  const sums: number[][] = [];
  for (const { values } of series) {
    const below = sums.at(-1);
    sums.push(values.map((value, i) => (value ?? 0) + (below?.[i] ?? 0)));
  }
  return sums;
}

const UTC = { timeZone: 'UTC' } as const;
const hour = new Intl.DateTimeFormat(undefined, { ...UTC, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const day = new Intl.DateTimeFormat(undefined, { ...UTC, day: 'numeric', month: 'short' });
const whole = new Intl.DateTimeFormat(undefined, { ...UTC, dateStyle: 'medium' });

/** `14:00`, and `3 Nov` where a day begins. Seconds since 1970, UTC. */
export const tick = (seconds: number): string => (seconds % 86_400 === 0 ? day : hour).format(new Date(seconds * 1000));

/** `3 Nov 2026, 14:00`, or the day alone. */
export function bucketName(iso: string, bucket: 'hour' | 'day'): string {
  const date = new Date(iso);
  return bucket === 'day' ? whole.format(date) : `${whole.format(date)}, ${hour.format(date)}`;
}
