/** All configured servers as one: who is asked, in which order, and how long each is waited for. */
import type { Clock } from '../../kernel/clock.ts';
import type { Question, Reply } from './message.ts';
import type { DnsFailure } from './records.ts';
import type { Server } from './servers.ts';
import { createTransport, type Outcome, type Transport } from './transport.ts';

export interface ServerHealth {
  readonly address: string;
  readonly port: number;
  /** Tries begun; those that ended in NOERROR or NXDOMAIN; those that ended in silence; all others. */
  readonly asked: number;
  readonly answered: number;
  readonly timeouts: number;
  readonly failures: number;
  /** Clock.elapsed() of the last NOERROR or NXDOMAIN, in ms; null before the first. */
  readonly lastAnswerAt: number | null;
}

export interface Pool {
  /**
   * Asks until one server answers, at most `budgetMs` long. `paceMs` is what the asker can wait: the nearer, the sooner
   * the next server is tried. `done` is called exactly once, never from within this call.
   */
  ask(question: Question, time: { budgetMs: number; paceMs: number }, done: (outcome: Outcome) => void): void;
  health(): ServerHealth[];
  /** Open questions end in `network`. */
  close(): void;
}

/** Tries per server, when all are silent. */
const ROUNDS = 2;

/** When several tries fail in different ways, the first of these is what is told: it says most about the name. */
const TELLING: readonly DnsFailure[] = ['servfail', 'malformed', 'timeout', 'refused', 'network'];

const moreTelling = (a: DnsFailure | null, b: DnsFailure): DnsFailure =>
  a !== null && TELLING.indexOf(a) < TELLING.indexOf(b) ? a : b;

/**
 * Milliseconds between the beginnings of two tries. Tries overlap, so that all of them fit into the budget although
 * each is waited for its full time: with two servers, 2 s a try and 5 s in all, one begins each second.
 */
export function paceOf(tries: number, timeoutMs: number, ms: number): number {
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
  /** Milliseconds for one try. */
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
  // The server that answered last is asked first: a dead one costs its delay once, not with every question.
  let first = 0;
  let closed = false;

  function count(index: number, question: Question, outcome: Outcome): void {
    const member = members[index]!;
    if (outcome.kind === 'reply') {
      member.answered++;
      member.lastAnswerAt = options.clock.elapsed();
      first = index;
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
    const pace = paceOf(tries, options.timeoutMs, Math.min(time.budgetMs, time.paceMs));
    const open = new Set<() => void>();
    let begun = 0;
    let worst: DnsFailure | null = null;
    let next: NodeJS.Timeout | undefined;

    function finish(outcome: Outcome): void {
      clearTimeout(next);
      clearTimeout(end);
      running.delete(shut);
      for (const giveUp of open) giveUp();
      open.clear();
      done(outcome);
    }
    function begin(): void {
      const index = (start + begun++) % members.length;
      members[index]!.asked++;
      const giveUp = members[index]!.transport.ask(question, options.timeoutMs, (outcome) => {
        open.delete(giveUp);
        count(index, question, outcome);
        if (outcome.kind === 'reply') return finish(outcome);
        worst = moreTelling(worst, outcome.kind);
        if (begun < tries) begin();
        else if (open.size === 0) finish({ kind: worst });
      });
      open.add(giveUp);
      clearTimeout(next);
      if (begun < tries) next = setTimeout(begin, pace);
    }
    const end = setTimeout(() => finish({ kind: moreTelling(worst, 'timeout') }), time.budgetMs);
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
