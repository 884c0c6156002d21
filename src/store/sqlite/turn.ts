/**
 * One writer at a time in this process. A charge batch waits for SQLite's lock synchronously; were the lock held by a
 * transaction of ours that needs the event loop to go on, both would wait for ever.
 */
export class Turn {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` when all work given before it is done. */
  take<T>(work: () => T | Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Waits likewise for its turn, which lasts until the function that it answers is called. */
  begin(): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = this.#last;
    this.#last = promise;
    return before.then(() => resolve);
  }
}
