/** What the store needs from a database; sqlite/ and postgres/ each implement it. */
import type { Compilable, CompiledQuery, Expression, Kysely, RawBuilder, SqlBool, Transaction } from 'kysely';
import type { Clock } from '../kernel/clock.ts';
import type { Plans } from '../kernel/facts/plans.ts';
import type { JobKind, JobPolicies } from '../kernel/jobs.ts';
import type { CountingDriver } from './charge/batcher.ts';
import type { FilterHits } from './charge/state.ts';
import type { ColumnValue, RowMaker, TableRows, WantedAddress } from './columns.ts';
import type { AnyTable } from './contents.ts';
import type { FilterKind } from './filter-kinds.ts';
import type { Claim, Jobs, NewJob } from './jobs/queue.ts';
import type {
  AccountId,
  FilterAdded,
  Filters,
  JobCount,
  ListClaim,
  ListOutcome,
  ListRecorded,
  LooseMode,
  NewListBlock,
  PoolUse,
  SchemaCheck,
  StoreEvent,
  WaitingClaim,
} from './store.ts';
import type { Row, Tables } from './tables.ts';

/** Proof that a process is alive, which other processes can test. A process that has taken no hold has none. */
export interface NodeLife {
  /** This process's node once it has charged, else null. */
  readonly current: string | null;
  /**
   * Runs `sweep` if the node is dead, keeping its id locked meanwhile; null when it is alive, or another process is
   * sweeping it.
   */
  ifDead<T>(id: string, sweep: () => Promise<T>): Promise<T | null>;
}

/** The names say what the queries read. */
export type ReadQueries = Readonly<Record<string, Compilable>>;
export type RowsRead<Q extends ReadQueries> = {
  readonly [N in keyof Q]: Q[N] extends Compilable<infer R> ? readonly R[] : never;
};

/** What `readAndChange` does. */
export interface ReadAndChange<Q extends ReadQueries, T> {
  readonly accounts: readonly string[];
  /**
   * All that the plan goes by, and nothing that charges change: it would then be read again under the lock each time.
   */
  readonly queries: (trx: Transaction<Tables>) => Q;
  /** May be called again, and what it returned not be used. */
  readonly plan: (trx: Transaction<Tables>, read: RowsRead<Q>) => Planned<T>;
}

export interface Planned<T> {
  readonly result: T;
  /** Changes as for `writeTogether`. */
  readonly changes: readonly CompiledQuery[];
  /** What the transaction does after them. */
  readonly finish?: () => Promise<void>;
}

/** A table as the database describes it. */
export interface TableSchema {
  readonly table: string;
  readonly columns: readonly string[];
  /** Columns of the primary key, in order; the physical row id where there is none. */
  readonly key: readonly string[];
  /** Tables that its foreign keys refer to. */
  readonly references: readonly string[];
}

export type ClaimedChunk = Pick<Row<'list_chunks'>, 'first_row' | 'pending' | 'attempts'> &
  Pick<Row<'list_blocks'>, 'first_address' | 'addresses'>;

/**
 * Whole transactions (bulk.ts). On SQLite each is one message to the thread of the writer, which runs it: charges
 * wait for as long as it computes, and not for the main thread between its statements.
 */
export interface BulkTransactions {
  /** See `Lists.append`. */
  append(account: AccountId, list: string, blocks: readonly NewListBlock[]): Promise<boolean>;
  /** See `Lists.claim`. */
  claim(claim: ListClaim & { readonly chunks: number }): Promise<ClaimedChunk[]>;
  /** See `Lists.claimWaiting`. */
  claimWaiting(claim: WaitingClaim): Promise<Row<'list_waiting'>[]>;
  /** See `Lists.record`. */
  record(account: AccountId, list: string, outcomes: readonly ListOutcome[]): Promise<ListRecorded>;
  /** See `Filters.addMany`. Null: the account was deleted. */
  addFilters(...input: Parameters<Filters['addMany']>): Promise<FilterAdded[] | null | { readonly tooMany: number }>;
  /** Deletes verifications, at least one, and keeps their credits in sums. Returns how many there still were. */
  deleteVerifications(some: readonly Pick<Row<'verifications'>, 'seq' | 'account_id'>[]): Promise<number>;
}

