/** The main thread's end of the threads with the connections is here (thread.ts). */
import type { SQLInputValue } from 'node:sqlite';
import type { CompiledQuery, Dialect, QueryResult } from 'kysely';
import { ThreadEndedError, ThreadSession, threadCode } from '../../kernel/thread.ts';
import { StoreVersionError } from '../migrations.ts';
import { SqliteConnection, sqliteDialect } from './dialect.ts';
import { whenFree } from './failure.ts';
import { resultOf, type ThreadResult } from './messages.ts';
import { bindable, RowsQuery } from './statements.ts';
import type { StoreCall, StoreCalls, StoreThreadOptions } from './thread.ts';

export type OnLost = (error: ThreadEndedError) => void;

/**
 * One writer at a time in this process, in order of arrival: there is one connection that writes, and a transaction on
 * it may take several messages. Batches of charges, each of which is one message, may be under way together.
 */
export class WriteMutex {
  /** All that was queued. */
  #last: Promise<unknown> = Promise.resolve();
  /** What was queued last to run alone, and all before it. */
  #lastAlone: Promise<unknown> = Promise.resolve();

  /** Runs `work` after all work queued before it. */
  run<T>(work: () => T | Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    this.#lastAlone = this.#last;
    return result;
  }

  /** Runs `work` beside other such work, after whatever was queued before it to run alone. */
  runShared<T>(work: () => T | Promise<T>): Promise<T> {
    const [before, result] = [this.#last, this.#lastAlone.then(work)];
    const ended = () => before;
    this.#last = result.then(ended, ended);
    return result;
  }

  /** Waits for the mutex; the returned function releases it. */
  acquire(): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = this.#last;
    this.#last = promise;
    this.#lastAlone = promise;
    return before.then(() => resolve);
  }
}

/** Its heap needs this many MB for the short-lived objects of a few batches. */
const STORE_YOUNG_MB = 8;

/** The path of a database that its connection keeps in memory. */
export const MEMORY = ':memory:';

/** Lasts from the start of one thread with its connection to its end. */
export class StoreSession {
  readonly #thread = new ThreadSession<StoreCall, unknown>({
    code: threadCode(import.meta.url, './thread.ts', './sqlite-thread.js'),
    limits: { maxYoungGenerationSizeMb: STORE_YOUNG_MB },
  });

  /** Throws an Error of SQLite when the database cannot be opened. */
  static async open(options: StoreThreadOptions): Promise<StoreSession> {
    const session = new StoreSession();
    try {
      await session.#thread.call({ open: options });
      return session;
    } catch (error) {
      await session.#thread.end();
      throw error;
    }
  }

  /** Resolves when the thread has ended. */
  get exited(): Promise<ThreadEndedError> {
    return this.#thread.exited;
  }

  /** Rejects with ThreadEndedError when the thread ends before it answers: the outcome is unknown. */
  async call<N extends keyof StoreCalls>(
    name: N,
    ...input: Parameters<StoreCalls[N]>
  ): Promise<Awaited<ReturnType<StoreCalls[N]>>> {
    try {
      return (await this.#thread.call({ name, input })) as Awaited<ReturnType<StoreCalls[N]>>;
    } catch (error) {
      throw newerStore(error) ?? error;
    }
  }

  /** It closes after the calls before it. */
  async close(): Promise<void> {
    // Its end closes the connection as well.
    await this.#thread.call({ name: 'close', input: [] }).catch(() => undefined);
    await this.#thread.end();
  }
}

/** The StoreVersionError that a thread threw. */
function newerStore(error: unknown): StoreVersionError | null {
  if (!(error instanceof Error) || error.name !== 'StoreVersionError') return null;
  const { found, compatibleFrom, known }: Error & Partial<StoreVersionError> = error;
  return new StoreVersionError({ version: Number(found), compatibleFrom: Number(compatibleFrom) }, Number(known));
}

