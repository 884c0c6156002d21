import { randomToken } from '../../../kernel/ids.ts';
import type { JobPolicy } from '../../../kernel/jobs.ts';
import type { NewJob } from '../../jobs/queue.ts';
import { payloadText } from '../../jobs/row.ts';
import type { Db } from '../boss.ts';
import type { JobsContext } from './context.ts';

/** pg-boss deletes jobs that waited for so long, s: a job is never lost, so longer than any server runs. */
const WAITS_SECONDS = 50 * 366 * 86_400;

const optionsOf = (policy: JobPolicy) => ({
  retryLimit: policy.attempts - 1,
  retryBackoff: true,
  retryDelay: policy.backoffSeconds,
  retryDelayMax: policy.backoffMaxSeconds,
  heartbeatSeconds: policy.leaseSeconds,
  expireInSeconds: policy.timeoutSeconds + policy.leaseSeconds,
  deleteAfterSeconds: policy.keepFailedDays * 86_400,
  retentionSeconds: WAITS_SECONDS,
});

export async function addJob({ policies, getBoss }: JobsContext, db: Db, job: NewJob): Promise<string | null> {
  const { kind, payload, key = null, account = null, delayMs = 0 } = job;
  const boss = await getBoss();
  const data: object = JSON.parse(payloadText(payload));
  return boss.send(kind, data, {
    ...optionsOf(policies[kind]),
    // All jobs without a key would have the same one.
    singletonKey: key ?? randomToken(22),
    ...(account === null ? {} : { group: { id: account } }),
    startAfter: delayMs / 1000,
    db,
  });
}
