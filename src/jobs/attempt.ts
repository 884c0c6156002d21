/** One attempt at a job: runs it under a lease, then completes, fails or releases it. */
import type { Clock } from '../kernel/clock.ts';
import { JobFailure, type JobPolicy } from '../kernel/jobs.ts';
import type { Logger } from '../kernel/log.ts';
import { type Claim, type Jobs, LeaseLostError } from '../service/jobs.ts';
import { type JobRunners, runnerOf } from './runner.ts';

export interface RunningJob {
  readonly claim: Claim;
  /** Never rejects. */
  readonly ended: Promise<void>;
  /** Renews the lease once a third of it has passed by either clock, because the wall clock may jump. */
  renew(): Promise<void>;
  /** Whether its lease is renewed, as long as it lasts. */
  isHeld(): boolean;
}

interface Parts {
  readonly claim: Claim;
  readonly policy: JobPolicy;
  readonly jobs: Jobs;
  readonly runners: JobRunners;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly stopping: AbortSignal;
}

export function startJob(parts: Parts): RunningJob {
  const { claim, policy, jobs, clock, logger, stopping } = parts;
  const began = clock.elapsed();
  const abort = new AbortController();
  const signal = AbortSignal.any([abort.signal, stopping]);
  const lease = policy.leaseSeconds * 1000;
  let renewed = { at: clock.now(), elapsed: began };
  let lost = false;

  async function renew(): Promise<void> {
    const now = { at: clock.now(), elapsed: clock.elapsed() };
    if (now.elapsed - began > policy.timeoutSeconds * 1000) {
      // No longer renewed, so a runner that ignores the signal loses its lease.
      abort.abort(new JobFailure(`The attempt took longer than ${policy.timeoutSeconds} seconds.`));
      return;
    }
    const passed = Math.max(now.elapsed - renewed.elapsed, Math.abs(now.at - renewed.at));
    if (lost || passed < lease / 3) return;
    renewed = now;
    if (await jobs.renew(claim)) return;
    lost = true;
    abort.abort(new LeaseLostError(claim));
  }

  async function run(): Promise<void> {
    const { id, kind, attempt } = claim;
    const about = { job: id, kind, attempt };
    try {
      const again = await runnerOf(parts.runners, kind)(claim, signal);
      if (again === 'ended') return;
      const { everySeconds } = policy;
      await jobs.done(claim, again?.againMs ?? (everySeconds === null ? null : everySeconds * 1000));
    } catch (error) {
      if (error instanceof LeaseLostError || lost) return logger.warn(about, 'a job lost its lease');
      if (stopping.aborted) return jobs.release(claim);
      const cause: unknown = abort.signal.aborted ? abort.signal.reason : error;
      const permanent = cause instanceof JobFailure && cause.permanent;
      const state = await jobs.fail(claim, sentenceOf(claim, cause), permanent);
      if (state === 'failed')
        logger.error({ ...about, ...causeOf(claim, cause) }, 'a job failed and will not be retried');
      else logger.warn({ ...about, ...causeOf(claim, cause) }, 'a job failed and will be retried');
    }
  }

  const ended = run().catch((error: unknown) => {
    // The job runs again when its lease expires.
    logger.error({ job: claim.id, kind: claim.kind, err: error }, 'the outcome of a job could not be stored');
  });
  return { claim, ended, renew, isHeld: () => !lost && !abort.signal.aborted };
}

/** Errors of databases and mail servers may quote the payload, so only their name and code are kept. */
const isPublic = ({ payload }: Claim, error: unknown): boolean =>
  error instanceof JobFailure || Object.keys(payload).length === 0;

function sentenceOf(claim: Claim, error: unknown): string {
  if (!(error instanceof Error)) return 'Unknown error.';
  if (isPublic(claim, error)) return error.message.replaceAll(/\s+/g, ' ').slice(0, 300);
  return 'code' in error ? `${error.name} ${String(error.code)}` : error.name;
}

const causeOf = (claim: Claim, error: unknown) =>
  isPublic(claim, error) && !(error instanceof JobFailure) ? { err: error } : { cause: sentenceOf(claim, error) };
