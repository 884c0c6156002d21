import type { JobState } from '../../kernel/jobs.ts';
import type { AccountId } from './accounts.ts';

/** One round of the purge. */
export type PurgeRound =
  /** Nothing was deleted, because the store's clock is doubted (`ClockReading.doubtedSince`). */
  | { readonly paused: true }
  | {
      readonly paused: false;
      /** Rows deleted, by table; only tables with some. */
      readonly deleted: Readonly<Record<string, number>>;
      readonly total: number;
      /** A table had more than PURGE_ROUND_ROWS to delete; the rest is for the next round. */
      readonly full: boolean;
    };

export interface Upkeep {
  /** Releases the holds (and unfinished idempotency keys) of dead processes, and expired holds. */
  releaseDead(signal?: AbortSignal): Promise<number>;
  /**
   * Deletes what is past its time by the store's clock, in short transactions: verifications older than `keepMs` or
   * than their account's own retention, mailboxes last seen `seenMs` ago (by default, as long as the option's), and
   * rows of other tables as OWNED_TABLES says; of each table PURGE_ROUND_ROWS at most. The ledger and hourly counters
   * become sums of their days.
   * Adds the job of deleted accounts that have none. Ends after the transaction under way when `signal` aborts.
   */
  purge(keepMs: number, signal?: AbortSignal, seenMs?: number): Promise<PurgeRound>;
  /**
   * Deletes a deleted account and its rows, in short transactions, until `signal` aborts. False while there is
   * something left: it still holds credits, or was interrupted.
   */
  removeAccount(account: string, signal?: AbortSignal): Promise<boolean>;
}

/** A look at the store's clock. */
export interface ClockReading {
  /** ms. */
  readonly now: number;
  /**
   * By how much more it has moved than time has passed since this process read it last, ms; negative: it was set back.
   * For the first reading of a process: since any process wrote down that it was seen.
   */
  readonly stepMs: number;
  /**
   * Since when it is doubted, because it moved by over CLOCK_DOUBT_HOURS more than time passed. A long downtime looks
   * the same. Nothing is purged for CLOCK_DOUBT_HOURS, unless the clock is set back before.
   */
  readonly doubtedSince: number | null;
}

/** The clock that decides about stored rows: the PostgreSQL server's, or, with SQLite, this process's. */
export interface StoreClock {
  /** Reads it, and writes down what was seen. */
  read(): Promise<ClockReading>;
  /** The same without writing, by what others wrote down. */
  peek(): Promise<ClockReading>;
}

/** What the store did that an operator should hear of. */
export type StoreEvent =
  /** The account's rate window was `aheadMs` ahead, as the clock had been, and began again. */
  | { readonly kind: 'rate_window_restarted'; readonly account: AccountId; readonly aheadMs: number }
  /** The same for a limit on attempts to sign in. */
  | { readonly kind: 'attempt_window_restarted' }
  /** A thread of a SQLite store ended. The next call starts it again. */
  | { readonly kind: 'thread_lost'; readonly cause: string };

/** A file of which every node has a copy. */
export interface SharedFile {
  /** Of those that belong together, the beginning is the same. */
  readonly name: string;
  /** ISO 8601 in UTC with milliseconds: of two, the later one counts. */
  readonly made: string;
  readonly text: string;
}

export interface SharedFiles {
  /** Names that begin with `prefix`, in order, without their content. */
  list(prefix: string): Promise<readonly Pick<SharedFile, 'name' | 'made'>[]>;
  read(name: string): Promise<SharedFile | null>;
  /** False: the store has one that was made at the same time or later. */
  put(file: SharedFile): Promise<boolean>;
  /** Deletes those whose name begins with `prefix`. */
  drop(prefix: string): Promise<void>;
}

/**
 * How nodes that share an egress address share a limit towards mail servers: each leases a slice of it, in units of
 * which the limit has `total`. The slices of all nodes together never have more. A slice ends by the store's clock when
 * it is not renewed.
 */
export interface SliceRequest {
  /** Of the limit. */
  readonly key: string;
  readonly total: number;
  /** Units that the node may use until it gets the reply: it cannot be left with fewer. */
  readonly holds: number;
  /** Units that it has work for; 0: it gives back what it does not hold. */
  readonly needs: number;
  /** A limit that nobody has used for so long, ms, is as good as new. */
  readonly restMs: number;
}