/** A thread that is started again when it was lost; but not with a database in memory, which was lost with it. */
export class StoreThread {
  readonly #options: StoreThreadOptions;
  readonly #onLost: OnLost;
  #current: Promise<StoreSession> | null = null;
  #before: StoreSession | null = null;
  #closed = false;

  constructor(options: StoreThreadOptions, onLost: OnLost) {
    this.#options = options;
    this.#onLost = onLost;
  }

  /** Whether it was used or started. */
  get started(): boolean {
    return this.#current !== null || this.#before !== null;
  }

  /** Starts it in the background; what fails is reported by the next call. */
  start(): void {
    this.session().catch(() => undefined);
  }

  /** Throws an Error of SQLite when the database cannot be opened. */
  session(): Promise<StoreSession> {
    if (this.#closed) return Promise.reject(new Error('The store is closed.'));
    this.#current ??= this.#open().catch((error: unknown) => {
      this.#current = null;
      throw error;
    });
    return this.#current;
  }

  async call<N extends keyof StoreCalls>(
    name: N,
    ...input: Parameters<StoreCalls[N]>
  ): Promise<Awaited<ReturnType<StoreCalls[N]>>> {
    return (await this.session()).call(name, ...input);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const session = await this.#current?.catch(() => null);
    await session?.close();
  }

  async #open(): Promise<StoreSession> {
    // Its connection holds its locks until it has ended.
    await this.#before?.exited;
    const session = await StoreSession.open(this.#options);
    this.#before = session;
    void session.exited.then((error) => {
      if (this.#closed) return;
      if (this.#options.path !== MEMORY) this.#current = null;
      this.#onLost(error);
    });
    return session;
  }
}

/** A transaction without a statement for so long is rolled back, ms: charges wait for its end. */
const TRANSACTION_IDLE_MS = 10_000;

export interface ThreadAccess {
  readonly writer: StoreThread;
  /** It serves reads, so that charges do not wait for them. */
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
class ThreadConnection extends SqliteConnection {
  readonly #access: ThreadAccess;
  #transaction: OpenTransaction | null = null;

  constructor(access: ThreadAccess) {
    super();
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

  async begin(): Promise<void> {
    const { writer, mutex } = this.#access;
    const end = await mutex.acquire();
    try {
      const session = await writer.session();
      // A transaction that reads before it writes could find its snapshot outdated: take the write lock first.
      await whenFree(() => session.call('begin'));
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
  /** It began in this session: a thread that was started again has lost it. */
  readonly #session: StoreSession;
  readonly #release: () => void;
  #idle: NodeJS.Timeout | null = null;
  #ended: 'given up' | 'committed' | null = null;

  constructor(session: StoreSession, release: () => void) {
    this.#session = session;
    this.#release = release;
    this.#wait();
  }

  query(sql: string, values: readonly SQLInputValue[]): Promise<ThreadResult> {
    return this.#call((session) => session.call('query', sql, values));
  }

  rows({ sql, width, parameters }: RowsQuery): Promise<void> {
    return this.#call((session) => session.call('rows', sql, width, parameters));
  }

  async #call<T>(work: (session: StoreSession) => Promise<T>): Promise<T> {
    this.#begin();
    try {
      return await work(this.#session);
    } finally {
      this.#wait();
    }
  }

  /** Throws when nothing was committed; after a ThreadEndedError that is not known. */
  async commit(): Promise<void> {
    this.#begin();
    try {
      await this.#session.call('commit');
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
      if (!(error instanceof ThreadEndedError)) throw error;
    } finally {
      this.#release();
    }
  }

  #begin(): void {
    if (this.#ended !== null)
      throw new Error(`The transaction was idle for ${TRANSACTION_IDLE_MS / 1000} s and was rolled back.`);
    if (this.#idle !== null) clearTimeout(this.#idle);
  }

  #wait(): void {
    const giveUp = () => void this.rollback().catch(() => undefined);
    this.#idle = setTimeout(giveUp, TRANSACTION_IDLE_MS).unref();
  }
}

export const threadDialect = (access: ThreadAccess): Dialect => sqliteDialect(() => new ThreadConnection(access));
