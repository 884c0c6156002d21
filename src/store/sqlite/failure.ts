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

const resultCode = (error: unknown): number | null =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : null;

export const isBusy = (error: unknown): boolean => resultCode(error) === 5;

/** True when the store as a whole cannot write now: disk full, locked, damaged, newer than this program. */
export const isOutage = (error: unknown): boolean =>
  error instanceof StoreVersionError || OUTAGES.has(resultCode(error) ?? -1);
