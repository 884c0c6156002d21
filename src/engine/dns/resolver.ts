/** The resolver: coalesces identical queries, caches answers for their TTL, uses all servers whose answers are true. */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../kernel/clock.ts';
import { contain, warnOfFault } from '../../kernel/contain.ts';
import { onAbort } from '../../kernel/on-abort.ts';
import type { DnsFailure, Untrusted } from '../evidence.ts';
import {
  type DnsAnswer,
  type DnsQuestion,
  type DnsRecord,
  type DnsReply,
  isDistrust,
  isQueryName,
  isUntrusted,
  type RecordType,
} from './message.ts';
import { createServerPool, type ServerHealth, type TrustChange } from './servers.ts';
import type { DnsServer, QueryOutcome } from './transport.ts';
import { controlQuestion } from './trust.ts';

export interface QueryLimit {
  /** The deadline is on the clock of `Clock.elapsed()`. */
  readonly deadlineMs: number;
  /** Milliseconds that slow servers may take beyond the usual 5 s; default 0. */
  readonly extraWaitMs?: number;
  readonly signal?: AbortSignal;
}

interface ResolverHealth {
  /** A server last sent NOERROR or NXDOMAIN at this time, in `Clock.elapsed()` ms; null before the first. */
  readonly lastAnswerAt: number | null;
  readonly servers: readonly ServerHealth[];
  /** Names in the cache, and queries in flight. */
  readonly cached: number;
  readonly asking: number;
}

export interface Resolver {
  /**
   * Answers from the cache or queries a server; rejects only with a fault of ours. Takes at most 5 s and the caller's
   * extra wait, and no longer than `limit` allows: past the deadline, or once the signal is aborted, this caller gets
   * `timeout`, while others keep waiting for the same query. A name that cannot be queried (RFC 1035 §2.3.4) is
   * `nxdomain`. Case-insensitive.
   */
  ask(name: string, type: RecordType, limit: QueryLimit): Promise<DnsAnswer>;
  /** Reads from the cache only; undefined on a miss. */
  peek(name: string, type: RecordType): DnsAnswer | undefined;
  /**
   * Liveness of the resolver. True when any server returned NOERROR or NXDOMAIN, for any name, at or after `sinceMs`
   * (Clock.elapsed() ms); else control queries are sent, and the first such reply makes it true. False when they fail
   * too or `deadlineMs` passes. A resolver that answers everything with SERVFAIL or REFUSED is not alive, nor is one
   * whose answers are false.
   */
  alive(limit: { deadlineMs: number; sinceMs: number }): Promise<boolean>;
  /** Sends control queries to the servers that were not checked yet; replies wait for their result in any case. */
  check(): void;
  /** Why there are no answers, as far as is known without asking: all servers give false answers, or else none. */
  problem(): ResolverProblem;
  /** Returns counters, for readiness and metrics. */
  health(): ResolverHealth;
  /** Ends all queries with `network`, later ones too. */
  close(): void;
}

/** A query is under way. */
interface Flight {
  readonly answer: Promise<DnsAnswer>;
  /** The query ends at this time of `Clock.elapsed()`. */
  readonly untilMs: number;
  /** The extra wait of the caller that began it. */
  readonly extraWaitMs: number;
}

/** Total budget of a query in ms, so that a silent resolver costs a verification at most 5 s. */
export const QUERY_BUDGET_MS = 4800;
const CACHE_CAPACITY = 100_000;

/** Free for names in lower case already, as nearly all are. */
const toQueryName = (name: string): string => {
  const lower = name.toLowerCase();
  return lower.length > 1 && lower.endsWith('.') && !lower.endsWith('..') ? lower.slice(0, -1) : lower;
};

