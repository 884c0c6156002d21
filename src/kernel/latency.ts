/**
 * Latencies are counted in buckets that grow by a tenth: a percentile read from them is off by at most 5 %, and a level
 * and hour need some hundred counters however many requests there were.
 */
const GROWTH = Math.log(1.1);
/** 1.1^145: more than 17 minutes. */
const LAST = 145;

/** The bucket of a latency in ms; 0 is everything below 1 ms. */
export const latencyBucket = (ms: number): number =>
  ms < 1 ? 0 : Math.min(LAST, 1 + Math.floor(Math.log(ms) / GROWTH));

/** What a bucket stands for, ms: the middle of its bounds. */
const middle = (bucket: number): number => (bucket === 0 ? 0.5 : 1.1 ** (bucket - 0.5));

/** The latency that a share of all requests (0.5, 0.95) stayed within, ms, to two digits; null without requests. */
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
