/** The worker of this process: claims jobs that are due, runs them, renews their leases, and stops within its bound. */
import type { Clock } from '../kernel/clock.ts';
import { JOB_KINDS, JOB_POLICIES, type JobKind, type JobPolicies } from '../kernel/jobs.ts';
import type { Logger } from '../kernel/log.ts';
import type { Claim, Jobs } from '../service/jobs.ts';
import { type RunningJob, startJob } from './attempt.ts';
import type { JobRunners } from './runner.ts';

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

const POLL_MS = 500;
const SCHEDULE_MS = 30_000;
const MAINTAIN_MS = 600_000;
const STOP_MS = 3_000;

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
      await wake.wait(POLL_MS, stopping.signal);
    }
  }

  const wake = createWake();
  const schedule = every(SCHEDULE_MS, clock);
  const maintenance = every(MAINTAIN_MS, clock);
  const looping = loop();
  return {
    async stop() {
      stopping.abort();
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, STOP_MS);
      });
      await Promise.race([looping.then(() => Promise.all([...running].map((job) => job.ended))), late]);
      clearTimeout(timer);
      for (const { claim } of running)
        logger.warn(
          { job: claim.id, kind: claim.kind },
          'a job did not stop in time; it will be retried when its lease expires',
        );
    },
  };
}

/** Due immediately, then at most once every `ms`. */
function every(ms: number, clock: Clock): { due(): boolean } {
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
