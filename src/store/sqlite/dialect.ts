/** Kysely on the threads of a SQLite file; transactions take the write lock at once. */
import type { SQLInputValue } from 'node:sqlite';
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
import { ThreadLostError, whenFree } from './failure.ts';
import { bindable, RowsQuery } from './statements.ts';
import type { StoreThread, ThreadSession, WriteMutex } from './thread-client.ts';
import { resultOf, type ThreadResult } from './thread-messages.ts';

/** A transaction without a statement for so long is rolled back, ms: charges wait for its end. */
const IDLE_MS = 10_000;

export interface ThreadAccess {
  readonly writer: StoreThread;
  /** For reads, so that charges do not wait for them. */
  readonly reader: StoreThread;
  /**
   * Whether the reader is used: from the first charge on, as what only reads and writes a little, such as a command,
   * does without; never for a database in memory, which belongs to its connection.
   */
  readonly readsBeside: () => boolean;
  /** Taken by everything that uses the writer. */
  readonly mutex: WriteMutex;
}

/**
 * Reads one after the other beside a writer. Everything else takes its turn, with the lock of other processes waited
 * for.
 */
class ThreadConnection implements DatabaseConnection {
  readonly #access: ThreadAccess;
  #transaction: OpenTransaction | null = null;

  constructor(access: ThreadAccess) {
    this.#access = access;
  }

  async executeQuery<R>(compiled: CompiledQuery): Promise<QueryResult<R>> {
    if (compiled instanceof RowsQuery) {
      if (this.#transaction === null) throw new Error('Many rows are written in a transaction.');
      await this.#transaction.rows(compiled);
      return { rows: [] };
    }
    const { query, sql, parameters } = compiled;
    const values = bindable(parameters);
    if (this.#transaction !== null) return resultOf(await this.#transaction.query(sql, values));
    const { writer, reader, readsBeside, mutex } = this.#access;
    const reads = query.kind === 'SelectQueryNode' || (query.kind === 'RawNode' && /^\s*select\b/i.test(sql));
    const run = (thread: StoreThread) => whenFree(() => thread.call('query', sql, values));
    return resultOf(await (reads && readsBeside() ? run(reader) : mutex.run(() => run(writer))));
  }

  /** Nothing is read this way. */
  streamQuery(): never {
    throw new Error('Rows of SQLite are not streamed.');
  }

  async begin(): Promise<void> {
    const { writer, mutex } = this.#access;
    const end = await mutex.acquire();
    try {
      const session = await writer.session();
      // A transaction that reads before it writes could find its snapshot outdated: take the write lock first.
      await whenFree(() => session.call('script', 'BEGIN IMMEDIATE'));
      this.#transaction = new OpenTransaction(session, end);
    } catch (error) {
      end();
      throw error;
    }
  }

  /** After a failed commit the mutex is kept until the rollback. */
  async commit(): Promise<void> {
    await this.#transaction?.commit();
    this.#transaction = null;
  }

  async rollback(): Promise<void> {
    await this.#transaction?.rollback();
    this.#transaction = null;
  }
}

class OpenTransaction {
  /** In which it began: a thread that was started again has lost it. */
  readonly #session: ThreadSession;
  readonly #release: () => void;
  #idle: NodeJS.Timeout | null = null;
  #ended: 'given up' | 'committed' | null = null;

  constructor(session: ThreadSession, release: () => void) {
    this.#session = session;
    this.#release = release;
    this.#wait();
  }

  query(sql: string, values: readonly SQLInputValue[]): Promise<ThreadResult> {
    return this.#call((session) => session.call('query', sql, values));
  }

  rows({ sql, width, parameters }: RowsQuery): Promise<null> {
    return this.#call((session) => session.call('rows', sql, width, parameters));
  }

  async #call<T>(work: (session: ThreadSession) => Promise<T>): Promise<T> {
    this.#begin();
    try {
      return await work(this.#session);
    } finally {
      this.#wait();
    }
  }

  /** Throws when nothing was committed; after a ThreadLostError that is not known. */
  async commit(): Promise<void> {
    this.#begin();
    try {
      await this.#session.call('script', 'COMMIT');
    } catch (error) {
      this.#wait();
      throw error;
    }
    this.#ended = 'committed';
    this.#release();
  }

  /** Does not throw where the thread was lost, as its end is a rollback. */
  async rollback(): Promise<void> {
    if (this.#ended !== null) return;
    this.#begin();
    this.#ended = 'given up';
    try {
      await this.#session.call('rollback');
    } catch (error) {
      if (!(error instanceof ThreadLostError)) throw error;
    } finally {
      this.#release();
    }
  }

  #begin(): void {
    if (this.#ended !== null) throw new Error(`The transaction was idle for ${IDLE_MS / 1000} s and was rolled back.`);
    if (this.#idle !== null) clearTimeout(this.#idle);
  }

  #wait(): void {
    const giveUp = () => void this.rollback().catch(() => undefined);
    this.#idle = setTimeout(giveUp, IDLE_MS).unref();
  }
}

class ThreadDriver implements Driver {
  readonly #access: ThreadAccess;
  constructor(access: ThreadAccess) {
    this.#access = access;
  }
  async init(): Promise<void> {}
  async acquireConnection(): Promise<DatabaseConnection> {
    return new ThreadConnection(this.#access);
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
  /** file.ts closes the threads. */
  async destroy(): Promise<void> {}
}

function ours(connection: DatabaseConnection): ThreadConnection {
  if (connection instanceof ThreadConnection) return connection;
  throw new TypeError('A connection of another driver.');
}

class Adapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

export const threadDialect = (access: ThreadAccess): Dialect => ({
  createDriver: () => new ThreadDriver(access),
  createAdapter: () => new Adapter(),
  createQueryCompiler: () => new SqliteQueryCompiler(),
  createIntrospector: (db) => new SqliteIntrospector(db),
});
