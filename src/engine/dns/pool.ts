/** The configured DNS servers: order of queries, retries and timeouts. */
import type { Clock } from '../../kernel/clock.ts';
import type { Question, Reply } from './message.ts';
import type { DnsFailure } from './records.ts';
import type { Server } from './servers.ts';
import { createTransport, type Outcome, type Transport } from './transport.ts';

export interface ServerHealth {
  readonly address: string;
  readonly port: number;
  /** Attempts: all; with NOERROR or NXDOMAIN; timed out; failed otherwise. */
  readonly asked: number;
  readonly answered: number;
  readonly timeouts: number;
  readonly failures: number;
  /** Clock.elapsed() of the last NOERROR or NXDOMAIN, in ms; null before the first. */
  readonly lastAnswerAt: number | null;
}

interface Pool {
  /**
   * Queries servers until one answers, for at most `budgetMs`. `paceMs` is the caller's remaining time: the shorter,
   * the sooner the next server is tried. `done` is called exactly once, never synchronously.
   */
  ask(question: Question, time: { budgetMs: number; paceMs: number }, done: (outcome: Outcome) => void): void;
  health(): ServerHealth[];
  /** Pending queries end with `network`. */
  close(): void;
}

/** Attempts per server when none answers. */
const ROUNDS = 2;

/** When attempts fail differently, the first of these is reported: it says most about the name. */
const MOST_INFORMATIVE: readonly DnsFailure[] = ['servfail', 'malformed', 'timeout', 'refused', 'network'];

const moreInformative = (a: DnsFailure | null, b: DnsFailure): DnsFailure =>
  a !== null && MOST_INFORMATIVE.indexOf(a) < MOST_INFORMATIVE.indexOf(b) ? a : b;

/**
 * Milliseconds between the starts of two attempts. Attempts overlap, so that all of them fit into the budget with their
 * full timeout: with two servers, 2 s per attempt and 5 s in total, one starts every second.
 */
export function attemptInterval(tries: number, timeoutMs: number, ms: number): number {
  return Math.min(timeoutMs, Math.max(ms - timeoutMs, ms / 2) / Math.max(1, tries - 1));
}

interface Member {
  readonly server: Server;
  readonly transport: Transport;
  asked: number;
  answered: number;
  timeouts: number;
  failures: number;
  lastAnswerAt: number | null;
}

export function createPool(options: {
  servers: readonly Server[];
  /** Milliseconds per attempt. */
  timeoutMs: number;
  clock: Clock;
  /** Called at each NOERROR or NXDOMAIN. */
  onAnswer: (question: Question, reply: Reply) => void;
}): Pool {
  const members: Member[] = options.servers.map((server) => ({
    server,
    transport: createTransport(server),
    asked: 0,
    answered: 0,
    timeouts: 0,
    failures: 0,
    lastAnswerAt: null,
  }));
  const running = new Set<() => void>();
  // The server that answered last is tried first, so that a dead one costs its delay once, not with every query.
  let first = 0;
  let closed = false;

  function count(member: Member, question: Question, outcome: Outcome): void {
    if (outcome.kind === 'reply') {
      member.answered++;
      member.lastAnswerAt = options.clock.elapsed();
      first = members.indexOf(member);
      options.onAnswer(question, outcome.reply);
    } else if (outcome.kind === 'timeout') member.timeouts++;
    else member.failures++;
  }

  function ask(question: Question, time: { budgetMs: number; paceMs: number }, done: (outcome: Outcome) => void): void {
    if (closed) {
      queueMicrotask(() => done({ kind: 'network' }));
      return;
    }
    const tries = members.length * ROUNDS;
    const start = first;
    const interval = attemptInterval(tries, options.timeoutMs, Math.min(time.budgetMs, time.paceMs));
    const open = new Set<() => void>();
    let begun = 0;
    let worst: DnsFailure | null = null;
    let next: NodeJS.Timeout | undefined;

    function finish(outcome: Outcome): void {
      clearTimeout(next);
      clearTimeout(end);
      running.delete(shut);
      for (const cancel of open) cancel();
      open.clear();
      done(outcome);
    }
    function begin(): void {
      const member = members[(start + begun++) % members.length];
      if (member === undefined) return;
      member.asked++;
      const cancel = member.transport.ask(question, options.timeoutMs, (outcome) => {
        open.delete(cancel);
        count(member, question, outcome);
        if (outcome.kind === 'reply') return finish(outcome);
        worst = moreInformative(worst, outcome.kind);
        if (begun < tries) begin();
        else if (open.size === 0) finish({ kind: worst });
      });
      open.add(cancel);
      clearTimeout(next);
      if (begun < tries) next = setTimeout(begin, interval);
    }
    const end = setTimeout(() => finish({ kind: moreInformative(worst, 'timeout') }), time.budgetMs);
    const shut = (): void => finish({ kind: 'network' });
    running.add(shut);
    begin();
  }

  return {
    ask,
    health: () => members.map(({ server, transport: _, ...counters }) => ({ ...server, ...counters })),
    close: () => {
      closed = true;
      for (const shut of [...running]) shut();
      for (const { transport } of members) transport.close();
    },
  };
}
