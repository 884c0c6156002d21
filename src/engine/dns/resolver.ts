/** The resolver: coalesces identical queries, caches answers for their TTL, uses all servers that do not lie. */
import type { Clock } from '../../kernel/clock.ts';
import { contain } from '../../kernel/contain.ts';
import { follow } from './answer.ts';
import { createCache } from './cache.ts';
import { createLiveness } from './liveness.ts';
import type { Question } from './message.ts';
import { createPool, type ServerHealth, type TrustChange } from './pool.ts';
import type { ResolverProblem } from './problems.ts';
import { canBeAsked, type DnsAnswer, isLie, type RecordType } from './records.ts';
import type { Server } from './servers.ts';
import type { Outcome } from './transport.ts';
import { controlQuestion } from './trust.ts';
import { type Limit, waitFor } from './wait.ts';

export type { TrustChange } from './pool.ts';
export type { DnsAnswer, RecordType } from './records.ts';
export { type Server, systemServers } from './servers.ts';
export type { Limit } from './wait.ts';

interface ResolverHealth {
  /** Clock.elapsed() of the last NOERROR or NXDOMAIN of any server, in ms; null before the first. */
  readonly lastAnswerAt: number | null;
  readonly servers: readonly ServerHealth[];
  /** Names in the cache, and queries in flight. */
  readonly cached: number;
  readonly asking: number;
}

export interface Resolver {
  /**
   * Answers from the cache or queries a server; rejects only with a fault of ours. Takes at most 5 s and the caller's
   * patience, and no longer than `limit` allows: past the deadline, or once the signal is aborted, this caller gets
   * `timeout`, while others keep waiting for the same query. A name that cannot be queried (RFC 1035 §2.3.4) is
   * `nxdomain`. Case-insensitive.
   */
  ask(name: string, type: RecordType, limit: Limit): Promise<DnsAnswer>;
  /** From the cache only; undefined on a miss. */
  peek(name: string, type: RecordType): DnsAnswer | undefined;
  /**
   * Liveness of the resolver. True when any server returned NOERROR or NXDOMAIN, for any name, at or after `since`
   * (Clock.elapsed() ms); else control queries are sent, and the first such reply makes it true. False when they fail
   * too or `deadline` passes. A resolver that answers everything with SERVFAIL or REFUSED is not alive, nor is one that
   * lies.
   */
  alive(limit: { deadline: number; since: number }): Promise<boolean>;
  /** Sends control queries to the servers that were not checked yet; replies wait for their result in any case. */
  check(): void;
  /** Why there are no answers, as far as is known without asking: a lie of all servers, or else silence. */
  problem(): ResolverProblem;
  /** Counters, for readiness and metrics. */
  health(): ResolverHealth;
  /** Ends all queries with `network`, later ones too. */
  close(): void;
}

/** A query under way. */
interface Flight {
  readonly answer: Promise<DnsAnswer>;
  /** Clock.elapsed() ms. */
  readonly until: number;
  /** Of the caller that began it. */
  readonly patienceMs: number;
}

/** Total budget of a query in ms, so that a silent resolver costs a verification at most 5 s. */
export const ASK_MS = 4800;
const CACHED_NAMES = 100_000;

/** Free for names in lower case already, as nearly all are. */
const canonical = (name: string): string => {
  const lower = name.toLowerCase();
  return lower.length > 1 && lower.endsWith('.') && !lower.endsWith('..') ? lower.slice(0, -1) : lower;
};

