/** What operators see of the service: this process, and what the store tells of all of them. */
import type { VerificationEngine } from '../engine/create.ts';
import type { WatchedDomainData } from '../engine/data/domain-data.ts';
import { ageInDays } from '../engine/doctor/diagnose.ts';
import type { Health } from '../http/context.ts';
import { type Clock, DAY_MS, HOUR_MS, toIso } from '../kernel/clock.ts';
import { VERSION } from '../kernel/version.ts';
import { addCount, type LatencyCounts, percentiles } from '../service/traffic.ts';
import type { Store, TrafficRow } from '../store/store.ts';
import type { EgressFile } from './egress-reload.ts';
import { egressRows } from './health.ts';
import { onceAtATime, sharedFor, withinMs } from './shared-check.ts';

/** For how long a reading is used, and how long a page waits for one. */
const SHARED_MS = 10_000;
const WITHIN_MS = 1_000;
const HOURS = DAY_MS / HOUR_MS;
/** Those that started last. */
const NODES_SHOWN = 50;

interface Parts {
  readonly store: Store;
  readonly engine: VerificationEngine;
  readonly lists: WatchedDomainData;
  readonly health: Health;
  readonly verify: { readonly running: number };
  readonly clock: Clock;
  readonly retentionDays: number;
  readonly egressFile: Pick<EgressFile, 'problem'>;
}

export function createServiceStatus(parts: Parts) {
  const { store, engine, lists, health, verify, clock, retentionDays, egressFile } = parts;
  const reading = sharedFor(
    SHARED_MS,
    onceAtATime(async () => {
      const since = (Math.floor(clock.now() / HOUR_MS) - HOURS + 1) * HOUR_MS;
      const readings = store.stats.read(retentionDays * DAY_MS, WITHIN_MS);
      // The reason of a failure is in the log of what else the store then fails at.
      const nodes = store.nodes.list(NODES_SHOWN, WITHIN_MS);
      const all = Promise.all([readings, store.traffic.ofAll(since, WITHIN_MS), nodes]);
      return withinMs(WITHIN_MS, all).catch(() => null);
    }),
    clock,
  );
  return async () => {
    const [problem, resolver, read] = await Promise.all([health.store(), health.resolver(), reading()]);
    const [readings, traffic, nodes] = read ?? [null, [], []];
    const dns = engine.resolver.health();
    const mailboxes = engine.mailboxStats();
    const egress = engine.egressHealth();
    return {
      node: {
        version: VERSION,
        store: store.engine,
        running: verify.running,
        charges_waiting: store.charging.waiting,
        dialogues_open: mailboxes?.open ?? 0,
        checks_waiting: mailboxes?.waiting ?? 0,
        dns_queries: dns.asking,
        dns_cached: dns.cached,
      },
      nodes: nodes.map(({ id, label, version, startedAt, seenAt }) => ({
        id,
        label,
        version,
        started_at: toIso(startedAt),
        seen_at: seenAt === null ? null : toIso(seenAt),
        answers: id === store.nodes.current,
      })),
      problems: {
        store: problem,
        resolver,
        clock: health.clock(),
        lists: lists.problem,
        egress_file: egressFile.problem,
      },
      egress: {
        state: egress?.state ?? 'no_helo_name',
        since: egress === null ? null : toIso(egress.since),
        egresses: egressRows(engine),
      },
      lists: {
        version: lists.current.version,
        age_days: ageInDays(lists.current.version, clock.now()),
        disposable_domains: lists.current.size,
      },
      ...hoursOf(traffic, clock.now()),
      store:
        readings === null
          ? null
          : {
              jobs: readings.jobs.map(({ kind, state, count }) => ({ kind, state, count })),
              holds: Object.values(readings.holds).reduce((sum, { byAge }) => sum + sumOf(byAge), 0),
              oldest_hold_seconds: oldest(Object.values(readings.holds).map(({ oldestMs }) => oldestMs)),
              purge_lag_seconds: Math.round(readings.purgeLagMs / 1000),
              low_balances: readings.lowBalances,
            },
      operators: engine.useByOperator().map((use) => ({
        operator: use.operator,
        dialogues_open: use.dialoguesOpen,
        waiting: use.waiting,
        breakers_open: use.breakersOpen,
        breakers_half_open: use.breakersHalfOpen,
        pace: use.pace,
      })),
    };
  };
}

const sumOf = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

function oldest(ages: readonly (number | null)[]): number | null {
  const known = ages.filter((age) => age !== null);
  return known.length === 0 ? null : Math.round(Math.max(...known) / 1000);
}

interface Hour {
  verifications: number;
  rejected: number;
  readonly mx: LatencyCounts;
  readonly smtp: LatencyCounts;
}
const emptyHour = (): Hour => ({ verifications: 0, rejected: 0, mx: new Map(), smtp: new Map() });

/** Verifications and rejected requests of all accounts by hour, with their latencies. */
function hoursOf(traffic: readonly Omit<TrafficRow, 'account'>[], now: number) {
  const first = (Math.floor(now / HOUR_MS) - HOURS + 1) * HOUR_MS;
  const hours = Array.from({ length: HOURS }, emptyHour);
  const all = emptyHour();
  for (const { hour, metric, bucket, count } of traffic) {
    const own = hours[(hour - first) / HOUR_MS];
    if (own === undefined) continue;
    if (metric === 'status') own.rejected += count;
    else {
      own.verifications += count;
      addCount(own[metric], bucket, count);
      addCount(all[metric], bucket, count);
    }
  }
  const latency = ({ mx, smtp }: Hour) => ({ mx: percentiles(mx), smtp: percentiles(smtp) });
  return {
    hours: hours.map((hour, i) => ({
      at: toIso(first + i * HOUR_MS),
      verifications: hour.verifications,
      rejected: hour.rejected,
      latency: latency(hour),
    })),
    latency: latency(all),
  };
}
