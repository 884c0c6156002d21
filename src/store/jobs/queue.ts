/**
 * Durable jobs. One that was added is run until it succeeds or has used up its attempts; then it is set aside as
 * failed, for an operator to retry or drop. It may run twice, when a worker lost its lease: so whatever it changes in
 * the store commits together with `done`, which throws for a worker that no longer holds the job.
 */
import type { JobKind, JobPayloads, JobState } from '../../kernel/jobs.ts';

export interface NewJob<K extends JobKind = JobKind> {
  readonly kind: K;
  readonly payload: JobPayloads[K];
  /** At most one open job (waiting or running) of this kind has it; null: any number. */
  readonly key?: string | null;
  /** Whom it is about. */
  readonly account?: string | null;
  /** Not to be run before so many ms from now, by the store's clock. */
  readonly delayMs?: number;
}

/** A claim is a job of one kind that a worker holds. */
export interface ClaimOf<K extends JobKind> {
  readonly id: string;
  readonly kind: K;
  readonly key: string;
  readonly account: string | null;
  readonly payload: JobPayloads[K];
  /** Counts from 1; with the id it names the lease. */
  readonly attempt: number;
}
/** A worker's claims are discriminated by `kind`. */
export type Claim = { [K in JobKind]: ClaimOf<K> }[JobKind];
export type Lease = Pick<Claim, 'id' | 'kind' | 'attempt'>;

/** The worker held the job for too long without a sign of life: whatever it was about to commit must not be. */
export class LeaseLostError extends Error {
  constructor({ id, kind, attempt }: Lease) {
    super(`The lease of attempt ${attempt} of the job ${id} (${kind}) was lost.`);
    this.name = 'LeaseLostError';
  }
}

/** As an operator sees it: without its payload. */
export interface JobRecord {
  readonly id: string;
  /** The kind is a JobKind, or one that another version of the service knows. */
  readonly kind: string;
  readonly account: string | null;
  readonly state: JobState;
  /** Counts attempts that began. */
  readonly attempts: number;
  readonly lastError: string | null;
  readonly createdAt: number;
  /** A waiting job does not run before; a failed one is so since then; null while it runs. */
  readonly at: number | null;
}

/** `conflict`: an open job has the same kind and key. */
export type RetryOutcome = 'done' | 'not_found' | 'conflict';

/** Each change is a transaction of its own. */
export interface Jobs {
  /** The job's id, or null where an open job has its kind and key. */
  add<K extends JobKind>(job: NewJob<K>): Promise<string | null>;
  /**
   * Up to so many jobs that are due, of each kind; their leases begin. Ends leases that were not renewed, but for those
   * `held`, by id, by the caller, who knows better than a clock that jumped or a lock that took long.
   */
  claim(slots: ReadonlyMap<JobKind, number>, held?: readonly string[]): Promise<Claim[]>;
  /** False: the lease is lost. */
  renew(lease: Lease): Promise<boolean>;
  /** Deletes the job, or has it run `againMs` later as a new one. Throws LeaseLostError. */
  done(claim: Claim, againMs?: number | null): Promise<void>;
  /** The attempt counts; `permanent`: no other can succeed. `lost`: somebody else holds the job. */
  fail(lease: Lease, error: string, permanent?: boolean): Promise<'waiting' | 'failed' | 'lost'>;
  /** Gives it back at once; the attempt does not count. */
  release(lease: Lease): Promise<void>;
  /** The newest comes first. */
  list(input: { failed: boolean; limit: number }): Promise<{ items: JobRecord[]; total: number }>;
  get(id: string): Promise<JobRecord | null>;
  /** A failed job gets all its attempts again. */
  retry(id: string): Promise<RetryOutcome>;
  /** Deletes a failed job. */
  drop(id: string): Promise<boolean>;
  /** Deletes failed jobs that were kept long enough. */
  maintain(): Promise<void>;
}
