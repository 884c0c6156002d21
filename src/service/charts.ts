import { type Clock, DAY_MS, HOUR_MS, toIso } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import { percentile } from '../kernel/latency.ts';
import { CHART_BUCKETS_MAX } from '../kernel/limits.ts';
import { DASHBOARD_KEY } from '../kernel/log-origins.ts';
import type { AccountId, Store, TrafficRow, UsageRow } from '../store/store.ts';

type Bucket = 'hour' | 'day';
export interface ChartQuery {
  /** Unix time in ms; default: the last seven days. */
  readonly from: number | null;
  readonly to: number | null;
  /** Null: hours for up to seven days, otherwise days. Days in any case where counters are no longer by the hour. */
  readonly bucket: Bucket | null;
}

const SIZE: Readonly<Record<Bucket, number>> = { hour: HOUR_MS, day: DAY_MS };
const WEEK = 7 * DAY_MS;

/** The range, extended to whole buckets. Throws ApiError. `hoursFrom`: since when counters are by the hour; null: all are. */
function rangeOf(
  query: ChartQuery,
  now: number,
  hoursFrom: number | null,
): { start: number; end: number; bucket: Bucket } {
  const to = query.to ?? now;
  const from = query.from ?? to - WEEK;
  if (from >= to) throw new ApiError('invalid_parameter', 'from must be before to.', { field: 'from' });
  const bucket = query.bucket ?? (to - from <= WEEK ? 'hour' : 'day');
  const whole = (bucket: Bucket) => {
    const size = SIZE[bucket];
    return { start: Math.floor(from / size) * size, end: Math.ceil(to / size) * size, bucket };
  };
  const { start, end } = whole(bucket);
  const count = (end - start) / SIZE[bucket];
  if (count <= CHART_BUCKETS_MAX) return whole(hoursFrom !== null && from < hoursFrom ? 'day' : bucket);
  const message =
    bucket === 'hour'
      ? `The range has ${count} hours; request days, or at most ${CHART_BUCKETS_MAX} hours.`
      : `The range has ${count} days; request at most ${CHART_BUCKETS_MAX}.`;
  throw new ApiError('invalid_parameter', message, { field: bucket === 'hour' ? 'bucket' : 'from' });
}

type Counts = Omit<UsageRow, 'group'>;
interface Sums {
  requests: number;
  good: number;
  bad: number;
  credits: number;
  refused: number;
  rate_limited: number;
}
interface Tally extends Sums {
  readonly mx: Map<number, number>;
  readonly smtp: Map<number, number>;
}
const SUM_FIELDS = ['requests', 'good', 'bad', 'credits', 'refused', 'rate_limited'] as const satisfies (keyof Sums)[];
const zeroSums = (): Sums => ({ requests: 0, good: 0, bad: 0, credits: 0, refused: 0, rate_limited: 0 });

/** The counters of an account by hour or day, including empty buckets, and the totals by reason and by API key. */
export async function chartOf(
  store: Pick<Store, 'usage' | 'traffic' | 'keys'>,
  clock: Clock,
  account: AccountId,
  query: ChartQuery,
) {
  const { start, end, bucket } = rangeOf(query, clock.now(), await store.usage.hoursFrom(account));
  const [hours, traffic, byReason, byKey, keys] = await Promise.all([
    store.usage.hours(account, start, end),
    store.traffic.list(account, start, end),
    store.usage.reasons(account, start, end),
    store.usage.series(account, 'key', start, end),
    store.keys.list(account),
  ]);
  const size = SIZE[bucket];
  const tallies = Array.from(
    { length: (end - start) / size },
    (): Tally => ({
      ...zeroSums(),
      mx: new Map(),
      smtp: new Map(),
    }),
  );
  const tallyAt = (hour: number): Tally | undefined => tallies[Math.floor((hour - start) / size)];
  for (const row of hours) addCounts(tallyAt(row.at), row);
  for (const row of traffic) addTraffic(tallyAt(row.hour), row);
  const totals = zeroSums();
  for (const tally of tallies) for (const field of SUM_FIELDS) totals[field] += tally[field];
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  names.set(DASHBOARD_KEY, 'Dashboard');
  return {
    from: toIso(start),
    to: toIso(end),
    bucket,
    buckets: tallies.map(({ mx, smtp, ...sums }, i) => ({
      at: toIso(start + i * size),
      ...sums,
      latency: { mx: percentiles(mx), smtp: percentiles(smtp) },
    })),
    totals,
    by_reason: byRequestsDescending(byReason),
    by_key: byRequestsDescending(byKey).map(({ group, requests, credits }) => ({
      key_id: group,
      name: names.get(group) ?? group,
      requests,
      credits,
    })),
  };
}
export type Chart = Awaited<ReturnType<typeof chartOf>>;

function addCounts(tally: Tally | undefined, { requests, good, bad, credits }: Counts): void {
  if (tally === undefined) return;
  tally.requests += requests;
  tally.good += good;
  tally.bad += bad;
  tally.credits += credits;
}

function addTraffic(tally: Tally | undefined, { metric, bucket, count }: TrafficRow): void {
  if (tally === undefined) return;
  if (metric !== 'status') tally[metric].set(bucket, (tally[metric].get(bucket) ?? 0) + count);
  else if (bucket === 429) tally.rate_limited += count;
  else if (bucket >= 400 && bucket < 500) tally.refused += count;
}

function percentiles(counts: ReadonlyMap<number, number>): { p50: number; p95: number } | null {
  const [p50, p95] = [percentile(counts, 0.5), percentile(counts, 0.95)];
  return p50 === null || p95 === null ? null : { p50, p95 };
}

const byRequestsDescending = <T extends { readonly requests: number }>(rows: readonly T[]): T[] =>
  rows.toSorted((a, b) => b.requests - a.requests);
