/**
 * Between the main thread and a thread with a connection: a call is one message, its reply another, in order. Arrays of
 * plain values, because copying objects costs the main thread about as much as it saves.
 */

import type { SQLInputValue, StatementSync } from 'node:sqlite';
import type { QueryResult } from 'kysely';
import type { JobPolicies } from '../../kernel/jobs.ts';
import type { BulkTransactions } from '../driver.ts';
import type { Migration, SchemaState } from '../migrations.ts';
import type { AccountId, ListRecorded } from '../store.ts';
import type { RowsQuery } from './statements.ts';

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
export function runForRows(
  statement: StatementSync,
  { width, parameters }: Pick<RowsQuery, 'width' | 'parameters'>,
): void {
  for (let at = 0; at < parameters.length; at += width) statement.run(...parameters.slice(at, at + width));
}

export function resultOf<R>([columns, values, changes, lastInsertRowid]: ThreadResult): QueryResult<R> {
  if (columns === null) return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  const rows: R[] = [];
  for (let at = 0; at < values.length; at += columns.length) {
    const entries: unknown[][] = columns.map((column, i) => [column, values[at + i]]);
    rows.push(Object.fromEntries(entries));
  }
  return { rows };
}

/** The path of a database that its connection keeps in memory. */
export const MEMORY = ':memory:';

/** `reader`: for statements that only read, beside the writer. */
export type ConnectionRole = 'writer' | 'reader';

/** Of the thread. */
export interface StoreThreadOptions {
  readonly path: string;
  readonly role: ConnectionRole;
}

/** What transactions in bulk go by. */
export interface BulkScope {
  readonly now: number;
  readonly retentionDays: number;
  readonly policies: JobPolicies;
}

/** One transaction. */
interface BulkCall<T extends keyof BulkTransactions> {
  readonly input: readonly [scope: BulkScope, ...Parameters<BulkTransactions[T]>];
  readonly output: Awaited<ReturnType<BulkTransactions[T]>>;
}

export interface Calls {
  /** One statement. */
  query: { readonly input: readonly [sql: string, values: readonly SQLInputValue[]]; readonly output: ThreadResult };
  /** One statement, once for each row of values. */
  rows: {
    readonly input: readonly [sql: string, width: number, values: readonly SQLInputValue[]];
    readonly output: null;
  };
  /** Statements without values. */
  script: { readonly input: readonly [sql: string]; readonly output: null };
  /** Takes the write lock, unless a transaction is open. */
  begin: { readonly input: readonly []; readonly output: null };
  /** Ends the transaction, unless an error has done so. */
  rollback: { readonly input: readonly []; readonly output: null };
  /** A batch in one transaction (charge-message.ts). */
  charge: { readonly input: readonly [batch: readonly unknown[]]; readonly output: readonly unknown[] };
  listAppend: BulkCall<'append'>;
  listClaim: BulkCall<'claim'>;
  listClaimWaiting: BulkCall<'claimWaiting'>;
  /** Outcomes by `writeOutcomes`. */
  listRecord: {
    readonly input: readonly [scope: BulkScope, account: AccountId, list: string, outcomes: readonly unknown[]];
    readonly output: ListRecorded;
  };
  filtersAdd: BulkCall<'addFilters'>;
  verificationsDelete: BulkCall<'deleteVerifications'>;
  /** The `migrate` of thread.ts. */
  migrate: {
    readonly input: readonly [migrations: readonly Migration[], now: number];
    readonly output: { readonly from: number; readonly to: number };
  };
  schema: { readonly input: readonly []; readonly output: SchemaState };
  /** Commits a write. `known`: the schema version of this program. */
  heartbeat: { readonly input: readonly [known: number, now: number]; readonly output: null };
  /** Closes the connection; the thread ends. */
  close: { readonly input: readonly []; readonly output: null };
}
export type Operation = keyof Calls;

/** `columns`: null for a statement that returns no rows. `values`: of all rows, one after the other. */
export type ThreadResult = readonly [
  columns: readonly string[] | null,
  values: readonly unknown[],
  changes: number | bigint,
  lastInsertRowid: number | bigint,
];

export type ThreadCall = { [O in Operation]: readonly [id: number, operation: O, ...Calls[O]['input']] }[Operation];

/** An error of SQLite has `code` and `errcode`. */
export type ThreadFailure =
  | { readonly message: string; readonly code?: unknown; readonly errcode?: unknown }
  | { readonly newer: SchemaState; readonly known: number };

/** The first reply, of id 0, says that the connection is open, or why not. */
export type ThreadReply = readonly [id: number, failure: ThreadFailure | null, output?: Calls[Operation]['output']];