export function createResolver(options: {
  /** Servers in order of preference; there is at least one. */
  servers: readonly DnsServer[];
  /** Milliseconds per attempt; every server is tried twice. */
  timeoutMs: number;
  clock: Clock;
  /** The cache holds this many names; 100,000 by default. */
  cacheNames?: number;
  /** Names that cannot be missing, by which false answers are recognized; without any, every server is believed. */
  controlNames?: readonly string[];
  /** Any name that is found counts as a control name: the servers may know only names of their own. */
  laboratory?: boolean;
  /** Called at each change of what is known of a server. */
  onTrust?: (change: TrustChange) => void;
}): Resolver {
  if (options.servers.length === 0) throw new TypeError('a resolver needs at least one server');
  const { clock } = options;
  const cache = createDnsCache(options.cacheNames ?? CACHE_CAPACITY, clock);
  const flights = new Map<RecordType, Map<string, Flight>>();
  let closed = false;

  const timeoutMs = Math.min(options.timeoutMs, QUERY_BUDGET_MS);
  const pool = createServerPool({
    ...options,
    timeoutMs,
    controls: (options.controlNames ?? []).map(controlQuestion),
    laboratory: options.laboratory ?? false,
    onAnswer: (question, { records }) => liveness.recordSuccess(question, records.length > 0),
    onTrust(change) {
      // Its answers before it was found out may be false as well.
      if (isDistrust(change.to)) cache.clear();
      options.onTrust?.(change);
    },
  });
  const liveness = createLiveness(clock, (question, done) =>
    pool.ask(question, { budgetMs: QUERY_BUDGET_MS, paceMs: QUERY_BUDGET_MS, extraWaitMs: 0 }, () => done()),
  );

  function flightsOf(type: RecordType): Map<string, Flight> {
    const known = flights.get(type) ?? new Map<string, Flight>();
    if (known.size === 0) flights.set(type, known);
    return known;
  }

  function begin(own: Map<string, Flight>, question: DnsQuestion, left: number, extraWaitMs: number): Flight {
    const untilMs = clock.elapsed() + QUERY_BUDGET_MS + extraWaitMs;
    const paceMs = Math.min(left, QUERY_BUDGET_MS);
    const budgetMs = () => Math.max(1, untilMs - clock.elapsed());
    const answer = new Promise<DnsAnswer>((resolve, reject) => {
      const fail = (fault: unknown): void => {
        own.delete(question.name);
        reject(fault);
      };
      const onFound = (found: DnsAnswer): void => {
        own.delete(question.name);
        if (!closed) cache.set(question.name, question.type, found);
        resolve(found);
      };
      const send = (next: DnsQuestion, done: (outcome: QueryOutcome) => void): void =>
        pool.ask(next, { budgetMs: budgetMs(), paceMs, extraWaitMs }, contain(fail, done));
      followCnames(question, send, contain(fail, onFound));
    });
    const flight = { answer, untilMs, extraWaitMs };
    own.set(question.name, flight);
    return flight;
  }

  function ask(name: string, type: RecordType, limit: QueryLimit): Promise<DnsAnswer> {
    const question = { name: toQueryName(name), type };
    if (!isQueryName(question.name)) return Promise.resolve({ kind: 'nxdomain', ttlSeconds: 0, cname: [] });
    const known = cache.get(question.name, type);
    if (known) return Promise.resolve(known);
    if (closed) return Promise.resolve({ kind: 'network' });
    const now = clock.elapsed();
    const left = limit.deadlineMs - now;
    if (left <= 0 || limit.signal?.aborted) return Promise.resolve({ kind: 'timeout' });
    const { extraWaitMs = 0 } = limit;
    const own = flightsOf(type);
    const flight = own.get(question.name) ?? begin(own, question, left, extraWaitMs);
    const untilMs = now + QUERY_BUDGET_MS + extraWaitMs;
    const mine = flight.untilMs > untilMs && limit.deadlineMs > untilMs ? { ...limit, deadlineMs: untilMs } : limit;
    const answer = waitFor(flight, mine, clock);
    return flight.extraWaitMs < extraWaitMs ? answer.then((found) => orAgain(question, found, limit, untilMs)) : answer;
  }

  /** The answer of a query that a caller with less time had begun; after a timeout, that of another one. */
  function orAgain(
    { name, type }: DnsQuestion,
    found: DnsAnswer,
    limit: QueryLimit,
    untilMs: number,
  ): Promise<DnsAnswer> {
    if (found.kind !== 'timeout') return Promise.resolve(found);
    const extraWaitMs = Math.max(0, untilMs - clock.elapsed() - QUERY_BUDGET_MS);
    return ask(name, type, { ...limit, deadlineMs: Math.min(limit.deadlineMs, untilMs), extraWaitMs });
  }

  return {
    ask,
    peek: (name, type) => cache.get(toQueryName(name), type),
    alive: (limit) => liveness.alive(limit),
    check: () => pool.check(),
    problem() {
      const [state = 'unchecked', ...others] = pool.health().map(({ trust }) => trust);
      return isDistrust(state) && others.every(isDistrust) ? state : 'silent';
    },
    health() {
      const servers = pool.health();
      return {
        lastAnswerAt: liveness.lastSuccess(),
        servers,
        cached: cache.size(),
        asking: [...flights.values()].reduce((sum, own) => sum + own.size, 0),
      };
    },
    close() {
      closed = true;
      pool.close();
      cache.clear();
    },
  };
}

