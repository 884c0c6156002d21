import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Clock } from '../../kernel/clock.ts';
import { FairGate } from './fair-gate.ts';

/** One list at a time, in turn, and single calls between them. */
export class SharedTurns {
  readonly #gate = new FairGate(1);
  readonly #clock: Clock;
  readonly #singleCalls: () => number;
  #callsBefore = 0;
  #isAlone = true;

  /** `singleCalls`: how many there were so far. */
  constructor(clock: Clock, singleCalls: () => number) {
    this.#clock = clock;
    this.#singleCalls = singleCalls;
  }

  /** Does `work` when it is the list's turn. `isAlone`: no single calls came during the last turn. */
  async take<T>(
    list: { readonly account: string; readonly id: string },
    work: (isAlone: boolean) => Promise<T> | T,
  ): Promise<T> {
    const leave = await this.#gate.enter(list.account, list.id);
    const began = this.#clock.elapsed();
    try {
      return await work(this.#isAlone);
    } finally {
      const calls = this.#singleCalls();
      this.#isAlone = calls === this.#callsBefore;
      this.#callsBefore = calls;
      // As long as single calls come, they get at least as much time as lists.
      await (this.#isAlone ? setImmediate() : setTimeout(this.#clock.elapsed() - began));
      leave();
    }
  }
}
