/**
 * Jobs in a table of SQLite. `due_at` is when something has to happen: a waiting job is to run, a lease is over, a
 * failed job is to be deleted. `set_at` is when that was decided: where it lies in the future the clock was set back,
 * and `due_at` is moved along, so that no job waits for the clock to catch up.
 */
import type { JobQueue } from '../../jobs/queue.ts';
import { addJob } from './add.ts';
import type { JobsContext } from './context.ts';
import { completeJob, failJob } from './finish.ts';
import { claimJobs, releaseLease, renewLease } from './lease.ts';
import { dropJobsOfAccount, maintainJobs } from './maintain.ts';
import { countJobs, dropJob, getJob, listJobs, retryJob } from './operate.ts';

export const sqliteJobs = (context: JobsContext): JobQueue => ({
  add: (trx, job) => addJob({ now: () => context.driver.now(), policies: context.policies }, trx, job),
  claim: (slots, held) => claimJobs(context, slots, held),
  renew: (lease) => renewLease(context, lease),
  release: (lease) => releaseLease(context, lease),
  done: (trx, claim, againMs = null) => completeJob(context, trx, claim, againMs),
  fail: (lease, error, permanent = false) => failJob(context, lease, error, permanent),
  list: (input) => listJobs(context, input),
  get: (id) => getJob(context, id),
  count: countJobs,
  retry: (id) => retryJob(context, id),
  drop: (id) => dropJob(context, id),
  dropAccount: dropJobsOfAccount,
  maintain: () => maintainJobs(context),
  async close() {},
});