/** Length of a CNAME chain; resolvers give up between 8 and 16. */
const MAX_CHAIN = 8;

/** Bounds of a positive answer's TTL, in seconds. */
const TTL_BOUNDS = { least: 60, most: 3600 } as const;
/**
 * Of a negative answer: at most 5 minutes; a few seconds even without an SOA, so that a burst causes a single query.
 */
const NEGATIVE_TTL_BOUNDS = { least: 5, most: 300 } as const;

/** Nearly all answers have this, of which the cache keeps many. */
const NO_CHAIN: readonly string[] = [];

const clamp = (ttlSeconds: number, to: { least: number; most: number }): number =>
  Math.min(to.most, Math.max(to.least, ttlSeconds));

interface CnameWalk {
  /** The names are the queried one and all CNAME targets. */
  readonly names: string[];
  ttlSeconds: number;
}

/**
 * Sends the query, and another one for each CNAME target that the reply does not contain. Chains longer than 8, loops
 * and targets that cannot be queried are `malformed`.
 */
function followCnames(
  question: DnsQuestion,
  ask: (question: DnsQuestion, done: (outcome: QueryOutcome) => void) => void,
  done: (answer: DnsAnswer) => void,
): void {
  const walk: CnameWalk = { names: [question.name], ttlSeconds: TTL_BOUNDS.most };
  const onOutcome = (outcome: QueryOutcome): void => {
    const answer = outcome.kind === 'reply' ? stepCnames(walk, question.type, outcome.reply) : outcome;
    if (answer) done(answer);
    else ask({ name: lastName(walk), type: question.type }, onOutcome);
  };
  ask(question, onOutcome);
}

const lastName = ({ names }: CnameWalk): string => names.at(-1) ?? '';

/** Follows the chain within this reply. Null: the last name in `walk` still has to be queried. */
function stepCnames(walk: CnameWalk, type: RecordType, reply: DnsReply): DnsAnswer | null {
  const before = walk.names.length;
  const failure = followInReply(walk, type, reply);
  if (failure) return { kind: failure };
  const name = lastName(walk);
  const cname = walk.names.length === 1 ? NO_CHAIN : walk.names.slice(1);
  const records: DnsRecord[] = [];
  for (const { owner, ttlSeconds, record } of reply.records) {
    if (owner !== name || record.type !== type) continue;
    records.push(record);
    walk.ttlSeconds = Math.min(walk.ttlSeconds, ttlSeconds);
  }
  if (records.length > 0) return { kind: 'records', records, ttlSeconds: clamp(walk.ttlSeconds, TTL_BOUNDS), cname };
  // A reply that contains only the start of the chain has no SOA for its end (RFC 1034 §4.3.2).
  if (walk.names.length > before && reply.negativeTtlSeconds === null && !reply.nxdomain) return null;
  const ttlSeconds = clamp(Math.min(walk.ttlSeconds, reply.negativeTtlSeconds ?? 0), NEGATIVE_TTL_BOUNDS);
  return { kind: reply.nxdomain ? 'nxdomain' : 'nodata', ttlSeconds, cname };
}

/** Follows the CNAMEs within one reply. */
function followInReply(walk: CnameWalk, type: RecordType, reply: DnsReply): DnsFailure | null {
  if (type === 'CNAME') return null;
  for (;;) {
    const name = lastName(walk);
    // Some zones have other records next to a CNAME, against RFC 1034 §3.6.2; records of the queried type win.
    if (reply.records.some(({ owner, record }) => owner === name && record.type === type)) return null;
    const link = reply.records.find(({ owner, record }) => owner === name && record.type === 'CNAME');
    if (link?.record.type !== 'CNAME') return null;
    const target = link.record.host;
    if (walk.names.includes(target) || walk.names.length > MAX_CHAIN || !isQueryName(target)) return 'malformed';
    walk.names.push(target);
    walk.ttlSeconds = Math.min(walk.ttlSeconds, link.ttlSeconds);
  }
}

