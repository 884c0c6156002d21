/** Work on many rows goes in short transactions, so that requests never wait long behind it. */

/** Rows in one transaction. */
export const BATCH_ROWS = 500;

/** SQLite runs synchronously: lets the requests that arrived meanwhile go first. */
export const yieldToEventLoop = (): Promise<void> => new Promise(setImmediate);

/**
 * Repeats a step, which returns how many rows it changed, until that is none, the sum reaches `most`, or `signal` aborts.
 * Returns the sum.
 */
export async function inBatches(
  step: () => Promise<number>,
  signal?: AbortSignal,
  most = Number.POSITIVE_INFINITY,
): Promise<number> {
  let total = 0;
  while (total < most && !signal?.aborted) {
    const changed = await step();
    if (changed === 0) break;
    total += changed;
    await yieldToEventLoop();
  }
  return total;
}
