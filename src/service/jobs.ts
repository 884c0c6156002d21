import { ApiError } from '../kernel/errors.ts';
import type { Store } from '../store/store.ts';

export { type Claim, type ClaimOf, type JobRecord, type Jobs, LeaseLostError } from '../store/jobs/queue.ts';

/** Background jobs, for those who run the service. What is refused throws ApiError. */
export function createJobService({ jobs }: Pick<Store, 'jobs'>) {
  return {
    /** `limit` says how many are listed, newest first. */
    list: (which: 'failed' | 'open', limit: number) => jobs.list({ failed: which === 'failed', limit }),

    /** Gives a failed job all its attempts again. */
    async retry(id: string) {
      const outcome = await jobs.retry(id);
      if (outcome === 'not_found') throw failedJobNotFound();
      if (outcome === 'conflict') throw new ApiError('job_already_open');
    },

    /** Deletes a failed job. */
    async drop(id: string) {
      if (!(await jobs.drop(id))) throw failedJobNotFound();
    },
  };
}

const failedJobNotFound = () =>
  new ApiError('not_found', 'There is no such failed job; it may have been retried or dropped.');
