/** What the store can tell of itself, for metrics. */
import type { JobState } from '../../kernel/jobs.ts';

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
