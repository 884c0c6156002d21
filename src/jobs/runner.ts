import type { JobKind } from '../kernel/jobs.ts';
import type { Claim, ClaimOf } from '../service/jobs.ts';

/** `againMs`: run the same job again after this many ms; `ended`: the runner ended the job itself, with its changes. */
type JobOutcome = { readonly againMs: number } | 'ended' | undefined;

/**
 * Makes one attempt. On failure it throws, a JobFailure if it has a sentence for operators. When `signal` is aborted it
 * throws soon, at a point from which another attempt can continue. If it returns, the job is done.
 */
export type JobRunner<K extends JobKind> = (job: ClaimOf<K>, signal: AbortSignal) => Promise<JobOutcome>;

/** Null: this process does not run jobs of this kind. */
export type JobRunners = { readonly [K in JobKind]: JobRunner<K> | null };

/** The cast is safe: a claim is passed only to the runner of its own kind. */
export function runnerOf(runners: JobRunners, kind: JobKind): (job: Claim, signal: AbortSignal) => Promise<JobOutcome> {
  const runner = runners[kind];
  if (runner === null) throw new Error(`This process does not run jobs of the kind ${kind}.`);
  return runner as (job: Claim, signal: AbortSignal) => Promise<JobOutcome>;
}
