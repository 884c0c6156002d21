import { type Clock, DAY_MS, HOUR_MS, toIso } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import { CHART_BUCKETS_MAX } from '../kernel/facts/limits.ts';
import type { LogNegatable } from '../kernel/facts/log-filters.ts';
import { OUTCOMES, type Outcome, outcomeOf, type UsageSource, wasAsked } from '../kernel/facts/outcomes.ts';
import { LEVELS } from '../kernel/facts/plans.ts';
import { NO_REASON, type ReasonOrNone } from '../kernel/facts/reasons.ts';
import { DASHBOARD_KEY } from '../kernel/log-origins.ts';
import type { AccountId, KeyVerdictRow, Store, TrafficRow, UsageBucketRow } from '../store/store.ts';
import { addCount, type LatencyCounts, percentiles } from './traffic.ts';

type Bucket = 'hour' | 'day';
export interface ChartQuery {
  /** Unix time in ms; by default, the chart covers the last seven days. */
  readonly from: number | null;
  readonly to: number | null;
  /** Null: hours for up to seven days, otherwise days. Days in any case where counters are no longer by the hour. */
  readonly bucket: Bucket | null;
  /** The usage is of one key, or of the dashboard. Latencies and rejected requests are not counted by key. */
  readonly key: string | null;
  /** Of calls, one address each, or of lists; null: of both. */
  readonly source: UsageSource | null;
  /** Of verifications with one of these, or, where `not` names it, of those without. Nothing else is counted so. */
  readonly reason?: readonly ReasonOrNone[] | null;
  readonly outcome?: readonly Outcome[] | null;
  readonly not?: readonly LogNegatable[];
}

const BUCKET_MS: Readonly<Record<Bucket, number>> = { hour: HOUR_MS, day: DAY_MS };
const WEEK_MS = 7 * DAY_MS;

/**
 * The range, extended to whole buckets. Throws ApiError. `hoursFrom`: since when counters are by the hour; null: all
 * are.
 */
function rangeOf(
  query: ChartQuery,
  now: number,
  hoursFrom: number | null,
): { start: number; end: number; bucket: Bucket } {
  const to = query.to ?? now;
  const from = query.from ?? to - WEEK_MS;
  if (from >= to) throw new ApiError('invalid_parameter', 'from must be before to.', { field: 'from' });
  const bucket = query.bucket ?? (to - from <= WEEK_MS ? 'hour' : 'day');
  const whole = (bucket: Bucket) => {
    const bucketMs = BUCKET_MS[bucket];
    return { start: Math.floor(from / bucketMs) * bucketMs, end: Math.ceil(to / bucketMs) * bucketMs, bucket };
  };
  const { start, end } = whole(bucket);
  const count = (end - start) / BUCKET_MS[bucket];
  if (count <= CHART_BUCKETS_MAX) return whole(hoursFrom !== null && from < hoursFrom ? 'day' : bucket);
  const message =
    bucket === 'hour'
      ? `The range has ${count} hours; request days, or at most ${CHART_BUCKETS_MAX} hours.`
      : `The range has ${count} days; request at most ${CHART_BUCKETS_MAX}.`;
  throw new ApiError('invalid_parameter', message, { field: bucket === 'hour' ? 'bucket' : 'from' });
}

interface KeySums {
  requests: number;
  good: number;
  bad: number;
  credits: number;
  /** Whose mailbox a mail server was asked about. */
  asked: number;
  refused: number;
  rate_limited: number;
}
interface ChartTally extends KeySums {
  readonly outcomes: Record<Outcome, number>;
  readonly mx: LatencyCounts;
  readonly smtp: LatencyCounts;
}
const SUM_FIELDS = [
  'requests',
  'good',
  'bad',
  'credits',
  'asked',
  'refused',
  'rate_limited',
] satisfies (keyof KeySums)[];
const noOutcomes = (): Record<Outcome, number> => ({
  deliverable: 0,
  not_checked: 0,
  unknown: 0,
  risky: 0,
  undeliverable: 0,
});
const emptyTally = (): ChartTally => ({
  requests: 0,
  good: 0,
  bad: 0,
  credits: 0,
  asked: 0,
  refused: 0,
  rate_limited: 0,
  outcomes: noOutcomes(),
  mx: new Map(),
  smtp: new Map(),
});

/**
 * Returns the counters of an account by hour or day, including empty buckets, and the totals by reason and by API key.
 */
