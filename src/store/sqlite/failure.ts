import { ApiError } from '../../kernel/errors.ts';
import { StoreVersionError } from '../migrations.ts';

/** SQLite's result codes (https://www.sqlite.org/rescode.html), the primary one in the low byte. */
const OUTAGES = new Set([
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

/**
 * A thread of the store ended, by an error or for lack of memory. What it was doing is done or rolled back, as a whole.
 */
export class ThreadLostError extends Error {
  constructor(why: string) {
    super(`A thread of the store has ended (${why}).`);
    this.name = 'ThreadLostError';
  }
}

/** The same during a batch. */
export const unconfirmed = (cause: ThreadLostError): ApiError => {
  const sentence = 'The store stopped before it confirmed. If this was charged, its result is in the log.';
  return new ApiError('verification_unavailable', sentence, { retry_after: 5 }, cause);
};

const resultCode = (error: unknown): number | null =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : null;

export const isBusy = (error: unknown): boolean => resultCode(error) === 5;

/** True when the store as a whole cannot write now: disk full, locked, damaged, newer than this program. */
export const isOutage = (error: unknown): boolean =>
  error instanceof ThreadLostError ||
  error instanceof StoreVersionError ||
  (error instanceof ApiError && isOutage(error.cause)) ||
  OUTAGES.has(resultCode(error) ?? -1);
