/** What a batch writes: at most one statement per table, the rows as arrays. */

import { CompiledQuery, type RawBuilder, sql } from 'kysely';
import pg from 'pg';
import type { Changes, ChargeState } from '../charge/state.ts';
import {
  ACCOUNT_ALLOWANCE,
  ACCOUNT_COUNTERS,
  ADD_USAGE_SUMS,
  ALLOWANCES,
  type ColumnType,
  FILTER_HITS,
  HOLDS,
  IDEMPOTENCY,
  KEY_BUDGET,
  KEY_USE,
  LEDGER,
  REPLY_KEY,
  type RowMaker,
  replacedOnConflict,
  SEEN,
  SEEN_KEY,
  SEEN_OWNER_KEY,
  SEEN_SECRETS,
  type TableRows,
  USAGE_HOURS,
  VERIFICATIONS,
} from '../columns.ts';
import type { StorageDriver } from '../driver.ts';
import { numbered } from './read-and-change.ts';

// Arrays as parameters in PostgreSQL's binary format (`array_send` in src/backend/utils/adt/arrayfuncs.c): neither side
// has to quote and parse them, which pays for texts full of quotation marks.

/** OIDs of element types, src/include/catalog/pg_type.dat. */
const OIDS = { text: 25, bigint: 20 } as const satisfies Record<ColumnType, number>;
/**
 * Has dimensions, a flag for nulls, the OID of the elements, then length and lower bound of the only dimension;
 * int32 each.
 */
const ARRAY_HEADER_BYTES = 20;
const NULL_LENGTH = -1;
const TWO_32 = 2 ** 32;

/** One dimension, at least one element. Bigints are whole numbers within ±2^53. */
function arrayParameter(values: readonly unknown[], type: ColumnType): Buffer {
  return type === 'text' ? textArray(values.map(textOrNull)) : bigintArray(values.map(wholeOrNull));
}

function textArray(values: readonly (string | null)[]): Buffer {
  let sizeBytes = ARRAY_HEADER_BYTES;
  const lengths = values.map((value) => {
    const length = value === null ? NULL_LENGTH : Buffer.byteLength(value);
    sizeBytes += 4 + Math.max(0, length);
    return length;
  });
  const buffer = Buffer.allocUnsafe(sizeBytes);
  let at = writeArrayHeader(buffer, values, OIDS.text);
  for (const [i, value] of values.entries()) {
    at = buffer.writeInt32BE(lengths[i] ?? NULL_LENGTH, at);
    if (value !== null) at += buffer.write(value, at);
  }
  return buffer;
}

function bigintArray(values: readonly (number | null)[]): Buffer {
  const buffer = Buffer.allocUnsafe(ARRAY_HEADER_BYTES + values.length * 12);
  let at = writeArrayHeader(buffer, values, OIDS.bigint);
  for (const value of values) {
    at = buffer.writeInt32BE(value === null ? NULL_LENGTH : 8, at);
    if (value === null) continue;
    at = buffer.writeInt32BE(Math.floor(value / TWO_32), at);
    at = buffer.writeUInt32BE(value >>> 0, at);
  }
  return buffer.subarray(0, at);
}

function writeArrayHeader(buffer: Buffer, values: readonly unknown[], oid: number): number {
  buffer.writeInt32BE(1, 0);
  buffer.writeInt32BE(values.includes(null) ? 1 : 0, 4);
  buffer.writeInt32BE(oid, 8);
  buffer.writeInt32BE(values.length, 12);
  return buffer.writeInt32BE(1, 16);
}

function textOrNull(value: unknown): string | null {
  if (value === null || typeof value === 'string') return value;
  throw new TypeError(`${typeof value} is no text.`);
}

function wholeOrNull(value: unknown): number | null {
  if (value === null || (typeof value === 'number' && Number.isSafeInteger(value))) return value;
  throw new RangeError(`${String(value)} is not a whole number.`);
}

export type NamedStatement = pg.QueryConfig<unknown[]> & { name: string; text: string; values: unknown[] };

/** Rows as arrays, one for each column, from the parameter of this number on. */
export const unnest = ({ columns, types }: RowMaker<never>, from = 1): string =>
  `unnest(${types.map((type, i) => `$${from + i}::${type}[]`).join(', ')}) AS c (${columns.join(', ')})`;

