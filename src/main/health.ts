import type { VerificationEngine } from '../engine/create.ts';
import type { WatchedDomainData } from '../engine/data/domain-data.ts';
import { isDistrust } from '../engine/dns/message.ts';
import { RESOLVER_PROBLEMS } from '../engine/dns/resolver.ts';
import type { TrustChange } from '../engine/dns/servers.ts';
import { adviceOf, ageInDays, type Finding, type IdentityCheck } from '../engine/doctor/diagnose.ts';
import type { EgressShares } from '../engine/smtp/egress.ts';
import type { Health } from '../http/context.ts';
import { within } from '../kernel/bounded-wait.ts';
import { type Clock, DAY_MS, HOUR_MS, toIso, toIsoOrNull } from '../kernel/clock.ts';
import { firstAdvice } from '../kernel/doctor-checks.ts';
import { messageOf } from '../kernel/errors.ts';
import { DOCTOR_FOUND, type DoctorFound } from '../kernel/facts/checks.ts';
import { formatHostPort } from '../kernel/ip.ts';
import type { Logger } from '../kernel/log.ts';
import { onceAtATime } from '../kernel/once-at-a-time.ts';
import { VERSION } from '../kernel/version.ts';
import type { Identities } from '../service/doctor.ts';
import type { WatchedClock } from '../service/store-clock.ts';
import { addCount, type LatencyCounts, percentiles } from '../service/traffic.ts';
import type { Store, StoreReadings, TrafficRow } from '../store/store.ts';
import type { EgressFile } from './egress-reload.ts';

/** How often the store is probed, and how long that may take. */
const HEALTH_SHARED_MS = 1000;
const PROBE_MS = 1000;
/** How long the result of a charge speaks for the store. */
const RECENT_MS = 5000;

interface HealthParts {
  readonly store: Store;
  readonly engine: VerificationEngine;
  readonly lists: WatchedDomainData;
  readonly clock: Clock;
  readonly storeClock: WatchedClock;
  readonly egressFile: Pick<EgressFile, 'problem'>;
  readonly identities: Identities;
  /** Whether anything is looked up in DNS. */
  readonly looksUp: boolean;
}

/** Makes what `/readyz` reports. */
export function createHealth(parts: HealthParts): Health {
  const { store, engine, lists, clock, storeClock, egressFile, identities, looksUp } = parts;
  const probe = onceAtATime(() => store.ping());
  const storeProblem = async () => {
    const { chargedAt, failure } = store.charging.health;
    const recent = clock.elapsed() - RECENT_MS;
    if (failure !== null && failure.at > Math.max(recent, chargedAt ?? 0))
      return `charges fail: ${messageOf(failure.cause)}`;
    if (chargedAt !== null && chargedAt > recent) return null;
    return within({ ms: PROBE_MS }, probe).then(
      () => null,
      (error: unknown) => `the store does not answer: ${messageOf(error)}`,
    );
  };
  const resolverProblem = async () => {
    if (!looksUp) return null;
    const now = clock.elapsed();
    const alive = await engine.resolver.alive({ deadlineMs: now + 1500, sinceMs: now });
    return alive ? null : RESOLVER_PROBLEMS[engine.resolver.problem()].found;
  };
  return {
    store: sharedFor(HEALTH_SHARED_MS, storeProblem, clock),
    resolver: sharedFor(HEALTH_SHARED_MS, resolverProblem, clock),
    clock: () => storeClock.problem(),
    mailServers: () => {
      const egress = engine.egressHealth();
      return egress === null || egress.state === 'ok' ? null : { state: egress.state, since: egress.since };
    },
    details: () => ({
      clock: storeClock.details(),
      egress: { ...egressDetails(engine, identities), problem: egressFile.problem },
      lists: listDetails(lists, clock),
      dns: dnsDetails(engine.resolver.health(), clock),
    }),
  };
}

/** One line per change; a check that finds a server as it was is none. */
export function logDnsTrust({ server, from, to }: TrustChange, logger: Logger): void {
  const dns_server = formatHostPort(server);
  if (isDistrust(to)) logger.error({ dns_server }, `no verdicts from this DNS server: ${RESOLVER_PROBLEMS[to].found}`);
  else if (isDistrust(from)) logger.info({ dns_server }, 'this DNS server tells the truth again');
}

/** Whether mail servers can be reached, according to past checks. Opens no connections. */
function egressDetails(engine: VerificationEngine, identities: Identities) {
  const egress = engine.egressHealth();
  if (egress === null) return { state: 'no_helo_name', since: null, helo_configured: false, egresses: [] };
  const egresses = egressRows(engine, identities);
  return { state: egress.state, since: toIso(egress.since), helo_configured: true, egresses };
}

/** Tells of each egress what it reaches, what it was answered, and what would improve that most. */
const egressRows = (engine: Pick<VerificationEngine, 'egressRows'>, identities: Identities) =>
  engine.egressRows().map(({ name, state, since, restsForSeconds, hour, day, breakersOpen, problems }) => {
    const identity = identities.of(name);
    const first = firstAdvice([...problems, ...(identity === null ? [] : adviceOf(identity.findings))]);
    return {
      name,
      state,
      since: toIso(since),
      rests_for_seconds: restsForSeconds,
      breakers_open: breakersOpen,
      last_hour: sharesOf(hour),
      last_day: sharesOf(day),
      identity: identity === null ? null : { checked_at: toIso(identity.at), ...identityResults(identity.findings) },
      problem: first?.problem ?? null,
      advice: first?.fix ?? null,
    };
  });

