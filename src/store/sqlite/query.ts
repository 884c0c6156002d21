import type { SQLInputValue, StatementSync } from 'node:sqlite';
import type { QueryResult } from 'kysely';
import type { RowsQuery } from './rows-query.ts';
import type { QueryResult as ThreadResult } from './thread-messages.ts';

/** Runs one statement, in a thread. */
export function query(statement: StatementSync, values: readonly SQLInputValue[]): ThreadResult {
  if (statement.columns().length === 0) {
    const { changes, lastInsertRowid } = statement.run(...values);
    return [null, [], changes, lastInsertRowid];
  }
  statement.setReturnArrays(true);
  // With setReturnArrays, each row is an array.
  const rows: unknown[] = statement.all(...values);
  // Not before: where another process has migrated the store, running it compiles it again.
  return [statement.columns().map(({ name }) => name), rows.flat(), 0, 0];
}

/** The same for a statement that runs once for each row. */
export function writeRows(
  statement: StatementSync,
  { width, parameters }: Pick<RowsQuery, 'width' | 'parameters'>,
): void {
  for (let at = 0; at < parameters.length; at += width) statement.run(...parameters.slice(at, at + width));
}

export function rowsOf<R>([columns, values, changes, lastInsertRowid]: ThreadResult): QueryResult<R> {
  if (columns === null) return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  const rows: R[] = [];
  for (let at = 0; at < values.length; at += columns.length) {
    const entries: unknown[][] = columns.map((column, i) => [column, values[at + i]]);
    rows.push(Object.fromEntries(entries));
  }
  return { rows };
}
