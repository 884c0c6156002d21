/**
 * Between the main thread and a thread with a connection: a call is one message, its reply another, in order. Arrays of
 * plain values, because copying objects costs the main thread about as much as it saves.
 */
import type { SQLInputValue } from 'node:sqlite';
import type { JobPolicies } from '../../kernel/jobs.ts';
import type { BulkTransactions } from '../driver.ts';
import type { Migration, SchemaState } from '../migrations.ts';
import type { AccountId, ListRecorded } from '../store.ts';
import type { Role } from './connection.ts';

/** Of the thread. */
export interface ThreadOptions {
  readonly path: string;
  readonly role: Role;
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
  query: { readonly input: readonly [sql: string, values: readonly SQLInputValue[]]; readonly output: QueryResult };
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
  /** Outcomes as in outcomes-message.ts. */
  listRecord: {
    readonly input: readonly [scope: BulkScope, account: AccountId, list: string, outcomes: readonly unknown[]];
    readonly output: ListRecorded;
  };
  filtersAdd: BulkCall<'addFilters'>;
  verificationsDelete: BulkCall<'deleteVerifications'>;
  /** migrate.ts. */
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
export type QueryResult = readonly [
  columns: readonly string[] | null,
  values: readonly unknown[],
  changes: number | bigint,
  lastInsertRowid: number | bigint,
];

export type Call = { [O in Operation]: readonly [id: number, operation: O, ...Calls[O]['input']] }[Operation];

/** An error of SQLite has `code` and `errcode`. */
export type Failure =
  | { readonly message: string; readonly code?: unknown; readonly errcode?: unknown }
  | { readonly newer: SchemaState; readonly known: number };

/** The first reply, of id 0, says that the connection is open, or why not. */
export type Reply = readonly [id: number, failure: Failure | null, output?: Calls[Operation]['output']];
