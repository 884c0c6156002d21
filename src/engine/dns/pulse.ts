/** Does the resolver answer anybody? This tells a dead resolver from a domain whose own servers fail. */
import type { Clock } from '../../kernel/clock.ts';
import type { Question } from './message.ts';

export interface Pulse {
  /** A server answered this question with NOERROR or NXDOMAIN, just now. */
  beat(question: Question): void;
  /** Clock.elapsed() ms of the last beat; null before the first. */
  lastBeat(): number | null;
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
/** Who comes within this many ms of a round's beginning shares it. */
const SHARED_MS = 200;
/** Rounds under way at once; beyond that the latest is shared. */
const MOST_ROUNDS = 16;

type Tell = (alive: boolean) => void;

/** One set of control questions, and who waits for it. */
interface Round {
  readonly began: number;
  open: number;
  readonly waiting: Set<Tell>;
}

/** `ask` puts one question past any cache and calls back when it ended, well (after `beat`) or not. */
export function createPulse(clock: Clock, ask: (question: Question, done: () => void) => void): Pulse {
  let last: number | null = null;
  // Asked as a third control: a private resolver may know nothing but its own names. It may hang without telling
  // anything of the others, which is why a round that is under way keeps no new one from beginning.
  let answeredWell: Question | null = null;
  const rounds = new Set<Round>();
  let latest: Round | null = null;

  function begin(): Round {
    const questions = answeredWell ? [...CONTROLS, answeredWell] : CONTROLS;
    const round: Round = { began: clock.elapsed(), open: questions.length, waiting: new Set() };
    rounds.add(round);
    latest = round;
    for (const question of questions) {
      ask(question, () => {
        if (--round.open === 0) end(round);
      });
    }
    return round;
  }

  function end(round: Round): void {
    rounds.delete(round);
    for (const tell of [...round.waiting]) tell(false);
  }

  function roundFor(now: number): Round {
    if (latest !== null && rounds.has(latest) && now - latest.began <= SHARED_MS) return latest;
    return rounds.size < MOST_ROUNDS ? begin() : [...rounds].at(-1)!;
  }

  return {
    beat(question) {
      last = clock.elapsed();
      if (!CONTROLS.some(({ name }) => name === question.name)) answeredWell = question;
      for (const round of rounds) for (const tell of [...round.waiting]) tell(true);
    },
    lastBeat: () => last,
    alive({ deadline, since }) {
      const now = clock.elapsed();
      if (last !== null && last >= since) return Promise.resolve(true);
      if (deadline <= now) return Promise.resolve(false);
      return new Promise((resolve) => {
        const timer = setTimeout(() => tell(false), Math.min(deadline - now, LONGEST_MS));
        function tell(alive: boolean): void {
          clearTimeout(timer);
          for (const round of rounds) round.waiting.delete(tell);
          resolve(alive);
        }
        const round = roundFor(now);
        round.waiting.add(tell);
        // Questions that cannot even be sent end before anybody waits for them.
        if (!rounds.has(round)) tell(false);
      });
    },
  };
}
