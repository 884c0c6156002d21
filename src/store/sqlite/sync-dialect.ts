/**
 * Kysely on a connection of this thread. A transaction that waits for nothing but its statements is one piece of work.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { LRUCache } from 'lru-cache';
import { bindable } from './bindable.ts';
import { query, rowsOf, writeRows } from './query.ts';
import { RowsQuery } from './rows-query.ts';

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
      writeRows(statement, compiled);
      return { rows: [] };
    }
    return rowsOf(query(statement, bindable(compiled.parameters)));
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
