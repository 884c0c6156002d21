/** How connections to PostgreSQL are made. */

import pg from 'pg';
import { ApiError } from '../../kernel/errors.ts';
import { StoreVersionError } from '../migrations.ts';

// SQLSTATEs, https://www.postgresql.org/docs/current/errcodes-appendix.html

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

const sqlStateOf = (error: unknown): string | null =>
  error instanceof pg.DatabaseError && error.code !== undefined ? error.code : null;

/** True when the connection to the server was lost, as opposed to a failed statement. */
export function isLost(error: unknown): boolean {
  const state = sqlStateOf(error);
  if (state !== null) return state.startsWith('08') || state.startsWith('57P') || state === '25P03';
  const own = [TypeError, RangeError, ApiError, StoreVersionError];
  return error instanceof Error && !own.some((kind) => error instanceof kind);
}

/** True when the transaction lost against another and may simply be tried again. */
export function isConflict(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === '40001' || state === '40P01';
}

/** True when a lock did not come within `lock_timeout`. */
export const isLocked = (error: unknown): boolean => sqlStateOf(error) === '55P03';

/** True when the store as a whole cannot write now. */
export function isPostgresOutage(error: unknown): boolean {
  const state = sqlStateOf(error);
  if (state === null) return error instanceof ApiError || error instanceof StoreVersionError || isLost(error);
  return OUTAGE_STATES.has(state) || OUTAGE_CLASSES.has(state.slice(0, 2));
}

/**
 * What a new database lacks, as an error with the SQL that fixes it; other errors as they are. `url`: without its
 * password, it is part of the message.
 */
export function explained(error: unknown, url: string): unknown {
  const state = sqlStateOf(error);
  const { username, pathname } = new URL(url);
  const role = pg.escapeIdentifier(decodeURIComponent(username) || 'mailvet');
  const database = pg.escapeIdentifier(decodeURIComponent(pathname.slice(1)) || 'mailvet');
  const remedies: Readonly<Record<string, string>> = {
    '28P01': `CREATE ROLE ${role} LOGIN PASSWORD '…'; or, if there is such a role: ALTER ROLE ${role} PASSWORD '…';`,
    '28000': `CREATE ROLE ${role} LOGIN PASSWORD '…'; pg_hba.conf has to let it in from this host`,
    '3D000': `CREATE DATABASE ${database} OWNER ${role} TEMPLATE template0 LOCALE 'C.UTF-8';`,
    '42501': `ALTER DATABASE ${database} OWNER TO ${role}; or, in that database: GRANT CREATE ON SCHEMA public TO ${role};`,
  };
  const remedy = remedies[state ?? ''];
  if (remedy === undefined || !(error instanceof Error)) return error;
  return new Error(`PostgreSQL says: ${error.message}. Run as its superuser: ${remedy}`, { cause: error });
}

/** int8 as a number: every bigint of ours is a time in ms, a count or credits, far below 2^53. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** A connection that does not answer for this long, ms, counts as lost. */
const ANSWER_TIMEOUT_MS = 30_000;
/** A node that stops within a transaction keeps its locks no longer, ms. */
const POOL_TRANSACTION_IDLE_MS = 10_000;

/** The server drops the session of a host that has vanished after about 20 s, instead of two hours. */
export const KEEPALIVES = 'SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 3; SET tcp_keepalives_count = 3';

/** Settings of every connection; those of the URL take precedence. */
function connectionConfig(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    types,
    fallback_application_name: 'mailvet',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    query_timeout: ANSWER_TIMEOUT_MS,
    idle_in_transaction_session_timeout: POOL_TRANSACTION_IDLE_MS,
  };
}

/**
 * A connection that may be lost at any time. Its queries say so, those under way and those to come; its `error` event
 * would say it again, and end the process where nobody listens, as a pool does not while a client is in use.
 */
class PostgresClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    this.on('error', () => undefined);
  }
}

/** Opens a connection outside the pool. */
export async function connectClient(url: string, extra: pg.ClientConfig = {}): Promise<pg.Client> {
  const client = new PostgresClient({ ...connectionConfig(url), ...extra });
  await client.connect();
  return client;
}

/** Opens at most `max` connections, for statements that may be sent ahead of the replies. */
export function openPool(url: string, max: number): pg.Pool {
  const pool = new pg.Pool({ ...connectionConfig(url), max, pipeline: true, Client: PostgresClient });
  // An idle connection was lost: it is replaced when one is needed.
  pool.on('error', () => undefined);
  return pool;
}

/** Closes without waiting for a peer that may have disappeared. */
export function discardClient(client: pg.Client): void {
  client.end().catch(() => undefined);
}