export interface Slice {
  readonly key: string;
  readonly units: number;
  /** Units that it may keep; fewer than `units` if other nodes wait for some. */
  readonly target: number;
  /** Nobody has used the limit for `restMs`. */
  readonly isRested: boolean;
}

export interface PaceSlices {
  /**
   * Takes, renews or gives back the slices of one node. `leaseMs`: from now, by the store's clock. A request may be
   * left without a reply, when other nodes keep changing the same limit: what the node had before still holds.
   */
  lease(node: string, requests: readonly SliceRequest[], leaseMs: number): Promise<readonly Slice[]>;
}

/**
 * Which node checks the mailboxes of lists at a mail operator, so that those of one operator are checked by one node at
 * a time. A lease ends by the store's clock when it is not renewed; then any node may take it.
 */
export interface OperatorLeases {
  /**
   * Takes or renews the leases of these operators. Returns those that the node has now; other nodes have the others.
   */
  take(node: string, operators: readonly string[], leaseMs: number): Promise<readonly string[]>;
  /** Those of these operators that other nodes have. */
  ofOthers(node: string, operators: readonly string[]): Promise<readonly string[]>;
  /** Ends the node's leases of these operators. */
  release(node: string, operators: readonly string[]): Promise<void>;
}

// What the store can tell of itself, for metrics.

/** One verification, or many results (SharedHolds). */
export type HoldKind = 'verification' | 'shared';

export type HoldAge = 'under_1m' | '1m_to_10m' | '10m_to_1h' | '1h_to_1d' | 'over_1d';

export interface HoldStats {
  readonly byAge: Readonly<Record<HoldAge, number>>;
  /** Age of the oldest, ms; null: there is none. */
  readonly oldestMs: number | null;
}

/** What accounts keep, beside verifications. */
export interface KeptStats {
  /** Of lists, without their results. */
  readonly listBytes: number;
  readonly filters: number;
}

export interface JobCount {
  /** A JobKind, or a kind of another version of the service. */
  readonly kind: string;
  readonly state: JobState;
  readonly count: number;
}

export interface StoreReadings {
  readonly holds: Readonly<Record<HoldKind, HoldStats>>;
  /** How long the oldest verification has been past its retention, ms; 0 if none is. */
  readonly purgeLagMs: number;
  /** Active accounts below the balance at which they want a message. */
  readonly lowBalances: number;
  readonly kept: KeptStats;
  readonly jobs: readonly JobCount[];
}

/** Connections for everything but charging. */
export interface PoolUse {
  readonly inUse: number;
  readonly idle: number;
  readonly max: number;
  /** Queries waiting for a connection. */
  readonly waiting: number;
}

/** Why a batch was attempted again. */
export type RetryCause =
  /** A serialization failure or a deadlock. */
  | 'conflict'
  /** Another session has locked an account. */
  | 'locked'
  /** The connection was lost. */
  | 'connection'
  /** Another process has the lock of the SQLite file. */
  | 'busy';

/** One transaction of the charge. */
export interface ChargedBatch {
  readonly requests: number;
  /** From its begin to the end of its commit, retries included. */
  readonly ms: number;
  readonly committed: boolean;
}

export interface StoreStats {
  /** Attempts beyond the first of a batch, since the store was opened. */
  readonly retries: Readonly<Record<RetryCause, number>>;
  /** From now on, `listener` is told of every batch. It must not throw. */
  observe(listener: (batch: ChargedBatch) => void): void;
  /** Null where there is no pool. Takes no query. */
  pool(): PoolUse | null;
  /**
   * Reads a bounded number of rows; `keepMs` is the retention. The server gives up after `withinMs`, but it may be a
   * server that does not answer at all.
   */
  read(keepMs: number, withinMs: number): Promise<StoreReadings>;
}

/** The processes that share the store. */
export interface NodeRow {
  readonly id: string;
  /** Host and process, such as `web-1/4711`. */
  readonly label: string;
  /** Of its program; null: it has not said so yet. */
  readonly version: string | null;
  readonly startedAt: number;
  /** By the store's clock; null: never. */
  readonly seenAt: number | null;
}

export interface Nodes {
  /** Says that this process runs, with the version of its program. */
  report(version: string): Promise<void>;
  /**
   * Whose rows are there, the newest first, at most `limit`. A dead one is there until it is swept. Gives up after
   * `withinMs`.
   */
  list(limit: number, withinMs: number): Promise<readonly NodeRow[]>;
  /** The id of this process; null before it has charged or reported. */
  readonly current: string | null;
}
