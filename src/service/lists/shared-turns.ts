import type { Clock } from '../../kernel/clock.ts';
import { FairQueue } from '../../kernel/fair-queue.ts';
import type { GiveWay } from './give-way.ts';

/** One list at a time, in turn, and single calls between them. */
export class SharedTurns {
  readonly #gate = new FairQueue(1);
  readonly #clock: Clock;
  readonly #way: GiveWay;

  constructor(clock: Clock, way: GiveWay) {
    this.#clock = clock;
    this.#way = way;
  }

  /** Does `work` when it is the list's turn. */
  async take<T>(list: { readonly account: string; readonly id: string }, work: () => Promise<T> | T): Promise<T> {
    const leave = await this.#gate.enter(list.account, list.id);
    const began = this.#clock.elapsed();
    try {
      return await work();
    } finally {
      await this.#way.rest(this.#clock.elapsed() - began);
      leave();
    }
  }
}