/** Jobs that are added and completed in the caller's own transaction. */
export interface JobQueue extends Omit<Jobs, 'add' | 'done'> {
  /** See `Jobs.add`. */
  add<K extends JobKind>(trx: Transaction<Tables>, job: NewJob<K>): Promise<string | null>;
  /** See `Jobs.done`. The caller must roll back where it throws. */
  done(trx: Transaction<Tables>, claim: Claim, againMs?: number | null): Promise<void>;
  /** Counts open and failed jobs by kind and state, up to `most`. */
  count(db: Kysely<Tables>, most: number): Promise<readonly JobCount[]>;
  /** Deletes the open and failed jobs about an account, but those of one kind. */
  dropAccount(trx: Transaction<Tables>, account: string, except: JobKind): Promise<void>;
}

export interface NewestOfAddress {
  /** The index counts from 0 among the addresses. */
  readonly wanted: number;
  readonly seq: number;
}

export interface StorageDriver {
  readonly name: 'sqlite' | 'postgres';
  readonly db: Kysely<Tables>;
  /** These reads may take long: short ones do not wait for them. Callers take turns (service/costs.ts). */
  readonly scans: Kysely<Tables>;
  readonly charge: CountingDriver;
  readonly node: NodeLife;
  /** This process's node, as which it is announced if it was not yet. */
  acquireNode(): Promise<string>;
  readonly jobs: JobQueue;
  readonly onEvent: (event: StoreEvent) => void;
  /** How long the server keeps verifications, for what says when it is deleted. */
  readonly retentionDays: number;
  readonly plans: Plans;
  /** Whether mail can be sent. */
  readonly sendsMail: boolean;
  /** This process's clock serves what is shown and not written. */
  readonly clock: Pick<Clock, 'now'>;
  /** The store's clock, ms. A transaction asks on its own connection (`trx`): another may not be free. */
  now(trx?: Kysely<Tables>): Promise<number>;
  /** A write transaction. `work` must use only `trx`. */
  transaction<T>(work: (trx: Transaction<Tables>) => Promise<T>): Promise<T>;
  /**
   * Reads, outside of the write transactions. PostgreSQL gives up on a statement after `withinMs`; SQLite cannot, so
   * `work` must be cheap.
   */
  read<T>(withinMs: number, work: (db: Kysely<Tables>) => Promise<T>): Promise<T>;
  /** See `StoreStats.pool`. */
  pool(): PoolUse | null;
  /** Locks accounts until the transaction ends, in the order that all writers use, so that none deadlock. */
  lockAccounts(trx: Transaction<Tables>, ids: readonly string[]): Promise<void>;
  /** Locks users in the same way; always after accounts. */
  lockUsers(trx: Transaction<Tables>, ids: readonly string[]): Promise<void>;
  /** Serializes transactions that take the same key. */
  advisoryLock(trx: Transaction<Tables>, what: string): Promise<void>;
  readonly bulk: BulkTransactions;
  /** Adds many rows, at least one, which takes Kysely several times the time. */
  insertRows<From>(rows: TableRows<From>, from: readonly From[]): CompiledQuery;
  /** Changes many rows, at least one. The last column is the id. */
  changeRows<From>(rows: TableRows<From>, from: readonly From[]): CompiledQuery;
  /** Rows, at least one, as the table `c` of a FROM clause, in few parameters. */
  tableOf<From>(rows: RowMaker<From>, from: readonly From[]): RawBuilder<unknown>;
  /** Adds to the counters of many filters, at least one. */
  addHits(hits: readonly FilterHits[], now: number): CompiledQuery;
  /** Reads the rows of several queries; on PostgreSQL in one round trip. */
  readTogether<Q extends ReadQueries>(trx: Transaction<Tables>, queries: Q): Promise<RowsRead<Q>>;
  /** Changes that do not build on each other, no two of one row; on PostgreSQL in one round trip. */
  writeTogether(trx: Transaction<Tables>, statements: readonly CompiledQuery[]): Promise<void>;
  /**
   * A transaction that locks the accounts, reads, and makes the changes that follow from what it has read. On
   * PostgreSQL, the locks are held for one round trip wherever possible.
   */
  readAndChange<Q extends ReadQueries, T>(work: ReadAndChange<Q, T>): Promise<T>;
  /** The account's filters of the kind with one of the values, each found by an index. */
  filtersWith(
    db: Kysely<Tables>,
    account: AccountId,
    kind: FilterKind,
    values: readonly string[],
  ): Compilable<Row<'filters'>>;
  /** Whether the value is one of many texts, which are one parameter. */
  oneOf(value: Expression<string>, texts: readonly string[]): Expression<SqlBool>;
  /** Selects verifications of an account with `from` <= seq < `to`; order by account and seq. */
  seqRange(account: string, from: number | Expression<number>, to: number | Expression<number>): Expression<SqlBool>;
  /** Stands for `verifications` in a FROM clause, so that the index on addresses answers (log/search.ts). */
  readonly logByAddress: RawBuilder<unknown>;
  /** The newest verification of the account of each address; none of those that have none. */
  newestOfAddresses(account: string, addresses: readonly WantedAddress[]): Promise<readonly NewestOfAddress[]>;
  /** Whether `text` occurs in the value, literally. */
  substringMatch(value: Expression<string>, text: string): Expression<SqlBool>;
  /** So many characters from where the text is in the value, which has it. */
  textFrom(value: Expression<string>, text: string, length: number): RawBuilder<string>;
  /** What a JSON text has at each of the paths, at least two, as a JSON array; null where there is nothing. */
  jsonValues(json: Expression<string>, paths: readonly (readonly string[])[]): RawBuilder<string>;
  /** Lower case, including letters beyond ASCII. No index applies. */
  lowerCase(value: Expression<string>): Expression<string>;
  /** Whether the value, a lower() expression, begins with lower() of `text`; an index on it applies. */
  prefixMatch(value: Expression<string>, text: string): Expression<SqlBool>;
  /** The current tables. Not cached, as a newer version may migrate the store at any time. */
  schema(): Promise<TableSchema[]>;
  /** Keeps everyone else from writing to the tables until the transaction ends. False: somebody is at it. */
  lockStore(trx: Transaction<Tables>, tables: readonly AnyTable[]): Promise<boolean>;
  /** Adds rows of another store, at least one; also what the database itself would count. */
  restoreRows(table: AnyTable, columns: readonly string[], rows: readonly (readonly ColumnValue[])[]): CompiledQuery;
  /** The last number that the database has given to a row, for each table whose rows it counts. */
  counters(trx: Transaction<Tables>): Promise<Readonly<Record<string, number>>>;
  /** The import calls it when all rows were restored: numbers go on from there. */
  endRestore(
    trx: Transaction<Tables>,
    tables: readonly AnyTable[],
    counters: Readonly<Record<string, number>>,
  ): Promise<void>;
  migrate(): Promise<{ from: number; to: number }>;
  checkSchema(): Promise<SchemaCheck>;
  ping(): Promise<void>;
  /**
   * Leaves nothing of what was deleted in the write-ahead log. False: another process was reading it all the while; the
   * next checkpoint overwrites it.
   */
  truncateLog(): Promise<boolean>;
  /** See `Store.looseModes`. */
  looseModes(): readonly LooseMode[];
  close(): Promise<void>;
}

/** Code inside a transaction needs these. */
export type TransactionDriver = Pick<
  StorageDriver,
  | 'now'
  | 'transaction'
  | 'lockAccounts'
  | 'oneOf'
  | 'insertRows'
  | 'changeRows'
  | 'tableOf'
  | 'addHits'
  | 'filtersWith'
  | 'readTogether'
  | 'writeTogether'
  | 'readAndChange'
  | 'retentionDays'
  | 'plans'
  | 'sendsMail'
> & { readonly jobs: Pick<JobQueue, 'add'> };

export interface StorageDriverOptions {
  readonly url: string;
  readonly clock: Clock;
  /** The folder has sqlite/ and postgres/. */
  readonly migrations: string;
  /** PostgreSQL: whose clock the store uses. */
  readonly time: 'store' | 'process';
  /** PostgreSQL: whether a node judges charges by what it remembers, which takes one round trip less. */
  readonly remembers: boolean;
  readonly jobPolicies: JobPolicies;
  readonly onEvent: (event: StoreEvent) => void;
  /** How long the server keeps verifications, for what says when it is deleted. */
  readonly retentionDays: number;
  readonly plans: Plans;
  readonly sendsMail: boolean;
}
