/** Kysely's dialect of SQLite on connections of any thread. Transactions take the write lock at once. */
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

export abstract class SqliteConnection implements DatabaseConnection {
  abstract executeQuery<R>(compiled: CompiledQuery): Promise<QueryResult<R>>;
  /** Takes the write lock at once. */
  abstract begin(): Promise<void>;
  abstract commit(): Promise<void>;
  abstract rollback(): Promise<void>;

  /** Nothing is read this way. */
  streamQuery(): never {
    throw new Error('Rows of SQLite are not streamed.');
  }
}

class SqliteConnections implements Driver {
  readonly #connect: () => SqliteConnection;
  constructor(connect: () => SqliteConnection) {
    this.#connect = connect;
  }
  async init(): Promise<void> {}
  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connect();
  }
  beginTransaction(connection: DatabaseConnection): Promise<void> {
    return ours(connection).begin();
  }
  commitTransaction(connection: DatabaseConnection): Promise<void> {
    return ours(connection).commit();
  }
  rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    return ours(connection).rollback();
  }
  async releaseConnection(): Promise<void> {}
  /** Who opened the threads closes them. */
  async destroy(): Promise<void> {}
}

function ours(connection: DatabaseConnection): SqliteConnection {
  if (connection instanceof SqliteConnection) return connection;
  throw new TypeError('A connection of another driver.');
}

class Adapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

export const sqliteDialect = (connect: () => SqliteConnection): Dialect => ({
  createDriver: () => new SqliteConnections(connect),
  createAdapter: () => new Adapter(),
  createQueryCompiler: () => new SqliteQueryCompiler(),
  createIntrospector: (db) => new SqliteIntrospector(db),
});