interface CachedAnswer {
  answer: DnsAnswer;
  /** The answer is kept until this time of `Clock.elapsed()`. */
  untilMs: number;
  readonly type: RecordType;
  /** An answer of another type. */
  readonly next: CachedAnswer | null;
}

function answerOfType(first: CachedAnswer | null | undefined, type: RecordType): CachedAnswer | null {
  for (let kept = first ?? null; kept !== null; kept = kept.next) if (kept.type === type) return kept;
  return null;
}

/**
 * Answers by name and type until their TTL expires, but no failures: an LRU of at most `names` names. One entry holds
 * all types of a name, each with its own expiry: a lookup, of which every verification does several, needs no
 * concatenated key. The types, of which most names have one or two, are a linked list: a Map for each name would be
 * most of the memory.
 */
function createDnsCache(names: number, clock: Clock) {
  // Created with the first answer: it allocates its whole capacity, which would slow every start.
  let lru: LRUCache<string, CachedAnswer> | null = null;
  return {
    get(name: string, type: RecordType) {
      const kept = answerOfType(lru?.get(name), type);
      return kept && clock.elapsed() < kept.untilMs ? kept.answer : undefined;
    },
    set(name: string, type: RecordType, answer: DnsAnswer) {
      if (!('ttlSeconds' in answer)) return;
      const untilMs = clock.elapsed() + answer.ttlSeconds * 1000;
      lru ??= new LRUCache({ max: names });
      const first = lru.get(name) ?? null;
      const known = answerOfType(first, type);
      if (known) [known.answer, known.untilMs] = [answer, untilMs];
      else lru.set(name, { answer, untilMs, type, next: first });
    },
    /** Counts names. */
    size: () => lru?.size ?? 0,
    clear: () => lru?.clear(),
  };
}

/** A flight that ends this soon after the deadline is waited for: most deadlines are as long as a flight. */
const NEARLY_MS = 20;

/**
 * Returns `flight.answer`, or `timeout` at the deadline or on abort. `untilMs` is when the flight itself ends, elapsed
 * ms.
 */
function waitFor(
  flight: { readonly answer: Promise<DnsAnswer>; readonly untilMs: number },
  limit: QueryLimit,
  clock: Clock,
): Promise<DnsAnswer> {
  const { signal } = limit;
  const endsInTime = limit.deadlineMs + NEARLY_MS >= flight.untilMs;
  if (!signal && endsInTime) return flight.answer;
  return new Promise((resolve, reject) => {
    const leave = contain(reject, (): void => settle({ kind: 'timeout' }));
    const timer = endsInTime ? undefined : setTimeout(leave, Math.max(0, limit.deadlineMs - clock.elapsed()));
    const ignoreAbort = signal && onAbort(signal, leave);
    function settle(answer: DnsAnswer): void {
      clearTimeout(timer);
      ignoreAbort?.();
      resolve(answer);
    }
    flight.answer.then(contain(reject, settle), reject);
  });
}

/** Names that every resolver for the Internet can answer, mostly from its own cache. */
const CONTROLS: readonly DnsQuestion[] = [
  { name: '.', type: 'NS' },
  { name: 'com', type: 'NS' },
];

/** Longer than any controls take. */
const LONGEST_MS = 10_000;
/** Callers within this many ms of a round's start take part in it. */
const PROBE_SHARED_MS = 200;
/** Rounds under way at once; beyond that the latest is shared. */
const MOST_ROUNDS = 16;

type NotifyAlive = (alive: boolean) => void;

/** One set of control queries, and what waits for it. */
interface ProbeRound {
  readonly began: number;
  open: number;
  readonly waiting: Set<NotifyAlive>;
}

/**
 * Tells a dead resolver from a domain whose own servers fail. `ask` sends one query, bypassing the cache, and calls
 * back when it ended, successfully (after `recordSuccess`) or not.
 */
