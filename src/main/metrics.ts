import type { Options } from '../config/read.ts';
import type { VerificationEngine } from '../engine/create.ts';
import { TRUST_STATES } from '../engine/dns/trust.ts';
import { ageInDays } from '../engine/doctor/diagnose.ts';
import { EGRESS_CONDITIONS, type EgressShares } from '../engine/smtp/egress.ts';
import type { OperatorUse } from '../engine/smtp/operators.ts';
import type { Health } from '../http/context.ts';
import type { MetricSources, Metrics } from '../http/metrics/registry.ts';
import { type Clock, DAY_MS } from '../kernel/clock.ts';
import { keysOf } from '../kernel/facts/keys-of.ts';
import { isJobKind, JOB_KINDS, JOB_STATES } from '../kernel/jobs.ts';
import { COMMIT, VERSION } from '../kernel/version.ts';
import type { MailLimits } from '../service/mail-limits.ts';
import type { Store, StoreReadings, VerificationRecord } from '../store/store.ts';
import type { Closers } from './closers.ts';
import { explainListening } from './listen.ts';
import { onceAtATime, sharedFor, withinMs } from './shared-check.ts';

// * Metrics that need a query: cheap, shared by all scrapes within seconds, and absent while the store does not answer.

/** A reading is used for so long, and a scrape waits for one for so long. */
const READING_SHARED_MS = 10_000;
const READING_TIMEOUT_MS = 1_000;

interface MetricsParts {
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
  | 'mailvet_alerts'
  | 'mailvet_kept_list_bytes'
  | 'mailvet_kept_filters'
  | 'mailvet_jobs';

function storeSources({ store: { stats }, clock, retentionDays }: MetricsParts): Pick<MetricSources, StoreMetric> {
  const query = onceAtATime(() => stats.read(retentionDays * DAY_MS, READING_TIMEOUT_MS));
  // The reason of a failure is in the log of what else the store then fails at.
  const reading = sharedFor(READING_SHARED_MS, () => withinMs(READING_TIMEOUT_MS, query()).catch(() => null), clock);

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
    mailvet_alerts: ofStore(({ alerts }) => alerts.map(({ type, count }) => ({ labels: { type }, value: count }))),
    mailvet_kept_list_bytes: ofStore(({ kept }) => [{ labels: {}, value: kept.listBytes }]),
    mailvet_kept_filters: ofStore(({ kept }) => [{ labels: {}, value: kept.filters }]),
    mailvet_jobs: ofStore(jobSamples),
  };
}

const kindsOf = (holds: StoreReadings['holds']) => keysOf(holds);

const ofPool = (value: number | undefined) => (value === undefined ? [] : [{ labels: {}, value }]);

/** Every kind and state has a sample, so that an alert on one need not wait for its first job. */
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

/** Null if neither a token nor a port is set. The library is loaded only if needed, because it slows the start. */
export async function openMetrics(options: Options, closers: Closers): Promise<Metrics | null> {
  const { metricsToken, metricsPort: port, host } = options;
  if (metricsToken === null && port === null) return null;
  const { createMetrics } = await import('../http/metrics/registry.ts');
  const metrics = createMetrics();
  if (port === null) return metrics;
  const { listenForMetrics } = await import('../http/metrics/port.ts');
  const server = await explainListening({ host, port, option: 'MAILVET_METRICS_PORT' }, () =>
    listenForMetrics(metrics, host, port),
  );
  closers.add('metrics port', 1000, () => {
    server.closeAllConnections();
    server.close();
  });
  return metrics;
}

interface Observed {
  readonly verify: { readonly running: number };
  readonly mailLimits: Pick<MailLimits, 'withheld'>;
  readonly health: Health;
  readonly store: Store;
  readonly engine: VerificationEngine;
  readonly clock: Clock;
  readonly retentionDays: number;
}

export const countVerdict = (
  metrics: Metrics | null,
  { status, reason, validationType: level }: Pick<VerificationRecord, 'status' | 'reason' | 'validationType'>,
): void => metrics?.note('mailvet_verifications_total', { status, reason: reason ?? 'none', level });

/** Connects the metrics of the table with what they measure. */
export function observe(metrics: Metrics, parts: Observed): void {
  parts.store.stats.observe(({ requests, ms, committed }) => {
    metrics.note('mailvet_charge_batch_size', {}, requests);
    metrics.note('mailvet_charge_batch_seconds', { result: committed ? 'committed' : 'failed' }, ms / 1000);
  });
  metrics.observe(sourcesOf(parts));
}

const one = (value: number) => [{ labels: {}, value }];

