import type { Level } from '../../../../src/kernel/facts/plans.ts';
import type { UsageChart } from '../../api/schema.ts';
import { formatBucket } from '../../parts/chart/series.ts';
import { formatNumber, pluralize } from '../../parts/format.ts';

/** Text summaries of the charts. */

export function requestsSummary({ totals, buckets, bucket }: UsageChart): string {
  const most = buckets.reduce<(typeof buckets)[number] | null>(
    (top, one) => (one.requests > (top?.requests ?? 0) ? one : top),
    null,
  );
  const all = `${pluralize(totals.requests, 'verification')} for ${pluralize(totals.credits, 'credit')}.`;
  if (most === null) return all;
  return `${all} Busiest ${bucket}: ${formatBucket(most.at, bucket)}, with ${formatNumber(most.requests)}.`;
}

/** Null if there is no latency data for this level. */
export function latencySummary({ buckets, bucket }: UsageChart, level: Level): string | null {
  const known = buckets.flatMap(({ latency }) => latency[level] ?? []);
  if (known.length === 0) return null;
  const medians = known.map(({ p50 }) => p50);
  const [least, most, worst] = [
    Math.min(...medians),
    Math.max(...medians),
    Math.max(...known.map(({ p95 }) => p95)),
  ].map((ms) => formatNumber(Math.round(ms)));
  const range = least === most ? `${least} ms` : `between ${least} and ${most} ms`;
  return `Median ${range}; highest 95th percentile in one ${bucket}: ${worst} ms.`;
}

export function refusalsSummary({ totals }: UsageChart): string {
  const { refused, rate_limited } = totals;
  if (refused + rate_limited === 0) return 'No requests were rejected.';
  return `${pluralize(refused, 'request')} rejected with 4xx except 429, and ${pluralize(rate_limited, 'request')} with 429 (rate limit).`;
}