/** Makes the parameters of `unnest`. */
export function arraysOf<From>({ types, values }: RowMaker<From>, from: readonly From[]): Buffer[] {
  const rows = from.map(values);
  return types.map((type, i) =>
    arrayParameter(
      rows.map((row) => row[i]),
      type,
    ),
  );
}

/** A statement that writes rows of accounts has this where `oneStatement` puts its condition. */
const OF_CHARGED = '/* of charged accounts */';

const insertUnnested = (rows: TableRows<never>): string =>
  `INSERT INTO ${rows.table} (${rows.columns.join(', ')}) SELECT c.* FROM ${unnest(rows)}`;

/** The last column is the id. */
const updateUnnested = (rows: TableRows<never>): string => {
  const set = rows.columns.slice(0, -1).map((column) => `${column} = c.${column}`);
  return `UPDATE ${rows.table} t SET ${set.join(', ')} FROM ${unnest(rows)} WHERE t.id = c.id`;
};

const addToCharged = (rows: TableRows<never>): string => `${insertUnnested(rows)} WHERE true ${OF_CHARGED}`;

/** Each row in place of the one that is there. */
const upsertUnnested = (rows: TableRows<never>, key: RowMaker<never>): string =>
  `${insertUnnested(rows)} ${replacedOnConflict(rows, key.columns)}`;

const SQL = {
  setAccounts: updateUnnested(ACCOUNT_COUNTERS),
  setAllowances: updateUnnested(ACCOUNT_ALLOWANCE),
  addAllowances: insertUnnested(ALLOWANCES),
  setKeyUses: `${updateUnnested(KEY_USE)} ${OF_CHARGED}`,
  setBudgets: updateUnnested(KEY_BUDGET),
  addLedger: addToCharged(LEDGER),
  addHolds: addToCharged(HOLDS),
  addVerifications: addToCharged(VERIFICATIONS),
  addUsage: `${addToCharged(USAGE_HOURS)} ${ADD_USAGE_SUMS}`,
  addHits: `UPDATE filters f SET hits = f.hits + c.hits, last_hit_at = c.last_hit_at FROM ${unnest(FILTER_HITS)}
    WHERE f.account_id = c.account_id AND f.id = c.id`,
  putIdempotency: upsertUnnested(IDEMPOTENCY, REPLY_KEY),
  putSeenOwners: upsertUnnested(SEEN_SECRETS, SEEN_OWNER_KEY),
  putSeen: upsertUnnested(SEEN, SEEN_KEY),
} as const;
const END_HOLDS = 'DELETE FROM holds WHERE id = ANY ($1::text[])';
const DROP_IDEMPOTENCY = `DELETE FROM idempotency i USING ${unnest(REPLY_KEY)}
  WHERE i.account_id = c.account_id AND i.route = c.route AND i.key = c.key`;

/** The statements that record `changes`, in order; none for what is empty. The accounts are locked. */
export function statements(changes: Changes, state: ChargeState): NamedStatement[] {
  const list: NamedStatement[] = [];
  const write = writerTo(list);
  write('set-accounts', SQL.setAccounts, ACCOUNT_COUNTERS, changes.accounts);
  write('set-allowances', SQL.setAllowances, ACCOUNT_ALLOWANCE, changes.allowances);
  const allowances = changes.allowances.map((entry) => ({ ...entry, now: state.now }));
  write('add-allowances', SQL.addAllowances, ALLOWANCES, allowances);
  write('set-budgets', SQL.setBudgets, KEY_BUDGET, changes.budgets);
  writeAddedRows(write, changes, state);
  if (changes.ended.length > 0)
    list.push({ name: 'end-holds', text: END_HOLDS, values: [arrayParameter(changes.ended, 'text')] });
  const hits = Array.from(changes.hits.values(), (one) => ({ ...one, now: state.now }));
  write('add-hits', SQL.addHits, FILTER_HITS, hits);
  const kept = [...changes.idempotency.values()];
  const ofKept = (keep: boolean) => kept.filter((one) => one.keep === keep).map(({ ref }) => ref);
  write('put-idempotency', SQL.putIdempotency, IDEMPOTENCY, ofKept(true));
  write('drop-idempotency', DROP_IDEMPOTENCY, REPLY_KEY, ofKept(false));
  write('put-seen-owners', SQL.putSeenOwners, SEEN_SECRETS, changes.seenOwners.values());
  write('put-seen', SQL.putSeen, SEEN, changes.seen.values());
  return list;
}

