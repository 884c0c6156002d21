/**
 * A thread with a connection to a SQLite database: whatever waits for the disk or computes long waits here. Its end,
 * for any reason, closes the connection and rolls an open transaction back.
 */

import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { assertCompatible, type Migration, pending, type SchemaState, StoreVersionError } from '../migrations.ts';
import type { ChargeTransactions } from './charge.ts';
import type { ThreadBulk } from './thread-bulk.ts';
import {
  type BulkScope,
  type Calls,
  type ConnectionRole,
  type Operation,
  query,
  runForRows,
  type StoreThreadOptions,
  type ThreadCall,
  type ThreadFailure,
  type ThreadReply,
} from './thread-messages.ts';

/** Applies missing migrations. Takes the write lock first: when two processes start, the second finds none. */
function migrate(db: DatabaseSync, migrations: readonly Migration[], now: number): { from: number; to: number } {
  db.exec('BEGIN IMMEDIATE');
  try {
    db.exec(
      `CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL,
        compatible_from INTEGER) STRICT`,
    );
    // An earlier version made the table.
    if (!hasCompatibility(db)) db.exec('ALTER TABLE migrations ADD COLUMN compatible_from INTEGER');
    const { version: from } = readState(db);
    const missing = pending(migrations, readState(db));
    for (const { version, name, compatibleFrom, sql } of missing) {
      db.exec(sql);
      db.prepare('INSERT INTO migrations (version, name, applied_at, compatible_from) VALUES (?, ?, ?, ?)').run(
        version,
        name,
        now,
        compatibleFrom,
      );
    }
    db.exec('COMMIT');
    return { from, to: from + missing.length };
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** Without changing anything. */
function readState(db: DatabaseSync): SchemaState {
  if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").get() === undefined)
    return { version: 0, compatibleFrom: 0 };
  const compatible = hasCompatibility(db) ? 'coalesce(compatible_from, version)' : 'version';
  const row = db.prepare(`SELECT max(version) AS version, max(${compatible}) AS compatible FROM migrations`).get();
  return { version: Number(row?.version ?? 0), compatibleFrom: Number(row?.compatible ?? 0) };
}

const hasCompatibility = (db: DatabaseSync): boolean =>
  db.prepare("SELECT 1 FROM pragma_table_info('migrations') WHERE name = 'compatible_from'").get() !== undefined;

/** How long opening may wait for the lock of another process, ms. Afterwards `whenFree` waits. */
const OPEN_TIMEOUT = 5_000;

/** A connection to the file, which exists, or to a database in memory. Throws an error of SQLite. */
function openConnection(path: string, role: ConnectionRole): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: OPEN_TIMEOUT, enableForeignKeyConstraints: true });
  try {
    for (const pragma of PRAGMAS[role]) db.exec(`PRAGMA ${pragma}`);
    db.function('mailvet_fold', { deterministic: true }, (text) =>
      typeof text === 'string' ? text.toLowerCase() : text,
    );
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * The page cache of each connection, KiB. A charge writes to the ends of tables and of indexes, and what else it reads
 * comes from the system's file cache for little: neither twice nor eight times as much made a charge cheaper, and it
 * fills up.
 */
const CACHE = 'cache_size = -4096';

const PRAGMAS: Readonly<Record<ConnectionRole, readonly string[]>> = {
  writer: [
    'journal_mode = WAL',
    // A commit reaches the disk before it is acknowledged.
    'synchronous = FULL',
    // 8 MB of log between checkpoints. All requests under way wait for one: with 48 MB, one takes 15 ms of CPU time,
    // out of a log that no cache of the processor holds.
    'wal_autocheckpoint = 2000',
    CACHE,
    // Deleted data is overwritten, so that a copy of the file does not contain what was erased.
    'secure_delete = ON',
    'busy_timeout = 0',
  ],
  reader: ['query_only = ON', CACHE, 'busy_timeout = 0'],
};

const send = (reply: ThreadReply): void => parentPort?.postMessage(reply);

function failureOf(error: unknown): ThreadFailure {
  if (error instanceof StoreVersionError) return { newer: error.state, known: error.known };
  if (!(error instanceof Error)) return { message: String(error) };
  const { message, code, errcode }: Error & { code?: unknown; errcode?: unknown } = error;
  return { message, code, errcode };
}

/** Loaded with the first of them. */
const bulk = async (db: DatabaseSync, scope: BulkScope): Promise<ThreadBulk> =>
  (await import('./thread-bulk.ts')).bulkTransactionsOn(db, scope);

function heartbeat(db: DatabaseSync, known: number, now: number): void {
  assertCompatible(readState(db), known);
  const { changes } = db.prepare('UPDATE heartbeat SET at = ? WHERE id = 1').run(now);
  if (Number(changes) !== 1) throw new Error('The store has lost its heartbeat row.');
}

function serve(db: DatabaseSync, transactions: ChargeTransactions | null): void {
  function run(call: ThreadCall): Calls[Operation]['output'] | Promise<Calls[Operation]['output']> {
    switch (call[1]) {
      case 'query':
        return query(db.prepare(call[2]), call[3]);
      case 'rows':
        runForRows(db.prepare(call[2]), { width: call[3], parameters: call[4] });
        return null;
      case 'script':
        db.exec(call[2]);
        return null;
      case 'begin':
        if (!db.isTransaction) db.exec('BEGIN IMMEDIATE');
        return null;
      case 'rollback':
        if (db.isTransaction) db.exec('ROLLBACK');
        return null;
      case 'charge':
        if (transactions === null) throw new TypeError('This thread does not charge.');
        return transactions.run(call[2]);
      case 'listAppend':
        return bulk(db, call[2]).then(({ append }) => append(call[3], call[4], call[5]));
      case 'listClaim':
        return bulk(db, call[2]).then(({ claim }) => claim(call[3]));
      case 'listClaimWaiting':
        return bulk(db, call[2]).then(({ claimWaiting }) => claimWaiting(call[3]));
      case 'listRecord':
        return bulk(db, call[2]).then(({ record }) => record(call[3], call[4], call[5]));
      case 'filtersAdd':
        return bulk(db, call[2]).then(({ addFilters }) => addFilters(call[3], call[4], call[5]));
      case 'verificationsDelete':
        return bulk(db, call[2]).then(({ deleteVerifications }) => deleteVerifications(call[3]));
      case 'migrate':
        return migrate(db, call[2], call[3]);
      case 'schema':
        return readState(db);
      case 'heartbeat':
        heartbeat(db, call[2], call[3]);
        return null;
      case 'close':
        db.close();
        parentPort?.close();
        return null;
    }
  }

  parentPort?.on('message', (call: ThreadCall) => {
    const fail = (error: unknown) => send([call[0], failureOf(error)]);
    try {
      const output = run(call);
      // Nothing else is sent before its reply (`WriteMutex`).
      if (output instanceof Promise) output.then((late) => send([call[0], null, late]), fail);
      else send([call[0], null, output]);
    } catch (error) {
      fail(error);
    }
  });
}

async function start({ path, role }: StoreThreadOptions): Promise<void> {
  try {
    const db = openConnection(path, role);
    serve(db, role === 'reader' ? null : new (await import('./charge.ts')).ChargeTransactions(db));
    send([0, null]);
  } catch (error) {
    send([0, failureOf(error)]);
  }
}

const options: StoreThreadOptions = workerData;
await start(options);
