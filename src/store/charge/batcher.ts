/**
 * Micro-batches without a timer: while one commit is under way the next batch fills. One queue, first come, first
 * served, for admissions and settlements alike.
 */
import { ApiError } from '../../kernel/errors.ts';
import type { Admission, AdmissionRequest, Charging, ChargingStats, Settlement } from '../store.ts';
import type { Answer, ChargeRequest } from './state.ts';

/** Runs a batch in one transaction. */
export interface ChargeDriver {
  /** Resolves, after the commit, with an answer per request, in order; rejects when nothing was recorded. */
  transact(requests: readonly ChargeRequest[]): Promise<Answer[]>;
  /** Whether the store as a whole cannot write now, as opposed to one faulty request. */
  isOutage(error: unknown): boolean;
}

interface Waiting {
  readonly request: ChargeRequest;
  resolve(value: unknown): void;
  readonly reject: (error: unknown) => void;
}

interface BatchLimits {
  /** Requests that may wait before `admit` answers `overloaded`. */
  readonly queue: number;
  /** Requests in one transaction. */
  readonly batch: number;
}

export class Batcher implements Charging {
  readonly #engine: ChargeDriver;
  readonly #limits: BatchLimits;
  #queue: Waiting[] = [];
  #running: Promise<void> | null = null;
  #closed = false;
  readonly #stats = { batches: 0, answered: 0, failed: 0, overloaded: 0 };

  constructor(driver: ChargeDriver, limits: BatchLimits) {
    this.#engine = driver;
    this.#limits = limits;
  }

  get waiting(): number {
    return this.#queue.length;
  }
  get stats(): ChargingStats {
    return this.#stats;
  }

  admit(request: AdmissionRequest): Promise<Admission> {
    if (this.#queue.length >= this.#limits.queue) {
      this.#stats.overloaded += 1;
      return Promise.reject(new ApiError('overloaded', undefined, { retry_after: 1 }));
    }
    return this.#enqueue({ kind: 'admit', admit: request });
  }

  settle(settlement: Settlement): Promise<{ balance: number }> {
    return this.#enqueue({ kind: 'settle', settle: settlement });
  }

  /** Completes queued requests; later ones are rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    while (this.#running !== null) await this.#running;
  }

  #enqueue<T>(request: ChargeRequest): Promise<T> {
    if (this.#closed) return Promise.reject(unavailable(new Error('The store is closed.')));
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ request, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  async #run(): Promise<void> {
    do {
      // Requests received in the same turn of the event loop share a transaction.
      await new Promise(setImmediate);
      await this.#commit(this.#queue.splice(0, this.#limits.batch));
    } while (this.#queue.length > 0);
    this.#running = null;
  }

  async #commit(batch: readonly Waiting[]): Promise<void> {
    const error = await this.#transact(batch);
    if (error === null) return;
    if (this.#engine.isOutage(error.cause)) return this.#fail(batch, error.cause);
    const [first, ...others] = batch;
    if (first !== undefined && others.length === 0) return this.#answer(first, { error: error.cause });
    // One request is at fault: run each alone, so that the others succeed.
    for (const [i, waiting] of batch.entries()) {
      const alone = await this.#transact([waiting]);
      if (alone === null) continue;
      if (this.#engine.isOutage(alone.cause)) return this.#fail(batch.slice(i), alone.cause);
      this.#answer(waiting, { error: alone.cause });
    }
  }

  /** Null when the batch was committed and answered, else the cause. */
  async #transact(batch: readonly Waiting[]): Promise<{ cause: unknown } | null> {
    this.#stats.batches += 1;
    try {
      const answers = await this.#engine.transact(batch.map((waiting) => waiting.request));
      for (const [i, waiting] of batch.entries())
        this.#answer(waiting, answers[i] ?? { error: new Error('The driver left a request unanswered.') });
      return null;
    } catch (cause) {
      return { cause };
    }
  }

  #answer(waiting: Waiting, answer: Answer): void {
    this.#stats.answered += 1;
    if ('error' in answer) waiting.reject(answer.error);
    else waiting.resolve(answer.value);
  }

  #fail(batch: readonly Waiting[], cause: unknown): void {
    this.#stats.failed += batch.length;
    for (const waiting of batch) waiting.reject(unavailable(cause));
  }
}

const unavailable = (cause: unknown): ApiError =>
  cause instanceof ApiError
    ? cause
    : new ApiError(
        'verification_unavailable',
        'The store cannot record results right now; nothing was charged.',
        { retry_after: 5 },
        cause,
      );
