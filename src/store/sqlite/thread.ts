/**
 * A thread with a connection to a SQLite database: whatever waits for the disk or computes long waits here. Its end,
 * for any reason, closes the connection and rolls an open transaction back.
 */

import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { Plans } from '../../kernel/facts/plans.ts';
import { answerCalls } from '../../kernel/thread.ts';
import type { BulkTransactions } from '../driver.ts';
import { assertCompatible, type Migration, pending, type SchemaState } from '../migrations.ts';
import { ADDRESS_FILTER } from './address-filter.ts';
import type { ChargeTransactions } from './charge.ts';
import { type AnswersMessage, type ChargeMessage, query, runForRows, type ThreadResult } from './messages.ts';
import type { BulkScope } from './thread-bulk.ts';

/** `reader`: for statements that only read, beside the writer. */
type ConnectionRole = 'writer' | 'reader';

export interface StoreThreadOptions {
  /** It may be MEMORY. */
  readonly path: string;
  readonly role: ConnectionRole;
  readonly plans: Plans;
}

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

/** Reads the state without changing anything. */
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
const OPEN_TIMEOUT_MS = 5_000;

/** A connection to the file, which exists, or to a database in memory. Throws an error of SQLite. */
function openConnection(path: string, role: ConnectionRole): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: OPEN_TIMEOUT_MS, enableForeignKeyConstraints: true });
  try {
    for (const pragma of PRAGMAS[role]) db.exec(`PRAGMA ${pragma}`);
    db.function('mailvet_fold', { deterministic: true }, (text) =>
      typeof text === 'string' ? text.toLowerCase() : text,
    );
    db.aggregate('mailvet_address_filter', ADDRESS_FILTER);
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

/** The main thread calls these by name (`StoreSession`). */
const callsOn = (db: DatabaseSync, transactions: ChargeTransactions | null) => ({
  /** Runs one statement. */
  query: (sql: string, values: readonly SQLInputValue[]): ThreadResult => query(db.prepare(sql), values),

  /** Runs one statement once for each row of values. */
  rows(sql: string, width: number, parameters: readonly SQLInputValue[]): void {
    runForRows(db.prepare(sql), { width, parameters });
  },

  /** Takes the write lock, unless a transaction is open. */
  begin(): void {
    if (!db.isTransaction) db.exec('BEGIN IMMEDIATE');
  },

  commit: (): void => db.exec('COMMIT'),

  /** Ends the transaction, unless an error has done so. */
  rollback(): void {
    if (db.isTransaction) db.exec('ROLLBACK');
  },

  /** Runs a batch in one transaction. */
  charge(batch: ChargeMessage): AnswersMessage {
    if (transactions === null) throw new TypeError('This thread does not charge.');
    return transactions.run(batch);
  },

  /** That of the name (`BulkTransactions`). Nothing else is called meanwhile (`WriteMutex`). */
  async bulk(scope: BulkScope, name: keyof BulkTransactions, input: readonly unknown[]): Promise<unknown> {
    const all = (await import('./thread-bulk.ts')).bulkTransactionsOn(db, scope);
    return Reflect.apply(all[name], all, input);
  },

  migrate: (migrations: readonly Migration[], now: number) => migrate(db, migrations, now),

  schema: () => readState(db),

  /** Commits a write. `known`: the schema version of this program. */
  heartbeat(known: number, now: number): void {
    assertCompatible(readState(db), known);
    const { changes } = db.prepare('UPDATE heartbeat SET at = ? WHERE id = 1').run(now);
    if (Number(changes) !== 1) throw new Error('The store has lost its heartbeat row.');
  },

  close: (): void => db.close(),
});

export type StoreCalls = ReturnType<typeof callsOn>;

/** The first one opens the connection. */
export type StoreCall =
  | { readonly open: StoreThreadOptions }
  | { readonly name: keyof StoreCalls; readonly input: readonly unknown[] };

/** Throws an error of SQLite. */
async function openThread({ path, role, plans }: StoreThreadOptions): Promise<StoreCalls> {
  const db = openConnection(path, role);
  return callsOn(db, role === 'reader' ? null : new (await import('./charge.ts')).ChargeTransactions(db, plans));
}

let calls: StoreCalls | null = null;

answerCalls<StoreCall, unknown>(async (call) => {
  if ('open' in call) {
    calls = await openThread(call.open);
    return null;
  }
  if (calls === null) throw new TypeError('The connection is not open.');
  return Reflect.apply(calls[call.name], calls, call.input);
});
