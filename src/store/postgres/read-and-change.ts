/**
 * Changes that follow from what was read, with a short lock: charges of an account wait for as long as it is locked. So
 * this reads without a lock, and then sends the lock, a check that what was read is still so, the changes and the
 * commit together: the lock is not held while this process computes or waits for a reply.
 */

import { CompiledQuery, type Kysely, type Transaction } from 'kysely';
import pg from 'pg';
import type { ReadAndChange, ReadQueries, RowsRead } from '../driver.ts';
import { onlyRow } from '../rows.ts';
import type { Tables } from '../tables.ts';

// Several statements in one, for one round trip: whoever waits for a lock waits for all round trips under it.

/** See `StorageDriver.readTogether`. Rows come as JSON, in which numbers of 64 bits are numbers as well. */
export async function readTogether<Q extends ReadQueries>(trx: Transaction<Tables>, queries: Q): Promise<RowsRead<Q>> {
  return onlyRow((await trx.executeQuery(readStatement(queries))).rows);
}

/** Makes the statement of `readTogether`. */
function readStatement<Q extends ReadQueries>(queries: Q): CompiledQuery<RowsRead<Q>> {
  const names = Object.keys(queries);
  const { parts, parameters } = numbered(Object.values(queries).map((query) => query.compile()));
  const lists = parts.map((part, i) => `(SELECT coalesce(json_agg(r), '[]') FROM (${part}) AS r) AS "${names[i]}"`);
  return CompiledQuery.raw(`SELECT ${lists.join(', ')}`, parameters);
}

/** See `StorageDriver.writeTogether`. */
export async function writeTogether(trx: Transaction<Tables>, statements: readonly CompiledQuery[]): Promise<void> {
  if (statements.length > 0) await trx.executeQuery(writeOf(statements));
}

/** Makes the statement of `writeTogether`, of at least one. */
function writeOf(statements: readonly CompiledQuery[]): CompiledQuery {
  const { parts, parameters } = numbered(statements);
  const named = parts.map((part, i) => `part_${i} AS (${part})`);
  return CompiledQuery.raw(`WITH ${named.join(', ')} SELECT`, parameters);
}

/** Numbers the parameters of statements through. */
export function numbered(statements: readonly Pick<CompiledQuery, 'sql' | 'parameters'>[]) {
  const parameters: unknown[] = [];
  const parts = statements.map((statement) => {
    const before = parameters.length;
    parameters.push(...statement.parameters);
    return statement.sql.replace(/\$(\d+)/g, (_, n: string) => `$${Number(n) + before}`);
  });
  return { parts, parameters };
}

/** After a change by somebody else, more are likely: so many transactions then read under the lock from the start. */
const LOCKED_TRANSACTIONS = 8;

const rowDigest = ({ sql }: CompiledQuery) =>
  `SELECT r.*, encode(sha256(convert_to(r::text, 'UTF8')), 'hex') AS digest FROM (${sql} OFFSET 0) AS r`;

/** A statement cannot raise an error of its own: a text that is no number makes one. */
const CHANGED = 'mailvet: what was read has changed meanwhile';
const INVALID_TEXT = '22P02';
const isChanged = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === INVALID_TEXT && error.message.includes(CHANGED);

export const lockOf = (trx: Transaction<Tables>, ids: readonly string[]) =>
  trx.selectFrom('accounts').select('id').where('id', 'in', ids).orderBy('id').forNoKeyUpdate();

export class ReadsAndChanges {
  readonly #db: Kysely<Tables>;
  #locked = 0;

  /** `db`: on connections that are pipelined. */
  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** See `StorageDriver.readAndChange`. */
  async run<Q extends ReadQueries, T>(work: ReadAndChange<Q, T>): Promise<T> {
    if (this.#locked > 0) {
      this.#locked--;
      return this.#underLock(work);
    }
    const done = await this.#unlessChanged(work).catch((error: unknown) => {
      if (!isChanged(error)) throw error;
      this.#locked = LOCKED_TRANSACTIONS;
      return null;
    });
    return done === null ? this.#underLock(work) : done.result;
  }

  #underLock<Q extends ReadQueries, T>({ accounts, queries, plan }: ReadAndChange<Q, T>): Promise<T> {
    return this.#transaction(async (trx) => {
      await lockOf(trx, accounts).execute();
      const { result, changes, finish } = plan(trx, await readTogether(trx, queries(trx)));
      await writeTogether(trx, changes);
      await finish?.();
      return result;
    });
  }

  /** Null: the plan has to be finished under the lock. Rejects if what was read has changed. */
  async #unlessChanged<Q extends ReadQueries, T>({
    accounts,
    queries,
    plan,
  }: ReadAndChange<Q, T>): Promise<{ readonly result: T } | null> {
    let sent: Promise<unknown> = Promise.resolve();
    const committed = this.#transaction(async (trx) => {
      const read = readStatement(queries(trx));
      const [sql, parameters] = [rowDigest(read), [...read.parameters]];
      const query: CompiledQuery<RowsRead<Q> & { readonly digest: string }> = CompiledQuery.raw(sql, parameters);
      const row = onlyRow((await trx.executeQuery(query)).rows);
      const { result, changes, finish } = plan(trx, row);
      if (finish !== undefined) return null;
      if (changes.length === 0) return { result };
      const check = `SELECT CASE WHEN r.digest = $${parameters.length + 1} THEN 0
        ELSE ('${CHANGED}' || r.digest)::integer END FROM (${sql}) AS r`;
      const same = CompiledQuery.raw(check, [...parameters, row.digest]);
      const statements = [lockOf(trx, accounts).compile(), same, writeOf(changes)];
      await trx.getExecutor().provideConnection(async (connection) => {
        sent = Promise.all(statements.map((statement) => connection.executeQuery(statement)));
        // Awaited once the COMMIT is sent as well, which is a ROLLBACK after a failed statement.
        sent.catch(() => undefined);
      });
      return { result };
    });
    const [outcome] = await Promise.allSettled([committed]);
    await sent;
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }

  #transaction<T>(work: (trx: Transaction<Tables>) => Promise<T>): Promise<T> {
    return this.#db.transaction().setIsolationLevel('read committed').execute(work);
  }
}
