/** The worker of this process: claims jobs that are due, runs them, renews their leases, and stops within its bound. */
import { within } from '../kernel/bounded-wait.ts';
import type { Clock } from '../kernel/clock.ts';
import { JOB_KINDS, JOB_POLICIES, JobFailure, type JobKind, type JobPolicies, type JobPolicy } from '../kernel/jobs.ts';
import type { Logger } from '../kernel/log.ts';
import { type Claim, type ClaimOf, type Jobs, LeaseLostError } from '../service/jobs.ts';

/**
 * `againMs`: the same job runs again after this many ms; `ended`: the runner has ended the job itself, with its
 * changes.
 */
type JobOutcome = { readonly againMs: number } | 'ended' | undefined;

/**
 * Makes one attempt. On failure it throws, a JobFailure if it has a sentence for operators. When `signal` is aborted it
 * throws soon, at a point from which another attempt can continue. If it returns, the job is done.
 */
export type JobRunner<K extends JobKind> = (job: ClaimOf<K>, signal: AbortSignal) => Promise<JobOutcome>;

/** Null: this process does not run jobs of this kind. */
export type JobRunners = { readonly [K in JobKind]: JobRunner<K> | null };

/** The cast is safe: a claim is passed only to the runner of its own kind. */
function runnerOf(runners: JobRunners, kind: JobKind): (job: Claim, signal: AbortSignal) => Promise<JobOutcome> {
  const runner = runners[kind];
  if (runner === null) throw new Error(`This process does not run jobs of the kind ${kind}.`);
  return runner as (job: Claim, signal: AbortSignal) => Promise<JobOutcome>;
}

interface WorkerParts {
  readonly jobs: Jobs;
  readonly runners: JobRunners;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly policies?: JobPolicies;
}

export interface Worker {
  /** Aborts the running jobs and releases them. A job that does not end within 3 s keeps its lease until it expires. */
  stop(): Promise<void>;
}

const JOB_POLL_MS = 500;
const SCHEDULE_MS = 30_000;
const MAINTAIN_MS = 600_000;
const WORKER_STOP_MS = 3_000;

export function startWorker(parts: WorkerParts): Worker {
  const { jobs, runners, clock, logger, policies = JOB_POLICIES } = parts;
  const kinds = JOB_KINDS.filter((kind) => runners[kind]);
  const running = new Set<RunningJob>();
  const stopping = new AbortController();
  let failing = false;

  const slots = (): Map<JobKind, number> => {
    const free = (kind: JobKind) =>
      policies[kind].concurrency - [...running].filter((job) => job.claim.kind === kind).length;
    return new Map(kinds.map((kind) => [kind, free(kind)] as const).filter(([, count]) => count > 0));
  };

  function start(claim: Claim): void {
    const job = startJob({
      claim,
      policy: policies[claim.kind],
      jobs,
      runners,
      clock,
      logger,
      stopping: stopping.signal,
    });
    running.add(job);
    void job.ended.then(() => {
      running.delete(job);
      wake.now();
    });
  }

  async function round(): Promise<void> {
    if (schedule.due()) {
      for (const kind of kinds) {
        const { everySeconds } = policies[kind];
        // The key is unique: only one is open across all nodes.
        if (everySeconds !== null) await jobs.add({ kind, payload: {}, key: 'periodic' });
      }
    }
    if (maintenance.due()) await jobs.maintain();
    await Promise.all([...running].map((job) => job.renew()));
    const held = [...running].filter((job) => job.isHeld()).map(({ claim }) => claim.id);
    for (const claim of await jobs.claim(slots(), held)) {
      if (stopping.signal.aborted) await jobs.release(claim);
      else start(claim);
    }
  }

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await round();
        if (failing) logger.info('claiming jobs works again');
        failing = false;
      } catch (error) {
        // For example, the store is down. Logged once, and again on recovery.
        if (!failing) logger.error({ err: error }, 'jobs could not be claimed');
        failing = true;
      }
      await wake.wait(JOB_POLL_MS, stopping.signal);
    }
  }

  const wake = createWake();
  const schedule = everyMs(SCHEDULE_MS, clock);
  const maintenance = everyMs(MAINTAIN_MS, clock);
  const looping = loop();
  return {
    async stop() {
      stopping.abort();
      const ended = () => looping.then(() => Promise.all([...running].map((job) => job.ended)));
      await within({ ms: WORKER_STOP_MS, late: () => undefined }, ended);
      for (const { claim } of running)
        logger.warn(
          { job: claim.id, kind: claim.kind },
          'a job did not stop in time; it will be retried when its lease expires',
        );
    },
  };
}

