/**
 * Latencies are counted in buckets, each 10 % wider than the one before: percentiles are accurate to within 5 %, and
 * each level and hour needs at most about 150 counters, however many requests there are.
 */
const GROWTH = Math.log(1.1);
/** 1.1^145: more than 17 minutes. */
const LAST = 145;

/** The bucket of a latency in ms; 0 is everything below 1 ms. */
export const latencyBucket = (ms: number): number =>
  ms < 1 ? 0 : Math.min(LAST, 1 + Math.floor(Math.log(ms) / GROWTH));

/** The latency that a bucket represents, ms: the middle of its bounds. */
const middle = (bucket: number): number => (bucket === 0 ? 0.5 : 1.1 ** (bucket - 0.5));

export type LatencyCounts = Map<number, number>;

export const addCount = (counts: LatencyCounts, bucket: number, n: number) =>
  counts.set(bucket, (counts.get(bucket) ?? 0) + n);

/** Median and 95th percentile, ms; null without requests. */
export function percentiles(counts: ReadonlyMap<number, number>): { p50: number; p95: number } | null {
  const [p50, p95] = [percentile(counts, 0.5), percentile(counts, 0.95)];
  return p50 === null || p95 === null ? null : { p50, p95 };
}

/** The given percentile (0.5, 0.95), ms, to two significant digits; null without requests. */
export function percentile(counts: ReadonlyMap<number, number>, share: number): number | null {
  const total = [...counts.values()].reduce((sum, n) => sum + n, 0);
  if (total === 0) return null;
  let seen = 0;
  for (const [bucket, n] of [...counts].sort(([a], [b]) => a - b)) {
    seen += n;
    if (seen >= share * total) return Number(middle(bucket).toPrecision(2));
  }
  return null;
}
