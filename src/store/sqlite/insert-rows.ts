/** Statements that write rows of `columns.ts`. */
import type { CompiledQuery } from 'kysely';
import type { TableRows } from '../columns.ts';
import { RowsQuery } from './rows-query.ts';

export const insertSql = ({ table, columns }: TableRows<never>): string =>
  `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;

/** The last column is the id. */
export const updateSql = ({ table, columns }: TableRows<never>): string =>
  `UPDATE ${table} SET ${columns.slice(0, -1).join(' = ?, ')} = ? WHERE id = ?`;

/** See `StorageDriver.insertRows`. */
export const insertRows = <From>(rows: TableRows<From>, from: readonly From[]): CompiledQuery =>
  new RowsQuery(insertSql(rows), rows.columns.length, from.flatMap(rows.values));
