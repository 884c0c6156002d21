/**
 * Can this host connect to mail servers at all? When port 25 is blocked, or our IP address is rejected everywhere,
 * mailbox checks are answered immediately with that reason, instead of timing out address by address. The state is
 * inferred from the evidence of the checks themselves; canaries are asked only on suspicion.
 *
 * Anybody can have mail hosts that reject us or do not answer, and have an account check addresses there. So only
 * operators count that are known or have accepted us before, rejections have to be confirmed by canaries, and what one
 * account alone was answered holds for that account.
 */
import { LRUCache } from 'lru-cache';
import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS } from '../../kernel/clock.ts';
import { warnOfFault } from '../../kernel/contain.ts';
import type { Advice } from '../../kernel/doctor-checks.ts';
import { type Egress, isSameEgress } from '../../kernel/egress.ts';
import type { EgressCondition, MailServerProblem } from '../../kernel/facts/checks.ts';
import type { Resolver } from '../dns/resolver.ts';
import type { DnsEvidence, SmtpEvidence } from '../evidence.ts';
import { SMTP_FINDINGS } from '../findings.ts';
import { checkMailbox, type EngineDeps, lookUpDomain, needsMailboxCheck, runOffline, withDns } from '../verify.ts';
import { probeGreeting } from './connectivity-probe.ts';
import { PROXY_FAILED } from './dialogue.ts';
import type { ProxyCondition } from './egress-rest.ts';
import { CANARY_TENANT } from './limiter.ts';
import { CATCH_ALL_SKIPPED, type MailboxCheck, type MailboxQuestion, resultWithoutDialogue } from './mailbox.ts';
import { type HostOwners, mailOperatorKey } from './operators.ts';

// What mail servers answered to each egress, by the hour, and what that says against it. Bounded: a day of hours.

const HOURS_KEPT = 24;

export interface EgressShares {
  /** Checks that were dialled, or whose SOCKS server failed. */
  readonly checks: number;
  /** Shares of them, from 0 to 1; null without any. */
  readonly blocked: number | null;
  readonly deferred: number | null;
  readonly proxyFailed: number | null;
  /** Mean time to the end of the check. */
  readonly answerMs: number | null;
}

interface HourOfChecks {
  readonly at: number;
  checks: number;
  blocked: number;
  deferred: number;
  proxyFailed: number;
  ms: number;
}

export class EgressRecord {
  readonly #clock: Clock;
  /** The newest is last. */
  #hours: HourOfChecks[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note({ finding, host, rule, decidedBy }: SmtpEvidence, tookMs: number): void {
    if ((host === null && rule !== PROXY_FAILED) || decidedBy === 'cancelled') return;
    const hour = this.#current();
    hour.checks++;
    hour.ms += tookMs;
    if (SMTP_FINDINGS[finding].egress === 'blocks') hour.blocked++;
    if (finding === 'greylisted' || finding === 'smtp_temporary_failure') hour.deferred++;
    if (rule === PROXY_FAILED) hour.proxyFailed++;
  }

  /** Sums the hour that runs and those before it, `hours` in all. */
  shares(hours: 1 | 24): EgressShares {
    const from = this.#hourNow() - hours;
    const sum = { checks: 0, blocked: 0, deferred: 0, proxyFailed: 0, ms: 0 };
    for (const hour of this.#hours) {
      if (hour.at <= from) continue;
      sum.checks += hour.checks;
      sum.blocked += hour.blocked;
      sum.deferred += hour.deferred;
      sum.proxyFailed += hour.proxyFailed;
      sum.ms += hour.ms;
    }
    const share = (n: number) => (sum.checks === 0 ? null : Math.round((n / sum.checks) * 1000) / 1000);
    return {
      checks: sum.checks,
      blocked: share(sum.blocked),
      deferred: share(sum.deferred),
      proxyFailed: share(sum.proxyFailed),
      answerMs: sum.checks === 0 ? null : Math.round(sum.ms / sum.checks),
    };
  }

  #hourNow(): number {
    return Math.floor(this.#clock.elapsed() / HOUR_MS);
  }

  #current(): HourOfChecks {
    const at = this.#hourNow();
    const last = this.#hours.at(-1);
    if (last?.at === at) return last;
    const hour = { at, checks: 0, blocked: 0, deferred: 0, proxyFailed: 0, ms: 0 };
    this.#hours = [...this.#hours.filter((one) => one.at > at - HOURS_KEPT), hour];
    return hour;
  }
}

