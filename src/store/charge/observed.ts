import type { Clock } from '../../kernel/clock.ts';
import type { ChargedBatch, RetryCause } from '../api/stats.ts';
import type { ChargeDriver } from './batcher.ts';
import type { Answer, ChargeRequest } from './state.ts';

type Retries = Record<RetryCause, number>;

export const noRetries = (): Retries => ({ conflict: 0, locked: 0, connection: 0, busy: 0 });

/** A driver that counts why it ran batches again. */
export interface CountingDriver extends ChargeDriver {
  readonly retries: Readonly<Retries>;
}

/** Tells of every batch that a driver runs. */
export class ObservedCharge implements ChargeDriver {
  readonly #driver: ChargeDriver;
  readonly #clock: Pick<Clock, 'elapsed'>;
  onBatch: (batch: ChargedBatch) => void = () => undefined;

  constructor(driver: ChargeDriver, clock: Pick<Clock, 'elapsed'>) {
    this.#driver = driver;
    this.#clock = clock;
  }

  open(): Promise<void> {
    return this.#driver.open();
  }

  get lanes(): number {
    return this.#driver.lanes;
  }

  get atOnce(): number {
    return this.#driver.atOnce;
  }

  isOutage(error: unknown): boolean {
    return this.#driver.isOutage(error);
  }

  async transact(requests: readonly ChargeRequest[], lane: number): Promise<Answer[]> {
    const began = this.#clock.elapsed();
    let committed = false;
    try {
      const answers = await this.#driver.transact(requests, lane);
      committed = true;
      return answers;
    } finally {
      this.onBatch({ requests: requests.length, ms: this.#clock.elapsed() - began, committed });
    }
  }
}