function sourcesOf({ verify, mailLimits, health, store, engine, clock, retentionDays }: Observed): MetricSources {
  const { charging } = store;
  const build = { version: VERSION, commit: COMMIT ?? 'unknown', node: process.versions.node, store: store.engine };
  return {
    mailvet_build_info: () => [{ labels: build, value: 1 }],
    mailvet_ready: () => readySamples(health),
    mailvet_verifications_running: () => one(verify.running),
    mailvet_charge_queue: () => one(charging.waiting),
    mailvet_charge_requests_total: () => {
      const { answered, failed, overloaded } = charging.stats;
      return byLabel('result', { answered, failed, overloaded });
    },
    mailvet_charge_retries_total: () => byLabel('cause', store.stats.retries),
    mailvet_charge_unanswered_total: () =>
      byLabel('reason', { expired: charging.stats.expired, client_gone: charging.stats.dropped }),
    mailvet_charge_set_aside_total: () => one(charging.stats.setAside),
    ...storeSources({ store, clock, retentionDays }),
    mailvet_mails_withheld_total: () => mailLimits.withheld().map(({ labels, count }) => ({ labels, value: count })),
    mailvet_dns_servers: () => {
      const { servers } = engine.resolver.health();
      return TRUST_STATES.map((state) => {
        return { labels: { state }, value: servers.filter(({ trust }) => trust === state).length };
      });
    },
    mailvet_lists_age_days: () => one(ageInDays(engine.domainData().version, clock.now())),
    ...smtpSources(engine),
  };
}

/** A scrape waits for the checks for at most this long. */
const READY_WITHIN_MS = 1000;

async function readySamples(health: Health) {
  const passes = (check: Promise<string | null>) =>
    withinMs(READY_WITHIN_MS, check).then(
      (problem) => problem === null,
      () => false,
    );
  const [store, resolver] = await Promise.all([passes(health.store()), passes(health.resolver())]);
  return byLabel('check', { store: Number(store), resolver: Number(resolver), clock: Number(health.clock() === null) });
}

function byLabel<L extends string>(label: L, values: Readonly<Record<string, number>>) {
  const labels = (value: string) => ({ [label]: value }) as Readonly<Record<L, string>>;
  return Object.entries(values).map(([name, value]) => ({ labels: labels(name), value }));
}

type SmtpMetric =
  | Extract<keyof MetricSources, `mailvet_egress_${string}`>
  | Extract<keyof MetricSources, `mailvet_smtp_${string}`>;

function smtpSources(engine: VerificationEngine): Pick<MetricSources, SmtpMetric> {
  const { totals } = engine.uncertain;
  const byOperator = (value: (use: OperatorUse) => number) => () =>
    engine.useByOperator().map((use) => ({ labels: { operator: use.operator }, value: value(use) }));
  /** Each egress has one, but for those without a check. */
  const ofLastHour = (figure: (hour: EgressShares) => number | null) => () =>
    engine.egressRows().flatMap(({ name, hour }) => {
      const value = figure(hour);
      return value === null ? [] : [{ labels: { egress: name }, value }];
    });
  return {
    mailvet_egress_state: () => {
      const current = engine.egressHealth()?.state ?? 'no_helo_name';
      const states = [...EGRESS_CONDITIONS, 'no_helo_name'];
      return states.map((state) => ({ labels: { state }, value: state === current ? 1 : 0 }));
    },
    mailvet_egress_reachable: () =>
      engine.egressRows().map(({ name, state }) => ({ labels: { egress: name }, value: state === 'ok' ? 1 : 0 })),
    mailvet_egress_blocked_ratio: ofLastHour(({ blocked }) => blocked),
    mailvet_egress_deferred_ratio: ofLastHour(({ deferred }) => deferred),
    mailvet_egress_proxy_failed_ratio: ofLastHour(({ proxyFailed }) => proxyFailed),
    mailvet_egress_answer_seconds: ofLastHour(({ answerMs }) => (answerMs === null ? null : answerMs / 1000)),
    mailvet_smtp_dialogues_open: () => one(engine.mailboxStats()?.open ?? 0),
    mailvet_smtp_checks_waiting: () => one(engine.mailboxStats()?.waiting ?? 0),
    mailvet_smtp_pace_slices: () => one(engine.mailboxStats()?.slices ?? 0),
    mailvet_smtp_breakers_open: () => one(engine.mailboxStats()?.breakersOpen ?? 0),
    mailvet_smtp_operator_breakers: () =>
      engine.useByOperator().flatMap(({ operator, breakersOpen, breakersHalfOpen }) => [
        { labels: { operator, state: 'open' }, value: breakersOpen },
        { labels: { operator, state: 'half_open' }, value: breakersHalfOpen },
      ]),
    mailvet_smtp_operator_pace_ratio: byOperator(({ pace }) => pace),
    mailvet_smtp_operator_dialogues_open: byOperator(({ dialoguesOpen }) => dialoguesOpen),
    mailvet_smtp_operator_checks_waiting: byOperator(({ waiting }) => waiting),
    mailvet_smtp_uncertain_replies_total: () => [...totals].map(([rule, value]) => ({ labels: { rule }, value })),
  };
}