type Write = <From>(name: string, text: string, rows: RowMaker<From>, from: Iterable<From>) => void;

const writerTo =
  (list: NamedStatement[]): Write =>
  (name, text, rows, from) => {
    const all = [...from];
    if (all.length > 0) list.push({ name, text, values: arraysOf(rows, all) });
  };

/** Rows that are only added, and uses of keys. */
function writeAddedRows(write: Write, changes: Changes, { now, node }: ChargeState): void {
  const uses = Array.from(changes.keyUses, ([id, ip]) => ({ id, ip, now }));
  write('set-key-uses', SQL.setKeyUses, KEY_USE, uses);
  const inBatch = <T extends object>(entry: T) => ({ ...entry, now, node });
  write('add-ledger', SQL.addLedger, LEDGER, changes.ledger.map(inBatch));
  write('add-holds', SQL.addHolds, HOLDS, changes.holds.map(inBatch));
  const results = changes.verifications.map((entry) => ({ ...entry, now }));
  write('add-verifications', SQL.addVerifications, VERIFICATIONS, results);
  write('add-usage', SQL.addUsage, USAGE_HOURS, changes.usage.values());
}

/** Keeps statements by the names of their parts. */
const combined = new Map<string, { readonly name: string; readonly text: string }>();

/**
 * One statement of `first`, of which the one named `charged` returns the ids of the accounts it has charged, and of
 * what `changes` adds for them; returns what that one returns. Each part may refer to those before it by name, and sees
 * the store as it was before the statement.
 */
export function oneStatement(first: readonly NamedStatement[], changes: Changes, state: ChargeState): NamedStatement {
  const parts = [...first];
  writeAddedRows(writerTo(parts), changes, state);
  const names = parts.map(({ name }) => name).join(' ');
  let whole = combined.get(names);
  if (whole === undefined) {
    whole = { name: `charge-${combined.size}`, text: combine(parts) };
    combined.set(names, whole);
  }
  return { ...whole, values: parts.flatMap(({ values }) => values) };
}

function combine(statements: readonly NamedStatement[]): string {
  const { parts } = numbered(statements.map(({ text, values }) => ({ sql: text, parameters: values })));
  const named = statements.map(({ name }, i) => {
    const own = parts[i]?.replace(OF_CHARGED, 'AND account_id IN (SELECT id FROM charged)');
    return `${name.replaceAll('-', '_')} AS (${own})`;
  });
  return `WITH ${named.join(', ')} SELECT * FROM charged`;
}

/** See `StorageDriver.insertRows`. */
export const insertRows = <From>(rows: TableRows<From>, from: readonly From[]): CompiledQuery =>
  CompiledQuery.raw(insertUnnested(rows), arraysOf(rows, from));

/** See `StorageDriver.changeRows`. */
export const changeRows = <From>(rows: TableRows<From>, from: readonly From[]): CompiledQuery =>
  CompiledQuery.raw(updateUnnested(rows), arraysOf(rows, from));

/** See `StorageDriver.restoreRows`. Takes the types from the table: flags and moments are no text and no bigint. */
export const restoreRows: StorageDriver['restoreRows'] = (table, columns, rows) => {
  const names = columns.map((name) => pg.escapeIdentifier(name)).join(', ');
  const objects = rows.map((row) => Object.fromEntries(columns.map((name, i) => [name, row[i]])));
  return CompiledQuery.raw(
    `INSERT INTO ${table} (${names}) OVERRIDING SYSTEM VALUE
      SELECT ${names} FROM json_populate_recordset(NULL::${table}, $1::json)`,
    [JSON.stringify(objects)],
  );
};

/** See `StorageDriver.tableOf`. */
export function tableOf<From>(rows: RowMaker<From>, from: readonly From[]): RawBuilder<unknown> {
  const arrays = arraysOf(rows, from).map((array, i) => sql`${array}::${sql.raw(rows.types[i] ?? 'text')}[]`);
  return sql`unnest(${sql.join(arrays)}) AS c (${sql.join(rows.columns.map((name) => sql.ref(name)))})`;
}

/** See `StorageDriver.addHits`. */
export const addHits: StorageDriver['addHits'] = (hits, now) =>
  CompiledQuery.raw(
    SQL.addHits,
    arraysOf(
      FILTER_HITS,
      hits.map((one) => ({ ...one, now })),
    ),
  );
