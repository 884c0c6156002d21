/**
 * One writer at a time in this process, in order of arrival: there is one connection that writes, and a transaction on
 * it may take several messages. Batches of charges, each of which is one message, may be under way together.
 */
export class WriteMutex {
  /** All that was queued. */
  #last: Promise<unknown> = Promise.resolve();
  /** What was queued last to run alone, and all before it. */
  #lastAlone: Promise<unknown> = Promise.resolve();

  /** Runs `work` after all work queued before it. */
  run<T>(work: () => T | Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    this.#lastAlone = this.#last;
    return result;
  }

  /** Runs `work` beside other such work, after whatever was queued before it to run alone. */
  runShared<T>(work: () => T | Promise<T>): Promise<T> {
    const [before, result] = [this.#last, this.#lastAlone.then(work)];
    const ended = () => before;
    this.#last = result.then(ended, ended);
    return result;
  }

  /** Waits for the mutex; the returned function releases it. */
  acquire(): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = this.#last;
    this.#last = promise;
    this.#lastAlone = promise;
    return before.then(() => resolve);
  }
}
