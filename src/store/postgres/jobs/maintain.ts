import type { JobKind } from '../../../kernel/jobs.ts';
import type { Db } from '../boss.ts';
import { JOB, type JobsContext, query } from './context.ts';

export async function dropJobsOfAccount(db: Db, account: string, except: JobKind): Promise<void> {
  await query(db, `DELETE FROM ${JOB} WHERE group_id = $1 AND name <> $2`, account, except);
}

export async function maintainJobs({ getBoss }: JobsContext): Promise<void> {
  await (await getBoss()).supervise();
}
