/**
 * One writer at a time in this process, in order of arrival: there is one connection that writes, and a transaction on
 * it may take several messages.
 */
export class WriteMutex {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` after all work queued before it. */
  run<T>(work: () => T | Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Waits for the mutex; the returned function releases it. */
  acquire(): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = this.#last;
    this.#last = promise;
    return before.then(() => resolve);
  }
}