export async function chartOf(
  store: Pick<Store, 'usage' | 'traffic' | 'keys' | 'hooks' | 'rejectedRequests'>,
  clock: Clock,
  account: AccountId,
  query: ChartQuery,
) {
  const { start, end, bucket } = rangeOf(query, clock.now(), await store.usage.hoursFrom(account));
  const { key, source } = query;
  const bucketMs = BUCKET_MS[bucket];
  const [found, traffic, byKey, withoutSource, rejected, keys, hooks] = await Promise.all([
    store.usage.buckets(account, start, end, bucketMs, { source, keys: key === null ? null : [key] }),
    // Of lists, nothing is rejected or waited for.
    key === null && source !== 'list' && !query.reason && !query.outcome ? store.traffic.list(account, start, end) : [],
    store.usage.byKey(account, start, end, source),
    store.usage.withoutSource(account, start, end),
    source === 'list' ? new Map<string, number>() : store.rejectedRequests.countByKey(account, start, end),
    store.keys.list(account),
    store.hooks.list(account),
  ]);
  const tallies = Array.from({ length: (end - start) / bucketMs }, emptyTally);
  const tallyAt = (time: number): ChartTally | undefined => tallies[Math.floor((time - start) / bucketMs)];
  for (const row of found.filter(isAsked(query))) addCounts(tallyAt(row.at), row);
  for (const row of traffic) addTraffic(tallyAt(row.hour), row);
  const totals = emptyTally();
  for (const tally of tallies) addTally(totals, tally);
  const names = new Map([...keys, ...hooks].map(({ id, name }) => [id, name]));
  names.set(DASHBOARD_KEY, 'Dashboard');
  return {
    from: toIso(start),
    to: toIso(end),
    bucket,
    buckets: tallies.map((tally, i) => ({ at: toIso(start + i * bucketMs), ...chartCounts(tally) })),
    totals: chartCounts(totals),
    by_reason: byRequestsDescending(byReason(found.filter(isAsked(query)))),
    by_key: byRequestsDescending(keyCharts(byKey, rejected))
      .filter(({ key_id }) => key === null || key_id === key)
      .map((row) => ({ ...row, name: names.get(row.key_id) ?? row.key_id })),
    without_source: withoutSource,
  };
}
export type Chart = Awaited<ReturnType<typeof chartOf>>;

const chartCounts = ({ mx, smtp, ...sums }: ChartTally) => ({
  ...sums,
  latency: { mx: percentiles(mx), smtp: percentiles(smtp) },
});

function addCounts(tally: ChartTally | undefined, { level, status, reason, requests, credits }: UsageBucketRow): void {
  if (tally === undefined) return;
  tally.requests += requests;
  tally[status] += requests;
  tally.credits += credits;
  tally.outcomes[outcomeOf(level, status, reason)] += requests;
  if (wasAsked(level, reason)) tally.asked += requests;
}

/** Whether a row counts what the query asks for. */
const isAsked =
  ({ reason = null, outcome = null, not = [] }: ChartQuery) =>
  (row: UsageBucketRow): boolean => {
    const found = outcomeOf(row.level, row.status, row.reason);
    return (
      (reason === null || reason.includes(row.reason ?? NO_REASON) !== not.includes('reason')) &&
      (outcome === null || outcome.includes(found) !== not.includes('deliverability'))
    );
  };

/** What was found with each key, and how many of its requests were rejected. */
function keyCharts(found: readonly KeyVerdictRow[], rejected: ReadonlyMap<string, number>) {
  const none = (key_id: string) => ({
    key_id,
    requests: 0,
    credits: 0,
    asked: 0,
    rejected: rejected.get(key_id) ?? 0,
    outcomes: noOutcomes(),
  });
  const rows = new Map([...rejected.keys()].map((id) => [id, none(id)]));
  for (const { keyId, level, status, reason, requests, credits } of found) {
    const row = rows.get(keyId) ?? none(keyId);
    rows.set(keyId, row);
    row.requests += requests;
    row.credits += credits;
    row.outcomes[outcomeOf(level, status, reason)] += requests;
    if (wasAsked(level, reason)) row.asked += requests;
  }
  return [...rows.values()];
}

function addTraffic(tally: ChartTally | undefined, { metric, bucket, count }: TrafficRow): void {
  if (tally === undefined) return;
  if (metric !== 'status') addCount(tally[metric], bucket, count);
  else if (bucket === 429) tally.rate_limited += count;
  else if (bucket >= 400 && bucket < 500) tally.refused += count;
}

function addTally(sum: ChartTally, part: ChartTally): void {
  for (const field of SUM_FIELDS) sum[field] += part[field];
  for (const outcome of OUTCOMES) sum.outcomes[outcome] += part.outcomes[outcome];
  for (const level of LEVELS) for (const [at, n] of part[level]) addCount(sum[level], at, n);
}

/** A reason that occurs with two outcomes has a row for each. */
function byReason(found: readonly UsageBucketRow[]) {
  const rows = new Map<string, { reason: ReasonOrNone; outcome: Outcome; requests: number }>();
  for (const { level, status, reason, requests } of found) {
    const outcome = outcomeOf(level, status, reason);
    const id = `${reason} ${outcome}`;
    rows.set(id, { reason: reason ?? NO_REASON, outcome, requests: (rows.get(id)?.requests ?? 0) + requests });
  }
  return [...rows.values()];
}

const byRequestsDescending = <T extends { readonly requests: number }>(rows: readonly T[]): T[] =>
  rows.toSorted((a, b) => b.requests - a.requests);
