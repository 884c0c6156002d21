import type { CompiledQuery, Kysely, Transaction } from 'kysely';
import type { ReadAndChange, ReadQueries, RowsRead } from '../driver.ts';
import type { Tables } from '../tables.ts';

/** See `StorageDriver.readTogether`. */
export async function readTogether<Q extends ReadQueries>(trx: Transaction<Tables>, queries: Q): Promise<RowsRead<Q>> {
  const read: Record<string, readonly unknown[]> = {};
  for (const [name, query] of Object.entries(queries)) read[name] = (await trx.executeQuery(query.compile())).rows;
  return read as RowsRead<Q>;
}

/** See `StorageDriver.writeTogether`. */
export async function writeTogether(trx: Transaction<Tables>, statements: readonly CompiledQuery[]): Promise<void> {
  for (const statement of statements) await trx.executeQuery(statement);
}

/** See `StorageDriver.readAndChange`. */
export const readAndChange = <Q extends ReadQueries, T>(
  db: Kysely<Tables>,
  { queries, plan }: ReadAndChange<Q, T>,
): Promise<T> =>
  db.transaction().execute(async (trx) => {
    const { result, changes, finish } = plan(trx, await readTogether(trx, queries(trx)));
    await writeTogether(trx, changes);
    await finish?.();
    return result;
  });
