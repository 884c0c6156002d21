/**
 * Jobs on PostgreSQL: pg-boss, with a queue for each kind whose policy lets one job of a key be open. Its `active`
 * state with a heartbeat is our lease, its retry count tells the leases of a job apart, and its failed jobs are ours. A
 * job that is done is deleted, so that its payload does not stay. Times are the server's.
 */
import type { JobQueue } from '../../jobs/queue.ts';
import { addJob } from './add.ts';
import { createJobsContext, inside, type PostgresJobsParts } from './context.ts';
import { completeJob, failJob } from './finish.ts';
import { claimJobs, releaseLease, renewLease } from './lease.ts';
import { dropJobsOfAccount, maintainJobs } from './maintain.ts';
import { countJobs, dropJob, getJob, listJobs, retryJob } from './operate.ts';

export function postgresJobs(parts: PostgresJobsParts): JobQueue {
  const context = createJobsContext(parts);
  return {
    add: (trx, job) => addJob(context, inside(trx), job),
    claim: (slots, held) => claimJobs(context, slots, held),
    renew: (lease) => renewLease(context, lease),
    release: (lease) => releaseLease(context, lease),
    done: (trx, claim, againMs = null) => completeJob(context, inside(trx), claim, againMs),
    fail: (lease, error, permanent = false) => failJob(context, lease, error, permanent),
    list: (input) => listJobs(context, input),
    get: (id) => getJob(context, id),
    count: (db, most) => countJobs(inside(db), most),
    retry: (id) => retryJob(context, id),
    drop: (id) => dropJob(context, id),
    dropAccount: (trx, account, except) => dropJobsOfAccount(inside(trx), account, except),
    maintain: () => maintainJobs(context),
    close: context.close,
  };
}
