import { type Clock, HOUR_MS } from '../kernel/clock.ts';
import type { Level } from '../kernel/facts/plans.ts';
import type { AccountId, Traffic, TrafficRow } from '../store/store.ts';

/**
 * Latencies are counted in buckets, each 10 % wider than the one before: percentiles are accurate to within 5 %, and
 * each level and hour needs at most about 150 counters, however many requests there are.
 */
const GROWTH = Math.log(1.1);
/** 1.1^145 ms are more than 17 minutes. */
const LAST_BUCKET = 145;

/** The bucket of a latency in ms; 0 is everything below 1 ms. */
const latencyBucket = (ms: number): number =>
  ms < 1 ? 0 : Math.min(LAST_BUCKET, 1 + Math.floor(Math.log(ms) / GROWTH));

/** The latency that a bucket represents, ms: the middle of its bounds. */
const middle = (bucket: number): number => (bucket === 0 ? 0.5 : 1.1 ** (bucket - 0.5));

export type LatencyCounts = Map<number, number>;

export const addCount = (counts: LatencyCounts, bucket: number, n: number) =>
  counts.set(bucket, (counts.get(bucket) ?? 0) + n);

/** Computes median and 95th percentile in ms; null without requests. */
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

const TRAFFIC_METRICS = ['status', 'mx', 'smtp'] as const;
/** Room for one hour's statuses (to 599) and latency buckets in one number: hour, then metric, then bucket. */
const HOUR_BUCKETS = 1000;
const PER_HOUR = TRAFFIC_METRICS.length * HOUR_BUCKETS;
/**
 * Distinct counters kept in memory while the store is unavailable, about 10 MB. Beyond that, nothing is counted: a gap
 * in a chart is better than an exhausted process.
 */
const COUNTERS_MAX = 100_000;

/** Counts errors and latencies of accounts in memory; `flush` writes them to the store. */
export function createTrafficCounter(traffic: Traffic, clock: Clock) {
  let counts = new Map<AccountId, Map<number, number>>();
  let size = 0;

  function add(account: AccountId, metric: number, bucket: number, n: number, hour = currentHour()): void {
    let own = counts.get(account);
    if (own === undefined) {
      if (size >= COUNTERS_MAX) return;
      own = new Map();
      counts.set(account, own);
    }
    const key = hour * PER_HOUR + metric * HOUR_BUCKETS + bucket;
    const before = own.get(key);
    if (before === undefined) {
      if (size >= COUNTERS_MAX) return;
      size += 1;
    }
    own.set(key, (before ?? 0) + n);
  }
  const currentHour = () => Math.floor(clock.now() / HOUR_MS);

  return {
    refused: (account: AccountId, status: number) => add(account, 0, status, 1),
    verified: (account: AccountId, level: Level, ms: number) =>
      add(account, level === 'mx' ? 1 : 2, latencyBucket(ms), 1),
    /** If the store fails, nothing is lost: the next call writes the counts. */
    async flush() {
      if (size === 0) return;
      const flushing = counts;
      counts = new Map();
      size = 0;
      try {
        await traffic.add(
          [...flushing].flatMap(([account, own]) => [...own].map(([key, n]) => trafficRow(account, key, n))),
        );
      } catch (error) {
        for (const [account, own] of flushing) {
          for (const [key, n] of own) {
            const inHour = key % PER_HOUR;
            add(account, Math.floor(inHour / HOUR_BUCKETS), inHour % HOUR_BUCKETS, n, Math.floor(key / PER_HOUR));
          }
        }
        throw error;
      }
    },
  };
}

export type TrafficCounter = ReturnType<typeof createTrafficCounter>;

function trafficRow(account: AccountId, key: number, count: number): TrafficRow {
  const inHour = key % PER_HOUR;
  return {
    account,
    hour: Math.floor(key / PER_HOUR) * HOUR_MS,
    metric: TRAFFIC_METRICS[Math.floor(inHour / HOUR_BUCKETS)]!,
    bucket: inHour % HOUR_BUCKETS,
    count,
  };
}
