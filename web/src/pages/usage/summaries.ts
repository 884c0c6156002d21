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

export function latencySummary({ buckets, bucket }: UsageChart): string {
  const levels = (['mx', 'smtp'] as const).flatMap((level) => {
    const known = buckets.flatMap(({ latency }) => latency[level] ?? []);
    if (known.length === 0) return [];
    const medians = known.map(({ p50 }) => p50);
    const worst = Math.max(...known.map(({ p95 }) => p95));
    const [least, most] = [Math.min(...medians), Math.max(...medians)].map((n) => count(Math.round(n)));
    const range = least === most ? `${least} ms` : `between ${least} and ${most} ms`;
    return [`${level}: median ${range}, 95th percentile at most ${count(Math.round(worst))} ms in one ${bucket}.`];
  });
  return levels.length === 0 ? 'No verification was timed.' : levels.join(' ');
}

export function refusalsSummary({ totals }: UsageChart): string {
  const { refused, rate_limited } = totals;
  if (refused + rate_limited === 0) return 'No request was refused.';
  return `${counted(refused, 'request')} refused with 4xx, and ${counted(rate_limited, 'request')} with 429 (rate limit).`;
}
