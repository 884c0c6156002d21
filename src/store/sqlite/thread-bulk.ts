/** Transactions of lists, imports and purges in the thread of the writer. */

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { LRUCache } from 'lru-cache';
import { bulkTransactions } from '../bulk.ts';
import type { BulkTransactions, TransactionDriver } from '../driver.ts';
import { addJob } from '../jobs/jobs.ts';
import type { AccountId, ListRecorded } from '../store.ts';
import type { Tables } from '../tables.ts';
import { readOutcomes } from './charge-message.ts';
import {
  addHits,
  bindable,
  filtersWith,
  insertRows,
  oneOf,
  RowsQuery,
  readAndChange,
  readTogether,
  writeTogether,
} from './statements.ts';
import { type BulkScope, query, resultOf, runForRows } from './thread-messages.ts';

// Kysely on a connection of this thread. A transaction that waits for nothing but its statements is one piece of work.

/** Kept prepared: preparing those of a small transaction takes longer than running them. */
const STATEMENTS = 64;

class SyncConnection implements DatabaseConnection {
  readonly db: DatabaseSync;
  readonly #prepared = new LRUCache<string, StatementSync>({ max: STATEMENTS });
  constructor(db: DatabaseSync) {
    this.db = db;
  }

  async executeQuery<R>(compiled: CompiledQuery): Promise<QueryResult<R>> {
    const statement = this.#statement(compiled.sql);
    if (compiled instanceof RowsQuery) {
      runForRows(statement, compiled);
      return { rows: [] };
    }
    return resultOf(query(statement, bindable(compiled.parameters)));
  }

  #statement(sql: string): StatementSync {
    const statement = this.#prepared.get(sql) ?? this.db.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }

  streamQuery(): never {
    throw new Error('Rows of SQLite are not streamed.');
  }
}

class SyncDriver implements Driver {
  readonly #connection: SyncConnection;
  constructor(db: DatabaseSync) {
    this.#connection = new SyncConnection(db);
  }
  async init(): Promise<void> {}
  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }
  async beginTransaction(): Promise<void> {
    this.#connection.db.exec('BEGIN IMMEDIATE');
  }
  async commitTransaction(): Promise<void> {
    this.#connection.db.exec('COMMIT');
  }
  async rollbackTransaction(): Promise<void> {
    if (this.#connection.db.isTransaction) this.#connection.db.exec('ROLLBACK');
  }
  async releaseConnection(): Promise<void> {}
  async destroy(): Promise<void> {}
}

export const syncDialect = (db: DatabaseSync): Dialect => ({
  createDriver: () => new SyncDriver(db),
  createAdapter: () => new SqliteAdapter(),
  createQueryCompiler: () => new SqliteQueryCompiler(),
  createIntrospector: (kysely) => new SqliteIntrospector(kysely),
});

const opened = new WeakMap<DatabaseSync, Kysely<Tables>>();

function kyselyOn(connection: DatabaseSync): Kysely<Tables> {
  const known = opened.get(connection) ?? new Kysely<Tables>({ dialect: syncDialect(connection) });
  opened.set(connection, known);
  return known;
}

/** As `BulkTransactions`, with outcomes as a message. */
export type ThreadBulk = Omit<BulkTransactions, 'record'> & {
  record(account: AccountId, list: string, outcomes: readonly unknown[]): Promise<ListRecorded>;
};

export function bulkTransactionsOn(connection: DatabaseSync, { now, retentionDays, policies }: BulkScope): ThreadBulk {
  const db = kyselyOn(connection);
  const driver: TransactionDriver = {
    retentionDays,
    now: async () => now,
    transaction: (work) => db.transaction().execute(work),
    lockAccounts: async () => {},
    oneOf,
    insertRows,
    addHits,
    filtersWith,
    readTogether,
    writeTogether,
    readAndChange: (work) => readAndChange(db, work),
    jobs: { add: (trx, job) => addJob({ now: async () => now, policies }, trx, job) },
  };
  const { record, ...others } = bulkTransactions(driver);
  return {
    ...others,
    record: (account, list, outcomes) => record(account, list, readOutcomes(account, list, outcomes)),
  };
}
