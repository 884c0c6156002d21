/** Several statements in one, for one round trip: whoever waits for a lock waits for all round trips under it. */
import { CompiledQuery, type Transaction } from 'kysely';
import type { ReadQueries, RowsRead } from '../driver.ts';
import { onlyRow } from '../rows.ts';
import type { Tables } from '../tables.ts';

/** See `StorageDriver.readTogether`. Rows come as JSON, in which numbers of 64 bits are numbers as well. */
export async function readTogether<Q extends ReadQueries>(trx: Transaction<Tables>, queries: Q): Promise<RowsRead<Q>> {
  return onlyRow((await trx.executeQuery(readOf(queries))).rows);
}

/** The statement of `readTogether`. */
export function readOf<Q extends ReadQueries>(queries: Q): CompiledQuery<RowsRead<Q>> {
  const names = Object.keys(queries);
  const { parts, parameters } = numbered(Object.values(queries).map((query) => query.compile()));
  const lists = parts.map((part, i) => `(SELECT coalesce(json_agg(r), '[]') FROM (${part}) AS r) AS "${names[i]}"`);
  return CompiledQuery.raw(`SELECT ${lists.join(', ')}`, parameters);
}

/** See `StorageDriver.writeTogether`. */
export async function writeTogether(trx: Transaction<Tables>, statements: readonly CompiledQuery[]): Promise<void> {
  if (statements.length > 0) await trx.executeQuery(writeOf(statements));
}

/** The statement of `writeTogether`, of at least one. */
export function writeOf(statements: readonly CompiledQuery[]): CompiledQuery {
  const { parts, parameters } = numbered(statements);
  const named = parts.map((part, i) => `part_${i} AS (${part})`);
  return CompiledQuery.raw(`WITH ${named.join(', ')} SELECT`, parameters);
}

/** Statements with their parameters numbered through. */
export function numbered(statements: readonly Pick<CompiledQuery, 'sql' | 'parameters'>[]) {
  const parameters: unknown[] = [];
  const parts = statements.map((statement) => {
    const before = parameters.length;
    parameters.push(...statement.parameters);
    return statement.sql.replace(/\$(\d+)/g, (_, n: string) => `$${Number(n) + before}`);
  });
  return { parts, parameters };
}
