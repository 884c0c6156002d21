/**
 * Metrics that need a query: cheap, shared by all scrapes within seconds, and absent while the store does not answer.
 */
import type { MetricSources } from '../http/metrics/registry.ts';
import { type Clock, DAY_MS } from '../kernel/clock.ts';
import { isJobKind, JOB_KINDS, JOB_STATES } from '../kernel/jobs.ts';
import type { HoldKind, Store, StoreReadings } from '../store/store.ts';
import { onceAtATime, sharedFor, withinMs } from './shared-check.ts';

/** For how long a reading is used, and how long a scrape waits for one. */
const SHARED_MS = 10_000;
const WITHIN_MS = 1_000;

interface Parts {
  readonly store: Pick<Store, 'stats'>;
  readonly clock: Clock;
  readonly retentionDays: number;
}

type StoreMetric =
  | Extract<keyof MetricSources, `mailvet_store_${string}`>
  | 'mailvet_holds'
  | 'mailvet_hold_oldest_seconds'
  | 'mailvet_purge_lag_seconds'
  | 'mailvet_accounts_low_balance'
  | 'mailvet_kept_list_bytes'
  | 'mailvet_kept_filters'
  | 'mailvet_jobs';

export function storeSources({ store: { stats }, clock, retentionDays }: Parts): Pick<MetricSources, StoreMetric> {
  const query = onceAtATime(() => stats.read(retentionDays * DAY_MS, WITHIN_MS));
  // The reason of a failure is in the log of what else the store then fails at.
  const reading = sharedFor(SHARED_MS, () => withinMs(WITHIN_MS, query()).catch(() => null), clock);

  /** No samples while the store does not answer. */
  const ofStore =
    <T>(samples: (readings: StoreReadings) => readonly T[]) =>
    async () => {
      const readings = await reading();
      return readings === null ? [] : samples(readings);
    };
  return {
    mailvet_store_pool_connections: () => {
      const pool = stats.pool();
      if (pool === null) return [];
      return [
        { labels: { state: 'in_use' }, value: pool.inUse },
        { labels: { state: 'idle' }, value: pool.idle },
      ];
    },
    mailvet_store_pool_connections_max: () => ofPool(stats.pool()?.max),
    mailvet_store_pool_waiting: () => ofPool(stats.pool()?.waiting),
    mailvet_store_stats_up: async () => [{ labels: {}, value: (await reading()) === null ? 0 : 1 }],
    mailvet_holds: ofStore(({ holds }) =>
      kindsOf(holds).flatMap((kind) =>
        Object.entries(holds[kind].byAge).map(([age, value]) => ({ labels: { kind, age }, value })),
      ),
    ),
    mailvet_hold_oldest_seconds: ofStore(({ holds }) =>
      kindsOf(holds).flatMap((kind) => {
        const { oldestMs } = holds[kind];
        return oldestMs === null ? [] : [{ labels: { kind }, value: oldestMs / 1000 }];
      }),
    ),
    mailvet_purge_lag_seconds: ofStore(({ purgeLagMs }) => [{ labels: {}, value: purgeLagMs / 1000 }]),
    mailvet_accounts_low_balance: ofStore(({ lowBalances }) => [{ labels: {}, value: lowBalances }]),
    mailvet_kept_list_bytes: ofStore(({ kept }) => [{ labels: {}, value: kept.listBytes }]),
    mailvet_kept_filters: ofStore(({ kept }) => [{ labels: {}, value: kept.filters }]),
    mailvet_jobs: ofStore(jobSamples),
  };
}

const kindsOf = (holds: StoreReadings['holds']) => Object.keys(holds) as HoldKind[];

const ofPool = (value: number | undefined) => (value === undefined ? [] : [{ labels: {}, value }]);

/** Every kind and state, so that an alert on one need not wait for its first job. */
function jobSamples({ jobs }: StoreReadings) {
  const kinds = [...JOB_KINDS, 'other'];
  const nameOf = (kind: string) => (isJobKind(kind) ? kind : 'other');
  return kinds.flatMap((kind) =>
    JOB_STATES.map((state) => {
      const mine = jobs.filter((row) => nameOf(row.kind) === kind && row.state === state);
      return { labels: { kind, state }, value: mine.reduce((sum, { count }) => sum + count, 0) };
    }),
  );
}
