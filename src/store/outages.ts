/** A database that cannot be used now: whoever asked for an operation gets an error to be told, a 503. */
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
const OUTAGE = 'The store cannot be used right now.';
const LOST_COMMIT = 'The store stopped answering before it confirmed. What was to be changed may have been changed.';

/** To be thrown instead of the error of a database. */
export function told(error: unknown, isOutage: IsOutage, sentence = OUTAGE): unknown {
  if (error instanceof ApiError || isAbortedTransactionError(error) || !isOutage(error)) return error;
  return new ApiError('verification_unavailable', sentence, { retry_after: RETRY_AFTER_SECONDS }, error);
}

class ToldConnection implements DatabaseConnection {
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
      throw told(error, this.#isOutage);
    }
  }

  streamQuery<R>(...input: Parameters<DatabaseConnection['streamQuery']>): AsyncIterableIterator<QueryResult<R>> {
    return this.inner.streamQuery<R>(...input);
  }
}

class ToldDriver implements Driver {
  readonly #inner: Driver;
  readonly #isOutage: IsOutage;

  constructor(inner: Driver, isOutage: IsOutage) {
    this.#inner = inner;
    this.#isOutage = isOutage;
  }

  init = (...input: Parameters<Driver['init']>) => this.#inner.init(...input);
  destroy = (...input: Parameters<Driver['destroy']>) => this.#inner.destroy(...input);

  async acquireConnection(...input: Parameters<Driver['acquireConnection']>): Promise<DatabaseConnection> {
    const inner = await this.#tell(() => this.#inner.acquireConnection(...input));
    return new ToldConnection(inner, this.#isOutage);
  }

  beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    return this.#tell(() => this.#inner.beginTransaction(innerOf(connection), settings));
  }

  commitTransaction(connection: DatabaseConnection): Promise<void> {
    return this.#tell(() => this.#inner.commitTransaction(innerOf(connection)), LOST_COMMIT);
  }

  rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    return this.#tell(() => this.#inner.rollbackTransaction(innerOf(connection)));
  }

  releaseConnection(connection: DatabaseConnection): Promise<void> {
    return this.#inner.releaseConnection(innerOf(connection));
  }

  async #tell<T>(work: () => Promise<T>, sentence?: string): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw told(error, this.#isOutage, sentence);
    }
  }
}

function innerOf(connection: DatabaseConnection): DatabaseConnection {
  if (connection instanceof ToldConnection) return connection.inner;
  throw new TypeError('A connection of another driver.');
}

/** The same, with the errors that `isOutage` is true of as ApiError `verification_unavailable`. */
export const tellingOutages = (dialect: Dialect, isOutage: IsOutage): Dialect => ({
  createDriver: () => new ToldDriver(dialect.createDriver(), isOutage),
  createAdapter: () => dialect.createAdapter(),
  createQueryCompiler: () => dialect.createQueryCompiler(),
  createIntrospector: (db) => dialect.createIntrospector(db),
});
