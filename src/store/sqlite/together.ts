import type { CompiledQuery, Transaction } from 'kysely';
import type { ReadQueries, RowsRead } from '../driver.ts';
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
