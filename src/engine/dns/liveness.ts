/** Resolver liveness: tells a dead resolver from a domain whose own servers fail. */
import type { Clock } from '../../kernel/clock.ts';
import { contain, warnOfFault } from '../../kernel/contain.ts';
import type { Question } from './message.ts';

interface Liveness {
  /** A server answered this question with NOERROR or NXDOMAIN, just now; `found`: with records. */
  recordSuccess(question: Question, found: boolean): void;
  /** Clock.elapsed() ms of the last success; null before the first. */
  lastSuccess(): number | null;
  /** See Resolver.alive. */
  alive(limit: { deadline: number; since: number }): Promise<boolean>;
}

/** Names that every resolver for the Internet can answer, mostly from its own cache. */
const CONTROLS: readonly Question[] = [
  { name: '.', type: 'NS' },
  { name: 'com', type: 'NS' },
];

/** Longer than any controls take. */
const LONGEST_MS = 10_000;
/** Callers within this many ms of a round's start share it. */
const SHARED_MS = 200;
/** Rounds under way at once; beyond that the latest is shared. */
const MOST_ROUNDS = 16;

type Notify = (alive: boolean) => void;

/** One set of control queries and its waiters. */
interface ProbeRound {
  readonly began: number;
  open: number;
  readonly waiting: Set<Notify>;
}

/**
 * `ask` sends one query, bypassing the cache, and calls back when it ended, successfully (after `recordSuccess`) or
 * not.
 */
export function createLiveness(clock: Clock, ask: (question: Question, done: () => void) => void): Liveness {
  let last: number | null = null;
  // The third control: a private resolver may know only its own names. This query may hang while others work, which is
  // why a round in progress does not keep a new one from starting.
  let answeredWell: Question | null = null;
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
    if (latest !== null && rounds.has(latest) && now - latest.began <= SHARED_MS) return latest;
    return rounds.size < MOST_ROUNDS ? begin() : [...rounds].at(-1)!;
  }

  return {
    recordSuccess(question, found) {
      last = clock.elapsed();
      // A denial would have to be confirmed each time.
      if ((found || answeredWell === null) && !CONTROLS.some(({ name }) => name === question.name))
        answeredWell = question;
      for (const round of rounds) for (const notify of [...round.waiting]) notify(true);
    },
    lastSuccess: () => last,
    alive({ deadline, since }) {
      const now = clock.elapsed();
      if (last !== null && last >= since) return Promise.resolve(true);
      if (deadline <= now) return Promise.resolve(false);
      return new Promise((resolve, reject) => {
        const timer = setTimeout(
          contain(reject, () => settle(false)),
          Math.min(deadline - now, LONGEST_MS),
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