/** Shares from which they are worth a remark, and the checks that it takes. */
const REMARKABLE = { blocked: 0.1, deferred: 0.3, proxyFailed: 0.05, checks: 20 } as const;

/** Says what its state and the answers of a day have against an egress. */
export function problemsOf(state: EgressCondition | 'resting', day: EgressShares): Advice[] {
  const found: Advice[] = state === 'ok' ? [] : [STATE_PROBLEMS[state]];
  if (day.checks < REMARKABLE.checks) return found;
  for (const share of ['proxyFailed', 'blocked', 'deferred'] as const)
    if ((day[share] ?? 0) >= REMARKABLE[share]) found.push(SHARE_PROBLEMS[share]);
  return found;
}

const STATE_PROBLEMS: Readonly<Record<MailServerProblem | 'resting', Advice>> = {
  resting: {
    problem: 'proxy_fails',
    fix: 'Its SOCKS server fails: see that it runs, can be reached and takes the password.',
  },
  port_closed: {
    problem: 'port_closed',
    fix: 'It reaches no mail server: have outbound port 25 opened, or ask from another host.',
  },
  refused_everywhere: {
    problem: 'refused_everywhere',
    fix: 'All large providers refuse its address: check reverse DNS and blocklists with mailvet doctor.',
  },
};

const SHARE_PROBLEMS: Readonly<Record<'proxyFailed' | 'blocked' | 'deferred', Advice>> = {
  proxyFailed: {
    problem: 'proxy_fails_often',
    fix: 'Its SOCKS server fails now and then: see its log, its limits and the way to it.',
  },
  blocked: {
    problem: 'often_refused',
    fix: 'Many servers refuse its address: check reverse DNS, SPF and blocklists with mailvet doctor.',
  },
  deferred: {
    problem: 'often_deferred',
    fix: 'Many servers defer it: give it reverse DNS that matches its HELO name, and let lists take their time.',
  },
};

export interface EgressHealth {
  readonly state: EgressCondition;
  /** The time is on the clock of `Clock.now()`. */
  readonly since: number;
}

interface EgressMonitorOptions {
  readonly egresses: readonly Egress[];
  readonly clock: Clock;
  readonly owners: HostOwners;
  /** Whether the classification rule of this id is about our IP address. */
  readonly aboutOurIp: (rule: string) => boolean;
  /** False if the breaker is disabled: rejections of our IP then suspend nothing. */
  readonly stopsWhenRefused: boolean;
  /** Whether canary hosts can be reached from an egress. One probe at a time. */
  readonly probeConnectivity: (egress: Egress) => Promise<Connectivity>;
  /** What each canary domain answers to a check; null: nothing was learned. Never rejects. */
  readonly askCanaries: (egress: Egress) => Promise<readonly (SmtpEvidence | null)[]>;
}

/** So much time passes between two canary probes, and between two trials while checks are suspended. */
const PROBE_INTERVAL_MS = 30_000;
/** Between two questions to canaries while they confirm that we are rejected. */
const CANARY_RECHECK_MS = 5 * MINUTE_MS;
/** Different operators in a row, when no canary host can be probed. */
const UNREACHABLE_OPERATORS = 3;
/** Accounts whose failures are counted. */
const FAILED_ACCOUNTS_MAX = 1_000;
const REFUSING_OPERATORS = 4;
/** Canaries that have to reject us, with none that accepts us. */
const REFUSING_CANARIES = 2;
/** Accounts whose recipients were rejected, for a conclusion about all: canaries have confirmed it. */
const ACCOUNTS_FOR_ALL = 2;
/** Remembered of those that fail in a row. */
const OPERATORS_MAX = 100;
/** Operators remembered that the data does not know and that have accepted us. */
const ACCEPTING_MAX = 2_000;
/** A connection attempt that the deadline cut shorter than this says nothing about the port. */
const FAIR_CONNECT_MS = 2_000;

