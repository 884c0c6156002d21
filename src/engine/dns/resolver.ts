/** The resolver: one question at a time for each name, answers kept for their time, all servers used. */
import type { Clock } from '../../kernel/clock.ts';
import { follow } from './answer.ts';
import { createCache } from './cache.ts';
import type { Question } from './message.ts';
import { createPool, type ServerHealth } from './pool.ts';
import { createPulse } from './pulse.ts';
import { canBeAsked, type DnsAnswer, type RecordType } from './records.ts';
import type { Server } from './servers.ts';
import { type Limit, waitFor } from './wait.ts';

export type { ServerHealth } from './pool.ts';
export type { DnsAnswer, DnsFailure, DnsRecord, RecordType } from './records.ts';
export { parseServers, type Server, systemServers } from './servers.ts';
export type { Limit } from './wait.ts';

export interface ResolverHealth {
  /** Clock.elapsed() of the last NOERROR or NXDOMAIN of any server, in ms; null before the first. */
  readonly lastAnswerAt: number | null;
  readonly servers: readonly ServerHealth[];
  /** Names in the cache, and questions under way. */
  readonly cached: number;
  readonly asking: number;
}

export interface Resolver {
  /**
   * Answers from the cache, or asks; never rejects. Takes at most 5 s, and no longer than `limit` allows: past the
   * deadline, or once the signal is aborted, it is `timeout` for this asker, while others go on waiting for the same
   * question. A name that cannot be put into a question (RFC 1035 §2.3.4) is `nxdomain`. Case does not matter.
   */
  ask(name: string, type: RecordType, limit: Limit): Promise<DnsAnswer>;
  /** From the cache, without waiting; undefined where `ask` would have to. */
  peek(name: string, type: RecordType): DnsAnswer | undefined;
  /**
   * Does the resolver answer anybody? True when any server gave NOERROR or NXDOMAIN, for whatever name, at or after
   * `since` (Clock.elapsed() ms); else control questions are asked, and the first such reply makes it true. False when
   * they failed too or `deadline` is over. SERVFAIL and REFUSED for everything is not being alive.
   */
  alive(limit: { deadline: number; since: number }): Promise<boolean>;
  /** Counters, for readiness and metrics. */
  health(): ResolverHealth;
  /** Ends all questions with `network`; later ones too. */
  close(): void;
}

/** A silent resolver costs at most 5 s in all (this in ms), less what else a verification needs. */
export const ASK_MS = 4800;
const CACHED_NAMES = 100_000;

/** Costs nothing for names that are lower case already, as nearly all are. */
const canonical = (name: string): string => {
  const lower = name.toLowerCase();
  return lower.length > 1 && lower.endsWith('.') && !lower.endsWith('..') ? lower.slice(0, -1) : lower;
};

export function createResolver(options: {
  /** Asked in this order; at least one. */
  servers: readonly Server[];
  /** Milliseconds for one try; every server is tried twice. */
  timeoutMs: number;
  clock: Clock;
  /** Names that the cache holds; 100,000 when left out. */
  cacheNames?: number;
}): Resolver {
  if (options.servers.length === 0) throw new TypeError('a resolver needs at least one server');
  const { clock } = options;
  const cache = createCache(options.cacheNames ?? CACHED_NAMES, clock);
  const flights = new Map<string, { answer: Promise<DnsAnswer>; until: number }>();
  let closed = false;

  const timeoutMs = Math.min(options.timeoutMs, ASK_MS);
  const pool = createPool({ ...options, timeoutMs, onAnswer: (question) => pulse.beat(question) });
  const pulse = createPulse(clock, (question, done) =>
    pool.ask(question, { budgetMs: ASK_MS, paceMs: ASK_MS }, () => done()),
  );

  function begin(key: string, question: Question, paceMs: number): { answer: Promise<DnsAnswer>; until: number } {
    const until = clock.elapsed() + ASK_MS;
    const answer = follow(
      question,
      (next) =>
        new Promise((done) => {
          const budgetMs = Math.max(1, until - clock.elapsed());
          pool.ask(next, { budgetMs, paceMs }, done);
        }),
    ).then((found) => {
      flights.delete(key);
      if (!closed) cache.set(question.name, question.type, found);
      return found;
    });
    const flight = { answer, until };
    flights.set(key, flight);
    return flight;
  }

  async function ask(name: string, type: RecordType, limit: Limit): Promise<DnsAnswer> {
    const question = { name: canonical(name), type };
    if (!canBeAsked(question.name)) return { kind: 'nxdomain', ttl: 0, cname: [] };
    const known = cache.get(question.name, type);
    if (known) return known;
    if (closed) return { kind: 'network' };
    const left = limit.deadline - clock.elapsed();
    if (left <= 0 || limit.signal?.aborted) return { kind: 'timeout' };
    const key = `${type} ${question.name}`;
    const flight = flights.get(key) ?? begin(key, question, left);
    return waitFor(flight, limit, clock);
  }

  return {
    ask,
    peek: (name, type) => cache.get(canonical(name), type),
    alive: (limit) => pulse.alive(limit),
    health() {
      const servers = pool.health();
      return { lastAnswerAt: pulse.lastBeat(), servers, cached: cache.size, asking: flights.size };
    },
    close() {
      closed = true;
      pool.close();
      cache.clear();
    },
  };
}
