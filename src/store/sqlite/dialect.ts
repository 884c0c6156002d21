/** Kysely on node:sqlite: its own SQLite dialect over a small adapter, with transactions that lock at once. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import {
  CompiledQuery,
  type DatabaseConnection,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
  type SqliteStatement,
} from 'kysely';
import type { Turn } from './turn.ts';

/**
 * The turn is taken here, for all who begin a transaction: the sign-in library does so by itself. There is one
 * connection, and Kysely gives it to one at a time; so there is one turn to remember.
 */
class ImmediateDriver extends SqliteDriver {
  readonly #turn: Turn;
  #end: (() => void) | null = null;
  constructor(database: SqliteDatabase, turn: Turn) {
    super({ database });
    this.#turn = turn;
  }
  /** A transaction that reads first and writes later could find its snapshot outdated: so take the write lock first. */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    this.#end = await this.#turn.begin();
    try {
      await connection.executeQuery(CompiledQuery.raw('begin immediate'));
    } catch (error) {
      this.#over();
      throw error;
    }
  }
  /** One that fails is rolled back next, and has its turn until then. */
  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await super.commitTransaction(connection);
    this.#over();
  }
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await super.rollbackTransaction(connection);
    } finally {
      this.#over();
    }
  }
  #over(): void {
    this.#end?.();
    this.#end = null;
  }
}

class NodeSqliteDialect extends SqliteDialect {
  readonly #database: SqliteDatabase;
  readonly #turn: Turn;
  constructor(database: SqliteDatabase, turn: Turn) {
    super({ database });
    this.#database = database;
    this.#turn = turn;
  }
  override createDriver(): SqliteDriver {
    return new ImmediateDriver(this.#database, this.#turn);
  }
}

function adapt(db: DatabaseSync): SqliteDatabase {
  return {
    // The engine closes its connections itself.
    close() {},
    prepare(sql): SqliteStatement {
      const statement = db.prepare(sql);
      return {
        reader: statement.columns().length > 0,
        all: (values) => statement.all(...(values as SQLInputValue[])),
        run: (values) => statement.run(...(values as SQLInputValue[])),
        iterate: (values) => statement.iterate(...(values as SQLInputValue[])),
      };
    },
  };
}

export const sqliteDialect = (db: DatabaseSync, turn: Turn): SqliteDialect => new NodeSqliteDialect(adapt(db), turn);