export type MonitoredMailboxCheck = MailboxQuestion & {
  /** Returns one for each egress, by name. */
  states(): ReadonlyMap<string, EgressHealth>;
  records(): ReadonlyMap<string, EgressRecord>;
  /** As `MailboxCheck.reload`; monitoring of an entry that has changed starts over. */
  reload(egresses: readonly Egress[]): void;
};

/** The mailbox check, each egress monitored on its own. Memory is bounded: names of some operators. */
export function monitorEgress(
  mailbox: Pick<MailboxCheck, 'check' | 'egressFor' | 'reload'>,
  options: EgressMonitorOptions,
): MonitoredMailboxCheck {
  let monitors: ReadonlyMap<string, EgressMonitor> = new Map();
  let records: ReadonlyMap<string, EgressRecord> = new Map();
  let only: Egress | undefined;
  const watch = (egresses: readonly Egress[]) => {
    const monitorOf = (egress: Egress) => {
      const known = monitors.get(egress.name);
      return known !== undefined && isSameEgress(known.egress, egress) ? known : new EgressMonitor(egress, options);
    };
    monitors = new Map(egresses.map((egress) => [egress.name, monitorOf(egress)]));
    records = new Map(egresses.map(({ name }) => [name, records.get(name) ?? new EgressRecord(options.clock)]));
    only = egresses.length === 1 ? egresses[0] : undefined;
  };
  watch(options.egresses);
  return {
    reload(egresses) {
      mailbox.reload(egresses);
      watch(egresses);
    },
    records: () => records,
    states: () => new Map(Array.from(monitors, ([name, { state }]) => [name, state])),
    async check(subject, limit) {
      const { tenant: account } = limit;
      const egress = only?.name ?? mailbox.egressFor(subject, limit);
      const monitor = egress === null ? undefined : monitors.get(egress);
      if (monitor === undefined) return mailbox.check(subject, limit);
      const refusal = monitor.refusal(subject.dns, account);
      if (refusal !== null) return { ...refusal, smtp: { ...refusal.smtp, egress } };
      const began = options.clock.elapsed();
      const answer = await mailbox.check(subject, { ...limit, suspended: monitor.suspended });
      if (answer.smtp.decidedBy === 'cancelled' && limit.signal?.aborted !== true) {
        const current = monitor.current(account);
        if (current !== null)
          return { ...current, smtp: { ...current.smtp, egress, transcript: answer.smtp.transcript } };
      }
      records.get(answer.smtp.egress ?? '')?.note(answer.smtp, options.clock.elapsed() - began);
      const used = monitors.get(answer.smtp.egress ?? '') ?? monitor;
      used.learn(subject.dns, answer.smtp, { account, began });
      return answer;
    },
  };
}

type SuspendedAnswer = Awaited<ReturnType<MailboxQuestion['check']>>;

const SUSPENDED_ANSWERS: Readonly<Record<MailServerProblem, SuspendedAnswer>> = {
  port_closed: suspendedAnswer('smtp_unreachable', 'egress.port_closed'),
  refused_everywhere: suspendedAnswer('smtp_blocked', 'egress.refused_everywhere'),
};

function suspendedAnswer(finding: 'smtp_unreachable' | 'smtp_blocked', rule: string): SuspendedAnswer {
  const transcript = { lines: [{ at: 0, from: 'note' as const, text: `not dialled: ${rule}` }] };
  const smtp = { ...resultWithoutDialogue('host', finding, rule), attempts: [], transcript };
  return { smtp, catchAll: CATCH_ALL_SKIPPED };
}

/** Operators that failed in a row, and to whose recipients. */
class FailedOperators {
  readonly operators = new Set<string>();
  readonly #ofAccount = new Map<string, Set<string>>();

