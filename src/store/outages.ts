/** A database that cannot be used now: the caller of an operation gets a 503. */
import {
  type DatabaseConnection,
  type Dialect,
  type Driver,
  isAbortedTransactionError,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import { ApiError } from '../kernel/errors.ts';

type IsOutage = (error: unknown) => boolean;

const RETRY_AFTER_SECONDS = 5;
const STORE_OUTAGE = 'The store cannot be used right now.';
const LOST_COMMIT = 'The store stopped answering before it confirmed. What was to be changed may have been changed.';

/** The error to throw instead of that of a database. */
export function outageError(error: unknown, isOutage: IsOutage, sentence = STORE_OUTAGE): unknown {
  if (error instanceof ApiError || isAbortedTransactionError(error) || !isOutage(error)) return error;
  return new ApiError('verification_unavailable', sentence, { retry_after: RETRY_AFTER_SECONDS }, error);
}

class OutageConnection implements DatabaseConnection {
  readonly inner: DatabaseConnection;
  readonly #isOutage: IsOutage;

  constructor(inner: DatabaseConnection, isOutage: IsOutage) {
    this.inner = inner;
    this.#isOutage = isOutage;
  }

  async executeQuery<R>(...input: Parameters<DatabaseConnection['executeQuery']>): Promise<QueryResult<R>> {
    try {
      return await this.inner.executeQuery<R>(...input);
    } catch (error) {
      throw outageError(error, this.#isOutage);
    }
  }

  streamQuery<R>(...input: Parameters<DatabaseConnection['streamQuery']>): AsyncIterableIterator<QueryResult<R>> {
    return this.inner.streamQuery<R>(...input);
  }
}

class OutageDriver implements Driver {
  readonly #inner: Driver;
  readonly #isOutage: IsOutage;

  constructor(inner: Driver, isOutage: IsOutage) {
    this.#inner = inner;
    this.#isOutage = isOutage;
  }

  init = (...input: Parameters<Driver['init']>) => this.#inner.init(...input);
  destroy = (...input: Parameters<Driver['destroy']>) => this.#inner.destroy(...input);

  async acquireConnection(...input: Parameters<Driver['acquireConnection']>): Promise<DatabaseConnection> {
    const inner = await this.#run(() => this.#inner.acquireConnection(...input));
    return new OutageConnection(inner, this.#isOutage);
  }

  beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    return this.#run(() => this.#inner.beginTransaction(innerOf(connection), settings));
  }

  commitTransaction(connection: DatabaseConnection): Promise<void> {
    return this.#run(() => this.#inner.commitTransaction(innerOf(connection)), LOST_COMMIT);
  }

  rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    return this.#run(() => this.#inner.rollbackTransaction(innerOf(connection)));
  }

  releaseConnection(connection: DatabaseConnection): Promise<void> {
    return this.#inner.releaseConnection(innerOf(connection));
  }

  async #run<T>(work: () => Promise<T>, sentence?: string): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw outageError(error, this.#isOutage, sentence);
    }
  }
}

function innerOf(connection: DatabaseConnection): DatabaseConnection {
  if (connection instanceof OutageConnection) return connection.inner;
  throw new TypeError('A connection of another driver.');
}

/** The same, with the errors that `isOutage` is true of as ApiError `verification_unavailable`. */
export const withOutages = (dialect: Dialect, isOutage: IsOutage): Dialect => ({
  createDriver: () => new OutageDriver(dialect.createDriver(), isOutage),
  createAdapter: () => dialect.createAdapter(),
  createQueryCompiler: () => dialect.createQueryCompiler(),
  createIntrospector: (db) => dialect.createIntrospector(db),
});
