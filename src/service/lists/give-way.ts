import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Clock } from '../../kernel/clock.ts';
import { LIST_STEPS, type ListSteps } from '../../kernel/list-work.ts';
import { REST } from '../../store/batches.ts';

/** Without a single call for so long, lists are alone. */
const QUIET_MS = 50;

/** Whether single calls come, and what they are left of the processor then. */
export class GiveWay {
  readonly #clock: Clock;
  readonly #singleCalls: () => number;
  #calls: number;
  #lastCall = Number.NEGATIVE_INFINITY;

  /** `singleCalls`: how many there were so far. */
  constructor(clock: Clock, singleCalls: () => number) {
    this.#clock = clock;
    this.#singleCalls = singleCalls;
    this.#calls = singleCalls();
  }

  isAlone(): boolean {
    const [now, calls] = [this.#clock.elapsed(), this.#singleCalls()];
    if (calls !== this.#calls) this.#lastCall = now;
    this.#calls = calls;
    return now - this.#lastCall >= QUIET_MS;
  }

  /** What may be done at once now. */
  steps(): ListSteps {
    return this.isAlone() ? LIST_STEPS.alone : LIST_STEPS.besideCalls;
  }

  /** To be waited for after work of `ms`. */
  async rest(ms: number): Promise<void> {
    await (this.isAlone() ? setImmediate() : setTimeout(REST * ms));
  }
}