  add(operator: string, account: string): void {
    if (this.operators.size < OPERATORS_MAX) this.operators.add(operator);
    const own = this.#ofAccount.get(account) ?? new Set<string>();
    if (own.size < OPERATORS_MAX) own.add(operator);
    if (own.size === 1 && this.#ofAccount.size < FAILED_ACCOUNTS_MAX) this.#ofAccount.set(account, own);
  }

  /** Counts how many failed for this account. */
  countOf(account: string): number {
    return this.#ofAccount.get(account)?.size ?? 0;
  }

  /** How many accounts they failed for. */
  get accounts(): number {
    return this.#ofAccount.size;
  }

  clear(): void {
    this.operators.clear();
    this.#ofAccount.clear();
  }
}

/**
 * Trials at operators that are known, and at others, of which anybody can have any number: neither keeps the other out.
 */
type TrialKind = 'credible' | 'other';
const NEVER_TRIED: Readonly<Record<TrialKind, number>> = {
  credible: Number.NEGATIVE_INFINITY,
  other: Number.NEGATIVE_INFINITY,
};

class EgressMonitor {
  readonly egress: Egress;
  readonly #options: EgressMonitorOptions;
  state: EgressHealth;
  readonly #unreachable = new FailedOperators();
  readonly #refusing = new FailedOperators();
  /** Operators that the data does not know and that have accepted us. */
  #accepting: LRUCache<string, true> | null = null;
  /** The state was found by canaries alone. */
  #isFoundByCanaries = false;
  #reachedAt = Number.NEGATIVE_INFINITY;
  #acceptedAt = Number.NEGATIVE_INFINITY;
  #triedAt: Record<TrialKind, number> = NEVER_TRIED;
  #probedAt = Number.NEGATIVE_INFINITY;
  /** Null while a probe is under way, and before the first one. */
  #connectivity: Connectivity | null = null;
  #canariesAskedAt = Number.NEGATIVE_INFINITY;
  #suspended = new AbortController();

  constructor(egress: Egress, options: EgressMonitorOptions) {
    this.egress = egress;
    this.#options = options;
    this.state = { state: 'ok', since: options.clock.now() };
  }

  /** The answer while checks of the account are suspended; null: they are not. */
  current(account: string): SuspendedAnswer | null {
    const { state } = this.state;
    return state === 'ok' || !this.#concerns(account) ? null : SUSPENDED_ANSWERS[state];
  }

