/** Kysely on node:sqlite: Kysely's SQLite dialect over a small adapter; transactions take the write lock at once. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import {
  CompiledQuery,
  type DatabaseConnection,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
  type SqliteStatement,
} from 'kysely';
import { whenFree } from './busy.ts';
import type { WriteMutex } from './write-mutex.ts';

/**
 * Takes the mutex for every transaction, including those that the sign-in library begins. There is one connection, used
 * by one transaction at a time, so there is one release function to keep.
 */
class ImmediateDriver extends SqliteDriver {
  readonly #turn: WriteMutex;
  #end: (() => void) | null = null;
  #waiting: DatabaseConnection | null = null;
  constructor(database: SqliteDatabase, mutex: WriteMutex) {
    super({ database });
    this.#turn = mutex;
  }
  /** Statements wait for the lock of another process. */
  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection();
    this.#waiting ??= {
      executeQuery: (query) => whenFree(() => connection.executeQuery(query)),
      streamQuery: (query, chunkSize) => connection.streamQuery(query, chunkSize),
    };
    return this.#waiting;
  }
  /** A transaction that reads before it writes could find its snapshot outdated: take the write lock first. */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    this.#end = await this.#turn.acquire();
    try {
      await connection.executeQuery(CompiledQuery.raw('begin immediate'));
    } catch (error) {
      this.#release();
      throw error;
    }
  }
  /** After a failed commit the mutex is kept until the rollback. */
  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await super.commitTransaction(connection);
    this.#release();
  }
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await super.rollbackTransaction(connection);
    } finally {
      this.#release();
    }
  }
  #release(): void {
    this.#end?.();
    this.#end = null;
  }
}

class NodeSqliteDialect extends SqliteDialect {
  readonly #database: SqliteDatabase;
  readonly #turn: WriteMutex;
  constructor(database: SqliteDatabase, mutex: WriteMutex) {
    super({ database });
    this.#database = database;
    this.#turn = mutex;
  }
  override createDriver(): SqliteDriver {
    return new ImmediateDriver(this.#database, this.#turn);
  }
}

/** Kysely types parameters as unknown; node:sqlite rejects other types when it binds them. */
const parameters = (values: readonly unknown[]): SQLInputValue[] => values as SQLInputValue[];

function adapt(db: DatabaseSync): SqliteDatabase {
  return {
    // file.ts closes the connections.
    close() {},
    prepare(sql): SqliteStatement {
      const statement = db.prepare(sql);
      return {
        reader: statement.columns().length > 0,
        all: (values) => statement.all(...parameters(values)),
        run: (values) => statement.run(...parameters(values)),
        iterate: (values) => statement.iterate(...parameters(values)),
      };
    },
  };
}

export const sqliteDialect = (db: DatabaseSync, mutex: WriteMutex): SqliteDialect =>
  new NodeSqliteDialect(adapt(db), mutex);
