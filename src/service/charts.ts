import { type Clock, toIso } from '../kernel/clock.ts';
import { Refusal } from '../kernel/errors.ts';
import { percentile } from '../kernel/latency.ts';
import type { TrafficRow } from '../store/people.ts';
import type { AccountId, Store, UsageRow } from '../store/store.ts';
import { DASHBOARD_KEY } from './log.ts';

export type Bucket = 'hour' | 'day';
export interface ChartAsk {
  /** Milliseconds; the last seven days where neither is named. */
  readonly from: number | null;
  readonly to: number | null;
  /** Null: hours for up to seven days, else days. */
  readonly bucket: Bucket | null;
}

const HOUR = 3_600_000;
const SIZE: Readonly<Record<Bucket, number>> = { hour: HOUR, day: 24 * HOUR };
const WEEK = 7 * SIZE.day;
/** As many as a chart can show: a month of hours, two years of days. */
const BUCKETS_MAX = 800;

/** Which buckets are asked for: from the start of the first to the end of the last. Throws Refusal. */
function rangeOf(ask: ChartAsk, now: number): { start: number; end: number; bucket: Bucket } {
  const to = ask.to ?? now;
  const from = ask.from ?? to - WEEK;
  if (from >= to) throw new Refusal('invalid_parameter', 'from must be before to.', { field: 'from' });
  const bucket = ask.bucket ?? (to - from <= WEEK ? 'hour' : 'day');
  const size = SIZE[bucket];
  const [start, end] = [Math.floor(from / size) * size, Math.ceil(to / size) * size];
  const count = (end - start) / size;
  if (count <= BUCKETS_MAX) return { start, end, bucket };
  const sentence =
    bucket === 'hour'
      ? `The range has ${count} hours; ask for days, or for at most ${BUCKETS_MAX} hours.`
      : `The range has ${count} days; ask for at most ${BUCKETS_MAX}.`;
  throw new Refusal('invalid_parameter', sentence, { field: bucket === 'hour' ? 'bucket' : 'from' });
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
const noSums = (): Sums => ({ requests: 0, good: 0, bad: 0, credits: 0, refused: 0, rate_limited: 0 });

/** Counters of an account by hour or day, every bucket of the range, and the same range by reason and by key. */
export async function chartOf(
  store: Pick<Store, 'usage' | 'traffic' | 'keys'>,
  clock: Clock,
  account: AccountId,
  ask: ChartAsk,
) {
  const { start, end, bucket } = rangeOf(ask, clock.now());
  const [hours, traffic, byReason, byKey, keys] = await Promise.all([
    store.usage.hours(account, start, end),
    store.traffic.list(account, start, end),
    store.usage.series(account, 'reason', start, end),
    store.usage.series(account, 'key', start, end),
    store.keys.list(account),
  ]);
  const size = SIZE[bucket];
  const tallies = Array.from(
    { length: (end - start) / size },
    (): Tally => ({
      ...noSums(),
      mx: new Map(),
      smtp: new Map(),
    }),
  );
  const tallyAt = (hour: number): Tally | undefined => tallies[Math.floor((hour - start) / size)];
  for (const row of hours) addCounts(tallyAt(row.at), row);
  for (const row of traffic) addTraffic(tallyAt(row.hour), row);
  const totals = noSums();
  for (const tally of tallies) for (const field of Object.keys(totals) as (keyof Sums)[]) totals[field] += tally[field];
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
    by_reason: mostFirst(byReason).map(({ group, requests }) => ({ reason: group, requests })),
    by_key: mostFirst(byKey).map(({ group, requests, credits }) => ({
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

const mostFirst = (rows: readonly UsageRow[]): UsageRow[] => rows.toSorted((a, b) => b.requests - a.requests);
