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

/** Longer than any controls take: two rounds of them. */
const LONGEST_MS = 10_000;

/** `ask` puts one question past any cache and calls back when it ended, well (after `beat`) or not. */
export function createPulse(clock: Clock, ask: (question: Question, done: () => void) => void): Pulse {
  let last: number | null = null;
  // Asked as a third control: a private resolver may know nothing but its own names.
  let answeredWell: Question | null = null;
  // Who waits, and the round of controls that can tell them "no": the first that began after they came.
  const waiting = new Map<(alive: boolean) => void, number>();
  let round = 0;
  let asking = 0;

  function beginControls(): void {
    const questions = answeredWell ? [...CONTROLS, answeredWell] : CONTROLS;
    round++;
    asking = questions.length;
    for (const question of questions) {
      ask(question, () => {
        if (--asking === 0) endControls();
      });
    }
  }

  function endControls(): void {
    for (const [tell, from] of [...waiting]) if (from <= round) tell(false);
    if (waiting.size > 0) beginControls();
  }

  return {
    beat(question) {
      last = clock.elapsed();
      if (!CONTROLS.some(({ name }) => name === question.name)) answeredWell = question;
      if (waiting.size > 0) for (const tell of [...waiting.keys()]) tell(true);
    },
    lastBeat: () => last,
    alive({ deadline, since }) {
      if (last !== null && last >= since) return Promise.resolve(true);
      const left = deadline - clock.elapsed();
      if (left <= 0) return Promise.resolve(false);
      return new Promise((resolve) => {
        const timer = setTimeout(() => tell(false), Math.min(left, LONGEST_MS));
        function tell(alive: boolean): void {
          clearTimeout(timer);
          waiting.delete(tell);
          resolve(alive);
        }
        waiting.set(tell, round + 1);
        if (asking === 0) beginControls();
      });
    },
  };
}
