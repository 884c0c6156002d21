import type { UsageChart } from '../../api/schema.ts';
import { bucketName } from '../../parts/chart/series.ts';
import { count, counted } from '../../parts/words.ts';

/** The charts in sentences. */

export function requestsSummary({ totals, buckets, bucket }: UsageChart): string {
  const most = buckets.reduce<(typeof buckets)[number] | null>(
    (top, one) => (one.requests > (top?.requests ?? 0) ? one : top),
    null,
  );
  const all = `${counted(totals.requests, 'verification')}: ${count(totals.good)} good, ${count(totals.bad)} bad, for ${counted(totals.credits, 'credit')}.`;
  if (most === null) return all;
  return `${all} Most in one ${bucket}: ${count(most.requests)}, ${bucketName(most.at, bucket)}.`;
}

/** Null where nothing was timed at this level. */
export function latencySummary({ buckets, bucket }: UsageChart, level: 'mx' | 'smtp'): string | null {
  const known = buckets.flatMap(({ latency }) => latency[level] ?? []);
  if (known.length === 0) return null;
  const medians = known.map(({ p50 }) => p50);
  const [least, most, worst] = [
    Math.min(...medians),
    Math.max(...medians),
    Math.max(...known.map(({ p95 }) => p95)),
  ].map((ms) => count(Math.round(ms)));
  const range = least === most ? `${least} ms` : `between ${least} and ${most} ms`;
  return `Median ${range}; 95th percentile at most ${worst} ms in one ${bucket}.`;
}

export function refusalsSummary({ totals }: UsageChart): string {
  const { refused, rate_limited } = totals;
  if (refused + rate_limited === 0) return 'No request was refused.';
  return `${counted(refused, 'request')} refused with 4xx, and ${counted(rate_limited, 'request')} with 429 (rate limit).`;
}