export function createResolver(options: {
  /** In order of preference; at least one. */
  servers: readonly Server[];
  /** Milliseconds per attempt; every server is tried twice. */
  timeoutMs: number;
  clock: Clock;
  /** Cache capacity in names; default 100,000. */
  cacheNames?: number;
  /** Names that cannot be missing, by which a server that lies is recognized; without any, every server is believed. */
  controlNames?: readonly string[];
  /** Any name that is found counts as a control name: the servers may know only names of their own. */
  laboratory?: boolean;
  /** Called at each change of what is known of a server. */
  onTrust?: (change: TrustChange) => void;
}): Resolver {
  if (options.servers.length === 0) throw new TypeError('a resolver needs at least one server');
  const { clock } = options;
  const cache = createCache(options.cacheNames ?? CACHED_NAMES, clock);
  const flights = new Map<RecordType, Map<string, Flight>>();
  let closed = false;

  const timeoutMs = Math.min(options.timeoutMs, ASK_MS);
  const pool = createPool({
    ...options,
    timeoutMs,
    controls: (options.controlNames ?? []).map(controlQuestion),
    laboratory: options.laboratory ?? false,
    onAnswer: (question, { records }) => liveness.recordSuccess(question, records.length > 0),
    onTrust(change) {
      // What it said before it was caught may be a lie as well.
      if (isLie(change.to)) cache.clear();
      options.onTrust?.(change);
    },
  });
  const liveness = createLiveness(clock, (question, done) =>
    pool.ask(question, { budgetMs: ASK_MS, paceMs: ASK_MS, patienceMs: 0 }, () => done()),
  );

  function flightsOf(type: RecordType): Map<string, Flight> {
    const known = flights.get(type) ?? new Map<string, Flight>();
    if (known.size === 0) flights.set(type, known);
    return known;
  }

  function begin(own: Map<string, Flight>, question: Question, left: number, patienceMs: number): Flight {
    const until = clock.elapsed() + ASK_MS + patienceMs;
    const paceMs = Math.min(left, ASK_MS);
    const budgetMs = () => Math.max(1, until - clock.elapsed());
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
      const send = (next: Question, done: (outcome: Outcome) => void): void =>
        pool.ask(next, { budgetMs: budgetMs(), paceMs, patienceMs }, contain(fail, done));
      follow(question, send, contain(fail, onFound));
    });
    const flight = { answer, until, patienceMs };
    own.set(question.name, flight);
    return flight;
  }

  function ask(name: string, type: RecordType, limit: Limit): Promise<DnsAnswer> {
    const question = { name: canonical(name), type };
    if (!canBeAsked(question.name)) return Promise.resolve({ kind: 'nxdomain', ttl: 0, cname: [] });
    const known = cache.get(question.name, type);
    if (known) return Promise.resolve(known);
    if (closed) return Promise.resolve({ kind: 'network' });
    const now = clock.elapsed();
    const left = limit.deadline - now;
    if (left <= 0 || limit.signal?.aborted) return Promise.resolve({ kind: 'timeout' });
    const { patienceMs = 0 } = limit;
    const own = flightsOf(type);
    const flight = own.get(question.name) ?? begin(own, question, left, patienceMs);
    const until = now + ASK_MS + patienceMs;
    const mine = flight.until > until && limit.deadline > until ? { ...limit, deadline: until } : limit;
    const answer = waitFor(flight, mine, clock);
    return flight.patienceMs < patienceMs ? answer.then((found) => orAgain(question, found, limit, until)) : answer;
  }

  /** The answer of a query that a less patient caller had begun; after a timeout, that of another one. */
  function orAgain({ name, type }: Question, found: DnsAnswer, limit: Limit, until: number): Promise<DnsAnswer> {
    if (found.kind !== 'timeout') return Promise.resolve(found);
    const patienceMs = Math.max(0, until - clock.elapsed() - ASK_MS);
    return ask(name, type, { ...limit, deadline: Math.min(limit.deadline, until), patienceMs });
  }

  return {
    ask,
    peek: (name, type) => cache.get(canonical(name), type),
    alive: (limit) => liveness.alive(limit),
    check: () => pool.check(),
    problem() {
      const [state = 'unchecked', ...others] = pool.health().map(({ trust }) => trust);
      return isLie(state) && others.every(isLie) ? state : 'silent';
    },
    health() {
      const servers = pool.health();
      return {
        lastAnswerAt: liveness.lastSuccess(),
        servers,
        cached: cache.size,
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
