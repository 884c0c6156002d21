import { type OperatorJob, OperatorJobsReply } from '../../contract/dashboard/jobs.ts';
import { Done } from '../../contract/dashboard/session.ts';
import { toIso } from '../../kernel/clock.ts';
import { OPERATOR_JOBS } from '../../kernel/facts/limits.ts';
import { isJobKind, JOB_POLICIES } from '../../kernel/jobs.ts';
import type { JobRecord } from '../../service/jobs.ts';
import { type Route, route } from '../route.ts';
import { done } from './browser-request.ts';

const JOBS = '/dashboard/operator/jobs';

const UNKNOWN_KIND = 'A kind of job that this version of Mailvet does not have.';

const jobReply = (job: JobRecord): OperatorJob => ({
  id: job.id,
  kind: job.kind,
  description: isJobKind(job.kind) ? JOB_POLICIES[job.kind].description : UNKNOWN_KIND,
  account: job.account,
  attempts: job.attempts,
  last_error: job.lastError,
  created_at: toIso(job.createdAt),
  failed_at: toIso(job.at ?? job.createdAt),
});

/** Background jobs that failed, for operators. */
export const JOB_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: JOBS,
    access: 'operator',
    output: { content: OperatorJobsReply },
    doc: { operationId: 'operatorJobs', tag: 'Dashboard', summary: 'Failed background jobs, newest first' },
    serve:
      ({ jobs }) =>
      async () => {
        const { items, total } = await jobs.list('failed', OPERATOR_JOBS);
        return { body: { jobs: items.map(jobReply), total_count: total } };
      },
  }),
  route({
    method: 'POST',
    path: `${JOBS}/:id/retry`,
    access: 'operator',
    output: { content: Done },
    doc: { operationId: 'operatorRetryJob', tag: 'Dashboard', summary: 'Retry a failed job', errors: [404, 422] },
    serve:
      ({ jobs }) =>
      async (_context, { params }) => {
        await jobs.retry(params.id);
        return done('The job will run again.');
      },
  }),
  route({
    method: 'DELETE',
    path: `${JOBS}/:id`,
    access: 'operator',
    output: { content: Done },
    doc: { operationId: 'operatorDropJob', tag: 'Dashboard', summary: 'Drop a failed job', errors: [404] },
    serve:
      ({ jobs }) =>
      async (_context, { params }) => {
        await jobs.drop(params.id);
        return done('The job was dropped.');
      },
  }),
];