function createLiveness(clock: Clock, ask: (question: DnsQuestion, done: () => void) => void) {
  let last: number | null = null;
  // The third control: a private resolver may know only its own names. This query may hang while others work, which is
  // why a round in progress does not keep a new one from starting.
  let answeredWell: DnsQuestion | null = null;
  const rounds = new Set<ProbeRound>();
  let latest: ProbeRound | null = null;

  function begin(): ProbeRound {
    const questions = answeredWell ? [...CONTROLS, answeredWell] : CONTROLS;
    const round: ProbeRound = { began: clock.elapsed(), open: questions.length, waiting: new Set() };
    rounds.add(round);
    latest = round;
    for (const question of questions) {
      const onEnd = (): void => {
        if (--round.open === 0) end(round);
      };
      ask(question, contain(warnOfFault, onEnd));
    }
    return round;
  }

  function end(round: ProbeRound): void {
    rounds.delete(round);
    for (const notify of [...round.waiting]) notify(false);
  }

  function roundFor(now: number): ProbeRound {
    if (latest !== null && rounds.has(latest) && now - latest.began <= PROBE_SHARED_MS) return latest;
    return rounds.size < MOST_ROUNDS ? begin() : [...rounds].at(-1)!;
  }

  return {
    /** Records that a server has just answered this question with NOERROR or NXDOMAIN; `found`: with records. */
    recordSuccess(question: DnsQuestion, found: boolean) {
      last = clock.elapsed();
      // A denial would have to be confirmed each time.
      if ((found || answeredWell === null) && !CONTROLS.some(({ name }) => name === question.name))
        answeredWell = question;
      for (const round of rounds) for (const notify of [...round.waiting]) notify(true);
    },
    /** Returns the `Clock.elapsed()` ms of the last success; null before the first. */
    lastSuccess: () => last,
    /** See Resolver.alive. */
    alive({ deadlineMs, sinceMs }: { deadlineMs: number; sinceMs: number }): Promise<boolean> {
      const now = clock.elapsed();
      if (last !== null && last >= sinceMs) return Promise.resolve(true);
      if (deadlineMs <= now) return Promise.resolve(false);
      return new Promise((resolve, reject) => {
        const timer = setTimeout(
          contain(reject, () => settle(false)),
          Math.min(deadlineMs - now, LONGEST_MS),
        );
        function settle(alive: boolean): void {
          clearTimeout(timer);
          for (const round of rounds) round.waiting.delete(settle);
          resolve(alive);
        }
        const round = roundFor(now);
        round.waiting.add(settle);
        // Queries that cannot even be sent have ended before anyone waits for them.
        if (!rounds.has(round)) settle(false);
      });
    },
  };
}

/** `silent` means that no server answers, or only with failures. */
type ResolverProblem = 'silent' | Untrusted;

interface ProblemText {
  /** Completes a sentence; lower case, without a period. */
  readonly found: string;
  readonly fix: string;
}

/** Why the resolver is of no use, as sentences for `/readyz`, error replies, the command line and the doctor. */
export const RESOLVER_PROBLEMS: Readonly<Record<ResolverProblem, ProblemText>> = {
  silent: {
    found: 'no DNS resolver answers',
    fix: 'Run a resolver on this host (such as unbound), or set MAILVET_DNS_SERVERS to one that answers.',
  },
  denies_every_name: {
    found: 'the DNS resolver denies names that exist',
    fix:
      'It has no way out to the Internet: give this host or container access to one that does, by MAILVET_DNS_SERVERS. If ' +
      'it should know only internal names, set MAILVET_DNS_CONTROL_NAMES.',
  },
  answers_every_name: {
    found: 'the DNS resolver invents an address for every name',
    fix: 'Leave the captive portal, or set MAILVET_DNS_SERVERS to a resolver that returns NXDOMAIN for names that do not exist.',
  },
  unconfirmed: {
    found: 'the DNS resolver denies names, but does not answer control queries',
    fix: 'Set MAILVET_DNS_SERVERS to a resolver that resolves com and gmail.com, or set MAILVET_DNS_CONTROL_NAMES.',
  },
};

export const resolverProblem = (failure: DnsFailure | null): ResolverProblem =>
  failure !== null && isUntrusted(failure) ? failure : 'silent';
