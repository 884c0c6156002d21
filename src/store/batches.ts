/** Work on many rows goes in short transactions, so that requests never wait long behind it. */
import { setTimeout } from 'node:timers/promises';
import { systemClock } from '../kernel/clock.ts';

/** One transaction has at most this many rows. */
export const BATCH_ROWS = 500;
/** Rows that one transaction deletes of a table that requests write to all the time. */
export const DELETED_ROWS = 100;

/** Rows in one read of an export: replies wait while they are written. */
export const EXPORT_ROWS = 250;

/** Beside requests, a rest is so many times as long as the work before it. */
export const REST = 2;

/** Lets the requests that arrived meanwhile go first. */
export const yieldToEventLoop = (): Promise<void> => new Promise(setImmediate);

/** Runs a step, then leaves the store to requests. */
export async function andRest<T>(step: () => Promise<T>): Promise<T> {
  const began = systemClock.elapsed();
  const result = await step();
  await setTimeout(REST * (systemClock.elapsed() - began));
  return result;
}

/**
 * Repeats a step, which returns how many rows it changed, with rests, until that is none, the sum reaches `most`, or
 * `signal` aborts. Returns the sum.
 */
export async function inBatches(
  step: () => Promise<number>,
  signal?: AbortSignal,
  most = Number.POSITIVE_INFINITY,
): Promise<number> {
  let total = 0;
  while (total < most && !signal?.aborted) {
    const changed = await andRest(step);
    if (changed === 0) break;
    total += changed;
  }
  return total;
}
