import { setTimeout } from 'node:timers/promises';
import { ApiError } from '../../kernel/errors.ts';
import { ThreadEndedError } from '../../kernel/thread.ts';
import { StoreVersionError } from '../migrations.ts';

/** SQLite's result codes (https://www.sqlite.org/rescode.html) have the primary one in the low byte. */
const OUTAGE_RESULTS = new Set([
  5, // BUSY: another process held the lock longer than busy_timeout
  6, // LOCKED
  7, // NOMEM
  8, // READONLY
  10, // IOERR
  11, // CORRUPT
  13, // FULL
  14, // CANTOPEN
  15, // PROTOCOL
  26, // NOTADB
]);

const resultCode = (error: unknown): number | null =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : null;

export const isBusy = (error: unknown): boolean => resultCode(error) === 5;

/** True when the store as a whole cannot write now: disk full, locked, damaged, newer than this program. */
export const isSqliteOutage = (error: unknown): boolean =>
  error instanceof ThreadEndedError ||
  error instanceof StoreVersionError ||
  (error instanceof ApiError && isSqliteOutage(error.cause)) ||
  OUTAGE_RESULTS.has(resultCode(error) ?? -1);

/** Says how long to wait for the lock of another process, and how often to try, ms. */
const BUSY_TIMEOUT_MS = 5_000;
const EVERY_MS = 5;

/**
 * Runs `work` as soon as no other process has the write lock; throws BUSY after 5 s. SQLite itself would wait
 * synchronously, which would stop this whole process. What fails as BUSY has done nothing. `onBusy`: before another
 * attempt.
 */
export async function whenFree<T>(work: () => T | Promise<T>, onBusy = () => {}): Promise<T> {
  for (let waitedMs = 0; ; waitedMs += EVERY_MS) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || waitedMs >= BUSY_TIMEOUT_MS) throw error;
    }
    onBusy();
    await setTimeout(EVERY_MS);
  }
}
