import { ApiError } from '../kernel/errors.ts';
import type { JobRecord } from '../store/jobs/queue.ts';
import type { Page, Store } from '../store/store.ts';

export { type Claim, type ClaimOf, type JobRecord, type Jobs, LeaseLostError } from '../store/jobs/queue.ts';

/** Background jobs, for those who run the service. What is refused throws ApiError. */
interface JobService {
  /** `limit` says how many are listed, newest first. */
  list(which: 'failed' | 'open', limit: number): Promise<Page<JobRecord>>;
  /** Gives a failed job all its attempts again. */
  retry(id: string): Promise<void>;
  /** Deletes a failed job. */
  drop(id: string): Promise<void>;
}

export function createJobService({ jobs }: Pick<Store, 'jobs'>): JobService {
  return {
    list: (which, limit) => jobs.list({ failed: which === 'failed', limit }),

    async retry(id) {
      const outcome = await jobs.retry(id);
      if (outcome === 'not_found') throw failedJobNotFound();
      if (outcome === 'conflict') throw new ApiError('job_already_open');
    },

    async drop(id) {
      if (!(await jobs.drop(id))) throw failedJobNotFound();
    },
  };
}

const failedJobNotFound = () =>
  new ApiError('not_found', 'There is no such failed job; it may have been retried or dropped.');