  /** The same; null as well for trials, of which there is one of each kind every 30 s. */
  refusal(dns: DnsEvidence, account: string): SuspendedAnswer | null {
    const refusal = this.current(account);
    if (refusal === null) return null;
    const now = this.#options.clock.elapsed();
    if (this.state.state === 'refused_everywhere' && now - this.#canariesAskedAt >= CANARY_RECHECK_MS)
      this.#askCanaries(now);
    const kind = this.#trialOf(dns);
    if (kind === null || now - this.#triedAt[kind] < PROBE_INTERVAL_MS) return refusal;
    this.#triedAt = { ...this.#triedAt, [kind]: now };
    return null;
  }

  #concerns(account: string): boolean {
    if (this.#isFoundByCanaries) return true;
    // What no canary has confirmed, each account has to see for itself: anybody can have hosts that do not answer, also
    // under the names of known operators, and any number of accounts.
    if (this.state.state === 'port_closed') return this.#unreachable.countOf(account) >= UNREACHABLE_OPERATORS;
    return this.#refusing.accounts >= ACCOUNTS_FOR_ALL || this.#refusing.countOf(account) > 0;
  }

  /** Null: one of the operators is among those that failed. */
  #trialOf(dns: DnsEvidence): TrialKind | null {
    const { operators } = this.state.state === 'port_closed' ? this.#unreachable : this.#refusing;
    const owners = dns.hosts.map(({ host }) => this.#ownerOf(host));
    if (owners.some((owner) => operators.has(owner))) return null;
    return dns.hosts.every(({ host }) => this.#isCredible(host)) ? 'credible' : 'other';
  }

  #ownerOf(host: string): string {
    const { providerOf, registrableDomain } = this.#options.owners;
    return providerOf(host) ?? registrableDomain(host) ?? host;
  }

  #isCredible(host: string): boolean {
    return this.#options.owners.providerOf(host) !== null || this.#accepting?.has(this.#ownerOf(host)) === true;
  }

  /** Checks that begin now get this: it aborts when the port turns out to be closed. */
  get suspended(): AbortSignal {
    return this.#suspended.signal;
  }

  /** Learns from a check that began at `began`. A failure that began before the last success is stale. */
  learn(dns: DnsEvidence, smtp: SmtpEvidence, { account, began }: { account: string; began: number }) {
    const now = this.#options.clock.elapsed();
    const { host } = smtp;
    if (host === null) {
      const kind = smtp.decidedBy === 'throttle' ? this.#trialOf(dns) : null;
      if (kind !== null) this.#triedAt = { ...this.#triedAt, [kind]: Number.NEGATIVE_INFINITY };
      return;
    }
    switch (egressSignal(smtp, now - began, this.#options.aboutOurIp)) {
      case 'accepts':
        return this.#onAccepted(host, now);
      case 'greets':
        return this.#onReached(now);
      case 'refuses':
        this.#onReached(now);
        if (began >= this.#acceptedAt && this.#isCredible(host)) this.#onRefused(this.#ownerOf(host), account, now);
        return;
      case 'unreachable':
        if (began >= this.#reachedAt) this.#onUnreachable(host, account, now);
        return;
      case null:
    }
  }

  #onAccepted(host: string | null, now: number): void {
    this.#acceptedAt = now;
    this.#refusing.clear();
    if (host !== null && this.#options.owners.providerOf(host) === null) {
      const perf = { now: () => this.#options.clock.elapsed() };
      this.#accepting ??= new LRUCache({ max: ACCEPTING_MAX, ttl: DAY_MS, perf });
      this.#accepting.set(this.#ownerOf(host), true);
    }
    this.#onReached(now);
    this.#set('ok');
  }

  #onReached(now: number): void {
    this.#reachedAt = now;
    this.#unreachable.clear();
    if (this.state.state === 'port_closed') this.#set('ok');
  }

  #onRefused(operator: string, account: string, now: number): void {
    if (!this.#options.stopsWhenRefused) return;
    this.#refusing.add(operator, account);
    if (this.#refusing.operators.size < REFUSING_OPERATORS || this.state.state === 'refused_everywhere') return;
    if (now - this.#canariesAskedAt >= PROBE_INTERVAL_MS) this.#askCanaries(now);
  }

  #askCanaries(now: number): void {
    this.#canariesAskedAt = now;
    const onAnswers = (answers: readonly (SmtpEvidence | null)[]) => {
      if (this.#acceptedAt > now) return;
      const signals = answers.map((smtp) =>
        smtp === null ? null : egressSignal(smtp, FAIR_CONNECT_MS, this.#options.aboutOurIp),
      );
      const isConfirmed = signals.filter((signal) => signal === 'refuses').length >= REFUSING_CANARIES;
      if (signals.includes('accepts')) this.#onAccepted(null, this.#options.clock.elapsed());
      else if (isConfirmed) this.#set('refused_everywhere');
      else if (this.state.state === 'refused_everywhere') {
        this.#refusing.clear();
        this.#set('ok');
      }
    };
    this.#options.askCanaries(this.egress).then(onAnswers).catch(warnOfFault);
  }

  #onUnreachable(host: string, account: string, now: number) {
    if (this.#isCredible(host)) this.#unreachable.add(this.#ownerOf(host), account);
    if (now - this.#probedAt >= PROBE_INTERVAL_MS) return this.#probeConnectivity(now, account);
    if (this.#connectivity === 'open') this.#unreachable.clear();
    if (this.#connectivity === 'unusable') this.#concludeAlone(account);
  }

  #probeConnectivity(now: number, account: string): void {
    this.#probedAt = now;
    this.#connectivity = null;
    this.#options
      .probeConnectivity(this.egress)
      .catch((): Connectivity => 'unusable')
      .then((answer) => this.#onConnectivity(answer, { askedAt: now, account }))
      .catch(warnOfFault);
  }

  #onConnectivity(answer: Connectivity, { askedAt, account }: { askedAt: number; account: string }): void {
    this.#connectivity = answer;
    if (answer === 'open') this.#onReached(this.#options.clock.elapsed());
    else if (this.#reachedAt > askedAt) return;
    else if (answer === 'unusable') this.#concludeAlone(account);
    else {
      this.#set('port_closed');
      this.#isFoundByCanaries = true;
      // Checks that wait for a connection or a permit need not wait any longer.
      const before = this.#suspended;
      this.#suspended = new AbortController();
      before.abort();
    }
  }

  /** It concludes for the account alone. */
  #concludeAlone(account: string): void {
    if (this.#unreachable.countOf(account) >= UNREACHABLE_OPERATORS) this.#set('port_closed');
  }

  #set(state: EgressCondition): void {
    if (this.state.state === state) return;
    const { clock } = this.#options;
    const now = clock.elapsed();
    this.state = { state, since: clock.now() };
    this.#isFoundByCanaries = false;
    this.#triedAt = state === 'ok' ? NEVER_TRIED : { credible: now, other: now };
  }
}

/**
 * What the evidence of one check says about us. `accepts`: a server talked about the recipient. `refuses`: it refused
 * our IP. `greets`: it was reached and said something else. Null: inconclusive.
 */
function egressSignal(
  { stage, code, finding, rule, decidedBy }: SmtpEvidence,
  tookMs: number,
  aboutOurIp: (rule: string) => boolean,
): 'accepts' | 'refuses' | 'greets' | 'unreachable' | null {
  if (stage === null || decidedBy === 'cancelled' || rule === PROXY_FAILED) return null;
  if (stage === 'connect') {
    const fair = finding === 'smtp_unreachable' || (finding === 'smtp_timeout' && tookMs >= FAIR_CONNECT_MS);
    return fair ? 'unreachable' : null;
  }
  if (code === null) return stage === 'banner' ? null : 'greets';
  const { egress } = SMTP_FINDINGS[finding];
  if (egress !== 'blocks') return egress;
  // A 4xx to RCPT may be about the recipient's own servers.
  const isOurs = rule !== null && aboutOurIp(rule) && !(stage === 'rcpt' && code < 500);
  return isOurs ? 'refuses' : 'greets';
}

/** Providers whose mail hosts are always up, of four different operators. */
export const CANARY_DOMAINS: readonly string[] = ['gmail.com', 'outlook.com', 'yahoo.com', 'icloud.com'];

export interface CanaryHost {
  readonly domain: string;
  readonly host: string;
  /** Addresses that may be dialled. */
  readonly v4: readonly string[];
  readonly v6: readonly string[];
}

/** `open`: one was reached. `closed`: none of two or more. `unusable`: fewer than two could be tried. */
export type Connectivity = 'open' | 'closed' | 'unusable';

interface CanaryDeps {
  readonly clock: Clock;
  readonly resolver: Pick<Resolver, 'ask'>;
  readonly mayDial: (address: string) => boolean;
  readonly port: number;
  readonly egress: Pick<Egress, 'helo' | 'bind' | 'via' | 'families'>;
}

const RESOLVE_MS = 3_000;
const GREET_MS = 4_000;
const PROXY_MS = 10_000;
const ANSWER_MS = 20_000;

/** The first mail host of each domain that has an address to dial; domains without one are omitted. Never rejects. */
export async function resolveCanaryHosts(
  domains: readonly string[],
  deps: Pick<CanaryDeps, 'resolver' | 'mayDial'>,
  deadlineMs: number,
): Promise<readonly CanaryHost[]> {
  const found = await Promise.all(domains.map((domain) => resolveCanaryHost(domain, deps, deadlineMs)));
  return found.filter((host) => host !== null);
}

async function resolveCanaryHost(
  domain: string,
  { resolver, mayDial }: Pick<CanaryDeps, 'resolver' | 'mayDial'>,
  deadlineMs: number,
): Promise<CanaryHost | null> {
  const answer = await resolver.ask(domain, 'MX', { deadlineMs });
  const records = answer.kind === 'records' ? answer.records.filter((r) => r.type === 'MX') : [];
  const hosts = records.sort((a, b) => a.priority - b.priority).map(({ host }) => host);
  for (const host of hosts.slice(0, 2)) {
    const [a, aaaa] = await Promise.all([
      resolver.ask(host, 'A', { deadlineMs }),
      resolver.ask(host, 'AAAA', { deadlineMs }),
    ]);
    const dialled = (from: typeof a) =>
      from.kind === 'records'
        ? from.records.flatMap((r) => ('address' in r && mayDial(r.address) ? [r.address] : []))
        : [];
    const [v4, v6] = [dialled(a), dialled(aaaa)];
    if (v4.length + v6.length > 0) return { domain, host, v4, v6 };
  }
  return null;
}

/** Probes all canary hosts at once, over IPv4 where possible; resolves as soon as one was reached. Never rejects. */
export async function probeConnectivity(deps: CanaryDeps, signal: AbortSignal): Promise<Connectivity> {
  const { clock, egress, mayDial, port } = deps;
  const hosts = await resolveCanaryHosts(CANARY_DOMAINS, deps, clock.elapsed() + RESOLVE_MS);
  const tried = hosts.flatMap(({ v4, v6 }) => {
    const [first, second] = [egress.families.includes(4) ? v4[0] : null, egress.families.includes(6) ? v6[0] : null];
    return first ?? second ?? [];
  });
  if (tried.length === 0) return 'unusable';
  const reached = tried.map(async (address) => {
    const options = { withinMs: GREET_MS, egress, mayDial, signal };
    const { connected } = await probeGreeting(address, port, egress.helo, options);
    if (!connected) throw new Error(`${address} was not reached`);
  });
  return Promise.any(reached).then(
    () => 'open',
    () => (tried.length >= 2 && !signal.aborted ? 'closed' : 'unusable'),
  );
}

/**
 * Whether the SOCKS server of an egress connects us to the canary hosts; where none is found, to one that it reached
 * before. Never rejects.
 */
export async function probeProxy(
  deps: CanaryDeps,
  reached: string | null,
  signal: AbortSignal,
): Promise<ProxyCondition> {
  const { clock, egress, mayDial, port } = deps;
  const hosts = await resolveCanaryHosts(CANARY_DOMAINS, deps, clock.elapsed() + RESOLVE_MS);
  const canaries = hosts.flatMap(({ v4, v6 }) => (egress.families.includes(4) ? v4[0] : v6[0]) ?? []);
  const tried = canaries.length > 0 || reached === null ? canaries : [reached];
  if (tried.length === 0) return 'unknown';
  const options = { withinMs: PROXY_MS, egress, mayDial, signal };
  const found = await Promise.all(tried.map((address) => probeGreeting(address, port, egress.helo, options)));
  return found.some(({ proxyError }) => proxyError === null) ? 'works' : 'fails';
}

/**
 * What the canary domains answer about the one mailbox that each has to have, `postmaster` (RFC 5321 §4.5.1), from one
 * egress: many servers reject an address only when a recipient is named. Null where no mail host was found, and where
 * the egress may not be used. Never rejects.
 */
export const askCanaries = (
  engine: EngineDeps,
  { name: egress }: Pick<Egress, 'name'>,
  signal: AbortSignal,
): Promise<readonly (SmtpEvidence | null)[]> =>
  Promise.all(
    CANARY_DOMAINS.map(async (domain) => {
      const limit = { deadlineMs: engine.clock.elapsed() + ANSWER_MS, signal, tenant: CANARY_TENANT, egress };
      const offline = runOffline(`postmaster@${domain}`, 'smtp', engine);
      const found = withDns(offline, await lookUpDomain(offline, limit, engine), engine);
      if (!needsMailboxCheck(found)) return null;
      const { smtp } = await checkMailbox(found, limit, engine);
      return smtp?.egress === egress ? smtp : null;
    }),
  );

/**
 * Asks an operator about a mailbox of its own: what its own domain's servers say, nobody else decides. A rejection of
 * our IP address opens its breaker for all (CANARY_TENANT). `domains`: those of the operator; nothing is asked where
 * all of them receive mail elsewhere. Rejects only with a fault of ours.
 */
export async function askOperator(
  engine: EngineDeps,
  owners: HostOwners,
  { operator, domains, egress }: { operator: string; domains: readonly string[]; egress: string },
  signal: AbortSignal,
): Promise<void> {
  for (const domain of domains) {
    const offline = runOffline(`postmaster@${domain}`, 'smtp', engine);
    if (offline.syntax.result === 'fail') continue;
    const limit = { deadlineMs: engine.clock.elapsed() + ANSWER_MS, signal };
    const found = withDns(offline, await lookUpDomain(offline, limit, engine), engine);
    if (!needsMailboxCheck(found) || found.dns === null || mailOperatorKey(found.dns, owners) !== operator) continue;
    await checkMailbox(found, { ...limit, tenant: CANARY_TENANT, egress }, engine);
    return;
  }
}
