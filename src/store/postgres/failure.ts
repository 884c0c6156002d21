/** SQLSTATEs, https://www.postgresql.org/docs/current/errcodes-appendix.html */
import pg from 'pg';
import { ApiError } from '../../kernel/errors.ts';
import { StoreVersionError } from '../migrations.ts';

/** Classes that say that the server as a whole cannot record now. */
const OUTAGE_CLASSES = new Set([
  '08', // connection exception
  '28', // authorization
  '3D', // the database is not there
  '53', // out of disk, memory or connections
  '57', // shut down, cancelled, starting up
  '58', // I/O error
  '40', // serialization failure or deadlock that stayed after retries
]);
const OUTAGE_STATES = new Set([
  '25006', // read-only: a standby
  '25P03', // idle in transaction for too long
  '55P03', // a lock was not to be had
]);

const stateOf = (error: unknown): string | null =>
  error instanceof pg.DatabaseError && error.code !== undefined ? error.code : null;

/** True when the connection to the server was lost, as opposed to a failed statement. */
export function isLost(error: unknown): boolean {
  const state = stateOf(error);
  if (state !== null) return state.startsWith('08') || state.startsWith('57P') || state === '25P03';
  const own = [TypeError, RangeError, ApiError, StoreVersionError];
  return error instanceof Error && !own.some((kind) => error instanceof kind);
}

/** True when the transaction lost against another and may simply be tried again. */
export function isConflict(error: unknown): boolean {
  const state = stateOf(error);
  return state === '40001' || state === '40P01';
}

/** True when a lock did not come within `lock_timeout`. */
export const isLocked = (error: unknown): boolean => stateOf(error) === '55P03';

/** True when the store as a whole cannot write now. */
export function isOutage(error: unknown): boolean {
  const state = stateOf(error);
  if (state === null) return error instanceof ApiError || error instanceof StoreVersionError || isLost(error);
  return OUTAGE_STATES.has(state) || OUTAGE_CLASSES.has(state.slice(0, 2));
}
