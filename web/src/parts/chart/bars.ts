import { t } from '@lingui/core/macro';
import { keysOf } from '../../../../src/kernel/facts/keys-of.ts';
import type { ChartBucket } from '../../../../src/kernel/facts/outcomes.ts';
import type { UsageChart } from '../../api/schema.ts';
import { formatNumber, inSentence } from '../format.ts';
import type { Outcome } from '../glyph.tsx';
import { formatBucket } from './series.ts';

/** What a bar is made of, in the order in which it stacks, from the bottom. */
export type Segment = Exclude<Outcome, 'rejected'>;
export const SEGMENT_LABELS: Readonly<Record<Segment, string>> = {
  deliverable: t`Deliverable`,
  not_checked: t`Mailbox not checked`,
  unknown: t`Unknown`,
  risky: t`Risky`,
  undeliverable: t`Undeliverable`,
};
export const SEGMENTS = keysOf(SEGMENT_LABELS);

/** Verifications by hour or day: what was found, what was rejected, and how many there were in the period before. */
export interface Bars {
  readonly bucket: ChartBucket;
  readonly bars: readonly Bar[];
}
export interface Bar {
  /** Start, RFC 3339. */
  readonly at: string;
  readonly total: number;
  readonly segments: Readonly<Record<Segment, number>>;
  readonly rejected: number;
  /** Null: not compared. */
  readonly before: number | null;
}

export const rejectedOf = ({ refused, rate_limited }: { refused: number; rate_limited: number }): number =>
  refused + rate_limited;

/** `before`: of the period before, with as many buckets. */
export const barsOf = ({ bucket, buckets }: UsageChart, before: UsageChart | null): Bars => ({
  bucket,
  bars: buckets.map((one, i) => ({
    at: one.at,
    total: one.requests,
    segments: one.outcomes,
    rejected: rejectedOf(one),
    before: before === null ? null : (before.buckets[i]?.requests ?? 0),
  })),
});

/** Heights: on a logarithmic scale by powers of ten, from 0. */
export const heightOf = (value: number, log: boolean): number => (log ? Math.log10(1 + value) : value);

/** Where the vertical axis has lines, up to four of them above 0: whole numbers. */
export function ticksOf(most: number, log: boolean): number[] {
  if (log)
    return [0, ...Array.from({ length: Math.max(1, Math.ceil(Math.log10(1 + most)) + 1) }, (_, power) => 10 ** power)];
  const rough = Math.max(most, 1) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, ([1, 2, 5, 10].find((n) => n * power >= rough) ?? 10) * power);
  return Array.from({ length: Math.ceil(Math.max(most, 1) / step) + 1 }, (_, i) => i * step);
}

/** Whether one value flattens the others: it is 20 times as high as the usual one. */
export function hasOutlier(values: readonly number[]): boolean {
  const used = values.filter((value) => value > 0).sort((a, b) => a - b);
  const median = used[Math.floor((used.length - 1) / 2)] ?? 0;
  return used.length > 2 && (used.at(-1) ?? 0) >= 20 * median;
}

/** A bar in words, for its link. */
export function barText({ at, total, segments, rejected, before }: Bar, bucket: Bars['bucket']): string {
  const parts = SEGMENTS.filter((segment) => segments[segment] > 0).map(
    (segment) => `${formatNumber(segments[segment])} ${inSentence(SEGMENT_LABELS[segment])}`,
  );
  const rest = [...parts, t`${formatNumber(rejected)} requests rejected`];
  if (before !== null) rest.push(t`${formatNumber(before)} in the period before`);
  return t`${formatBucket(at, bucket)}: ${formatNumber(total)} verifications; ${rest.join(', ')}`;
}
