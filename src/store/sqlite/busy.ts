import { setTimeout } from 'node:timers/promises';
import { isBusy } from './failure.ts';

/** How long to wait for the lock of another process, and how often to try, ms. */
const WITHIN_MS = 5_000;
const EVERY_MS = 5;

/**
 * Runs `work` as soon as no other process has the write lock; throws BUSY after 5 s. SQLite itself would wait
 * synchronously, which would stop this whole process. What fails as BUSY has done nothing. `onBusy`: before another
 * attempt.
 */
export async function whenFree<T>(work: () => T | Promise<T>, onBusy = () => {}): Promise<T> {
  for (let waited = 0; ; waited += EVERY_MS) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || waited >= WITHIN_MS) throw error;
    }
    onBusy();
    await setTimeout(EVERY_MS);
  }
}