/** Makes something due immediately, then at most once every `ms`. */
function everyMs(ms: number, clock: Clock): { due(): boolean } {
  let next = clock.elapsed();
  return {
    due() {
      const now = clock.elapsed();
      if (now < next) return false;
      next = now + ms;
      return true;
    },
  };
}

function createWake() {
  let wakeUp: () => void = () => undefined;
  return {
    /** Ends the current wait. */
    now: () => wakeUp(),
    wait: (ms: number, signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const timer = setTimeout(() => wakeUp(), ms);
        // Must not keep the process alive; the server does.
        timer.unref();
        wakeUp = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', wakeUp);
          resolve();
        };
        signal.addEventListener('abort', wakeUp, { once: true });
      }),
  };
}

interface RunningJob {
  readonly claim: Claim;
  /** It never rejects. */
  readonly ended: Promise<void>;
  /** Renews the lease once a third of it has passed by either clock, because the wall clock may jump. */
  renew(): Promise<void>;
  /** Whether its lease is renewed, as long as it lasts. */
  isHeld(): boolean;
}

interface AttemptParts {
  readonly claim: Claim;
  readonly policy: JobPolicy;
  readonly jobs: Jobs;
  readonly runners: JobRunners;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly stopping: AbortSignal;
}

/** One attempt at a job: runs it under a lease, then completes, fails or releases it. */
function startJob(parts: AttemptParts): RunningJob {
  const { claim, policy, jobs, clock, logger, stopping } = parts;
  const began = clock.elapsed();
  const abort = new AbortController();
  const signal = AbortSignal.any([abort.signal, stopping]);
  const leaseMs = policy.leaseSeconds * 1000;
  let renewed = { at: clock.now(), elapsedMs: began };
  let lost = false;

  async function renew(): Promise<void> {
    const now = { at: clock.now(), elapsedMs: clock.elapsed() };
    if (now.elapsedMs - began > policy.timeoutSeconds * 1000) {
      // No longer renewed, so a runner that ignores the signal loses its lease.
      abort.abort(new JobFailure(`The attempt took longer than ${policy.timeoutSeconds} seconds.`));
      return;
    }
    const passed = Math.max(now.elapsedMs - renewed.elapsedMs, Math.abs(now.at - renewed.at));
    if (lost || passed < leaseMs / 3) return;
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
      const state = await jobs.fail(claim, failureSentence(claim, cause), permanent);
      if (state === 'failed')
        logger.error({ ...about, ...loggedCause(claim, cause) }, 'a job failed and will not be retried');
      else logger.warn({ ...about, ...loggedCause(claim, cause) }, 'a job failed and will be retried');
    }
  }

  const ended = run().catch((error: unknown) => {
    // The job runs again when its lease expires.
    logger.error({ job: claim.id, kind: claim.kind, err: error }, 'the outcome of a job could not be stored');
  });
  return { claim, ended, renew, isHeld: () => !lost && !abort.signal.aborted };
}

/** Errors of databases and mail servers may quote the payload, so only their name and code are kept. */
const isPublicFailure = ({ payload }: Claim, error: unknown): boolean =>
  error instanceof JobFailure || Object.keys(payload).length === 0;

function failureSentence(claim: Claim, error: unknown): string {
  if (!(error instanceof Error)) return 'Unknown error.';
  if (isPublicFailure(claim, error)) return error.message.replaceAll(/\s+/g, ' ').slice(0, 300);
  return 'code' in error ? `${error.name} ${String(error.code)}` : error.name;
}

const loggedCause = (claim: Claim, error: unknown) =>
  isPublicFailure(claim, error) && !(error instanceof JobFailure)
    ? { err: error }
    : { cause: failureSentence(claim, error) };
