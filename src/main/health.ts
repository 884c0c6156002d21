import type { VerificationEngine } from '../engine/create.ts';
import type { WatchedDomainData } from '../engine/data/domain-data.ts';
import { isDistrust } from '../engine/dns/message.ts';
import { RESOLVER_PROBLEMS } from '../engine/dns/resolver.ts';
import type { TrustChange } from '../engine/dns/servers.ts';
import { adviceOf, ageInDays, type Finding, type IdentityCheck } from '../engine/doctor/diagnose.ts';
import type { EgressShares } from '../engine/smtp/egress.ts';
import type { Health } from '../http/context.ts';
import { type Clock, toIso } from '../kernel/clock.ts';
import { firstAdvice } from '../kernel/doctor-checks.ts';
import { messageOf } from '../kernel/errors.ts';
import { formatHostPort } from '../kernel/ip.ts';
import type { Logger } from '../kernel/log.ts';
import type { Identities } from '../service/doctor.ts';
import type { WatchedClock } from '../service/store-clock.ts';
import type { Store } from '../store/store.ts';
import type { EgressFile } from './egress-reload.ts';
import { onceAtATime, sharedFor, withinMs } from './shared-check.ts';

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
    return withinMs(PROBE_MS, probe()).then(
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

/** The rows say of each egress what it reaches, what it was answered, and what would improve that most. */
export const egressRows = (engine: Pick<VerificationEngine, 'egressRows'>, identities: Identities) =>
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

/** Results are ordered from the worst to the best. */
const FOUND_OUT = ['fail', 'warn', 'pass'] as const satisfies readonly Finding['result'][];
type FoundOut = (typeof FOUND_OUT)[number];

/** Returns the worst of several findings of a check; null means that nothing was found out. */
function identityResults(findings: readonly Finding[]) {
  const worstOf = (check: IdentityCheck): FoundOut | null => {
    const results = findings.filter((finding) => finding.check === check).map(({ result }) => result);
    return FOUND_OUT.find((result) => results.includes(result)) ?? null;
  };
  const results: Readonly<Record<IdentityCheck, FoundOut | null>> = {
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