/** Of several findings of a check, the worst; null: nothing was found out. */
function identityResults(findings: readonly Finding[]) {
  const worstOf = (check: IdentityCheck): DoctorFound | null => {
    const results = findings.filter((finding) => finding.check === check).map(({ result }) => result);
    return DOCTOR_FOUND.findLast((result) => results.includes(result)) ?? null;
  };
  const results: Readonly<Record<IdentityCheck, DoctorFound | null>> = {
    helo: worstOf('helo'),
    ptr: worstOf('ptr'),
    spf: worstOf('spf'),
    blocklists: worstOf('blocklists'),
  };
  return results;
}

const sharesOf = ({ checks, blocked, deferred, proxyFailed, answerMs }: EgressShares) => ({
  checks,
  blocked,
  deferred,
  proxy_failed: proxyFailed,
  answer_ms: answerMs,
});

function listDetails(lists: WatchedDomainData, clock: Clock) {
  const { version, size } = lists.current;
  return { version, age_days: ageInDays(version, clock.now()), disposable_domains: size, problem: lists.problem };
}

function dnsDetails({ lastAnswerAt, ...health }: ReturnType<VerificationEngine['resolver']['health']>, clock: Clock) {
  const seconds = lastAnswerAt === null ? null : Math.round((clock.elapsed() - lastAnswerAt) / 1000);
  return { last_answer_seconds_ago: seconds, cached: health.cached, asking: health.asking };
}

/** All callers within `ms` get the same answer, so that a check costs the same however many ask. */
function sharedFor<T>(ms: number, check: () => Promise<T>, clock: Clock): () => Promise<T> {
  let latest: { at: number; answer: Promise<T> } | null = null;
  return () => {
    const now = clock.elapsed();
    if (latest === null || now - latest.at >= ms) latest = { at: now, answer: check() };
    return latest.answer;
  };
}

// What operators see of the service: this process, and what the store tells of all of them.

/** A reading is used for so long, and is waited for so long. */
const READING_SHARED_MS = 10_000;
const READING_TIMEOUT_MS = 1_000;
const HOURS_PER_DAY = DAY_MS / HOUR_MS;
/** The page shows those that started last. */
const NODES_SHOWN = 50;

/** What the store tells, one query for all who ask within seconds; null while it does not answer. */
function readingOf<T>(read: () => Promise<T>, clock: Clock): () => Promise<T | null> {
  const query = onceAtATime(read);
  // The reason of a failure is in the log of what else the store then fails at.
  const answer = () => within({ ms: READING_TIMEOUT_MS }, query).catch(() => null);
  return sharedFor(READING_SHARED_MS, answer, clock);
}

export type ReadStore = () => Promise<StoreReadings | null>;

/** For pages and metrics. */
export const storeReadings = (
  { stats }: Pick<Store, 'stats'>,
  { clock, retentionDays }: { readonly clock: Clock; readonly retentionDays: number },
): ReadStore => readingOf(() => stats.read(retentionDays * DAY_MS, READING_TIMEOUT_MS), clock);

interface StatusParts {
  readonly store: Store;
  readonly engine: VerificationEngine;
  readonly lists: WatchedDomainData;
  readonly health: Health;
  readonly verify: { readonly running: number };
  readonly clock: Clock;
  readonly readings: ReadStore;
  readonly egressFile: Pick<EgressFile, 'problem'>;
  readonly identities: Identities;
}

export function createServiceStatus(parts: StatusParts) {
  const { store, engine, lists, health, verify, clock, egressFile, identities } = parts;
  const ofAllNodes = readingOf(() => {
    const since = (Math.floor(clock.now() / HOUR_MS) - HOURS_PER_DAY + 1) * HOUR_MS;
    return Promise.all([
      store.traffic.ofAll(since, READING_TIMEOUT_MS),
      store.nodes.list(NODES_SHOWN, READING_TIMEOUT_MS),
    ]);
  }, clock);
  return async () => {
    const asked = [health.store(), health.resolver(), parts.readings(), ofAllNodes()] as const;
    const [problem, resolver, readings, all] = await Promise.all(asked);
    const [traffic, nodes] = all ?? [[], []];
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
        seen_at: toIsoOrNull(seenAt),
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
        egresses: egressRows(engine, identities),
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

interface HourOfTraffic {
  verifications: number;
  rejected: number;
  readonly mx: LatencyCounts;
  readonly smtp: LatencyCounts;
}
const emptyHour = (): HourOfTraffic => ({ verifications: 0, rejected: 0, mx: new Map(), smtp: new Map() });

/** Sums the verifications and rejected requests of all accounts by hour, with their latencies. */
function hoursOf(traffic: readonly Omit<TrafficRow, 'account'>[], now: number) {
  const first = (Math.floor(now / HOUR_MS) - HOURS_PER_DAY + 1) * HOUR_MS;
  const hours = Array.from({ length: HOURS_PER_DAY }, emptyHour);
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
  const latency = ({ mx, smtp }: HourOfTraffic) => ({ mx: percentiles(mx), smtp: percentiles(smtp) });
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
