import type { Transaction } from 'kysely';
import type { JobKind } from '../../../kernel/jobs.ts';
import type { Tables } from '../../tables.ts';
import { followClock, type JobsContext } from './context.ts';

export async function dropJobsOfAccount(trx: Transaction<Tables>, account: string, except: JobKind): Promise<void> {
  await trx.deleteFrom('jobs').where('account_id', '=', account).where('kind', '<>', except).execute();
}

export async function maintainJobs({ driver }: JobsContext): Promise<void> {
  const now = await driver.now();
  await driver.transaction(async (trx) => {
    await followClock(trx, now);
    await trx.deleteFrom('jobs').where('state', '=', 'failed').where('due_at', '<=', now).execute();
  });
}
