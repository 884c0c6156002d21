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

class ImmediateDriver extends SqliteDriver {
  /** A transaction that reads first and writes later could find its snapshot outdated: so take the write lock first. */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }
}

class NodeSqliteDialect extends SqliteDialect {
  readonly #database: SqliteDatabase;
  constructor(database: SqliteDatabase) {
    super({ database });
    this.#database = database;
  }
  override createDriver(): SqliteDriver {
    return new ImmediateDriver({ database: this.#database });
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

export const sqliteDialect = (db: DatabaseSync): SqliteDialect => new NodeSqliteDialect(adapt(db));
