import type { SQLInputValue } from 'node:sqlite';
import {
  CompiledQuery,
  type Expression,
  type Kysely,
  type RawBuilder,
  type SqlBool,
  sql,
  type Transaction,
} from 'kysely';
import { FILTER_HITS, type RowMaker, type TableRows } from '../columns.ts';
import type { ReadAndChange, ReadQueries, RowsRead, StorageDriver } from '../driver.ts';
import type { Tables } from '../tables.ts';

/**
 * See `StorageDriver.filtersWith`. Goes through the values, each of which is looked up: left to choose, SQLite expects
 * an account to have few filters, and reads all of them.
 */
export const filtersWith: StorageDriver['filtersWith'] = (db, account, kind, values) =>
  db
    .selectFrom(sql<{ value: string }>`json_each(${JSON.stringify(values)})`.as('wanted'))
    .crossJoin('filters')
    .selectAll('filters')
    .where('account_id', '=', account)
    .where('filter_type', '=', kind)
    .whereRef('filters.value', '=', 'wanted.value');

/**
 * A statement that runs once for each of many rows, in the thread of the writer: one message, and one prepared
 * statement, where a statement with all rows in it takes longer to make and to compile than to run.
 */
export class RowsQuery implements CompiledQuery {
  readonly query: CompiledQuery['query'];
  readonly queryId: CompiledQuery['queryId'];
  readonly sql: string;
  readonly parameters: readonly SQLInputValue[];
  /** Each row has this many parameters. */
  readonly width: number;

  /** `parameters` has one row after the other. */
  constructor(sql: string, width: number, parameters: readonly SQLInputValue[]) {
    const { query, queryId } = CompiledQuery.raw(sql);
    this.query = query;
    this.queryId = queryId;
    this.sql = sql;
    this.width = width;
    this.parameters = parameters;
  }
}

// Statements that write rows of `columns.ts`.

export const insertSql = ({ table, columns }: TableRows<never>): string =>
  `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;

/** The last column is the id. */
export const updateSql = ({ table, columns }: TableRows<never>): string =>
  `UPDATE ${table} SET ${columns.slice(0, -1).join(' = ?, ')} = ? WHERE id = ?`;

/** See `StorageDriver.insertRows`. */
export const insertRows = <From>(rows: TableRows<From>, from: readonly From[]): CompiledQuery =>
  new RowsQuery(insertSql(rows), rows.columns.length, from.flatMap(rows.values));

/** See `StorageDriver.changeRows`. */
export const changeRows = <From>(rows: TableRows<From>, from: readonly From[]): CompiledQuery =>
  new RowsQuery(updateSql(rows), rows.columns.length, from.flatMap(rows.values));

/** See `StorageDriver.restoreRows`. */
export const restoreRows: StorageDriver['restoreRows'] = (table, columns, rows) => {
  const names = columns.map((name) => `"${name}"`).join(', ');
  const text = `INSERT INTO ${table} (${names}) VALUES (${columns.map(() => '?').join(', ')})`;
  return new RowsQuery(text, columns.length, rows.flat());
};

/** See `StorageDriver.tableOf`. */
export function tableOf<From>({ columns, values }: RowMaker<From>, from: readonly From[]): RawBuilder<unknown> {
  const cells = columns.map((name, i) => sql`json_extract(value, ${sql.lit(`$[${i}]`)}) AS ${sql.ref(name)}`);
  return sql`(SELECT ${sql.join(cells)} FROM json_each(${JSON.stringify(from.map(values))})) AS c`;
}

/** Takes the values of FILTER_HITS. */
export const ADD_HITS = 'UPDATE filters SET hits = hits + ?, last_hit_at = ? WHERE account_id = ? AND id = ?';

/** See `StorageDriver.addHits`. */
export const addHits: StorageDriver['addHits'] = (hits, now) =>
  new RowsQuery(
    ADD_HITS,
    FILTER_HITS.columns.length,
    hits.flatMap((one) => FILTER_HITS.values({ ...one, now })),
  );

/** See `StorageDriver.oneOf`. */
export const oneOf = (value: Expression<string>, texts: readonly string[]): Expression<SqlBool> =>
  sql<SqlBool>`${value} IN (SELECT value FROM json_each(${JSON.stringify(texts)}))`;

/** Like SQLite's lower(): ASCII letters only. */
export const lowerAscii = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

const LAST_CHARACTER = 0x10ffff;

/** The first text, by code point order, after all texts that begin with `text`; null when there is none. */
export function afterPrefix(text: string): string | null {
  const points = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  while (points.at(-1) === LAST_CHARACTER) points.pop();
  const last = points.pop();
  if (last === undefined) return null;
  // Skips the surrogates, which are not characters.
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
}

/** A range, for which SQLite uses an index on the expression; for LIKE it would not. */
export function prefixRange(value: Expression<string>, text: string): Expression<SqlBool> {
  const from = lowerAscii(text);
  const to = afterPrefix(from);
  const above = sql<SqlBool>`${value} >= ${from}`;
  return to === null ? above : sql<SqlBool>`(${above} AND ${value} < ${to})`;
}

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

/** Kysely types parameters as unknown. */
export const bindable = (values: readonly unknown[]): SQLInputValue[] =>
  values.map((value) => {
    if (isBindable(value)) return value;
    throw new TypeError(`SQLite stores no value of the type ${typeof value}.`);
  });

const isBindable = (value: unknown): value is SQLInputValue =>
  value === null || /^(string|number|bigint)$/.test(typeof value) || ArrayBuffer.isView(value);
