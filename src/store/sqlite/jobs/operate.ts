/** What operators do: list, retry and drop. */
import type { Kysely } from 'kysely';
import { isJobKind } from '../../../kernel/jobs.ts';
import type { JobCount } from '../../api/stats.ts';
import type { JobRecord, RetryOutcome } from '../../jobs/queue.ts';
import type { Tables } from '../../tables.ts';
import type { JobRow, JobsContext } from './context.ts';

const toRecord = (row: JobRow): JobRecord => ({
  id: row.id,
  kind: row.kind,
  account: row.account_id,
  state: row.state,
  attempts: row.attempts,
  lastError: row.last_error,
  createdAt: row.created_at,
  at: row.state === 'waiting' ? row.due_at : row.failed_at,
});

export async function listJobs({ driver: { db } }: JobsContext, { failed, limit }: { failed: boolean; limit: number }) {
  const state = failed ? '=' : '<>';
  const rows = db.selectFrom('jobs').selectAll().where('state', state, 'failed');
  const newest = rows.orderBy((eb) => eb.fn.coalesce('failed_at', 'created_at'), 'desc').orderBy('id', 'desc');
  const count = db.selectFrom('jobs').select((eb) => eb.fn.countAll<number>().as('n'));
  const { n } = await count.where('state', state, 'failed').executeTakeFirstOrThrow();
  return { items: (await newest.limit(limit).execute()).map(toRecord), total: n };
}

export async function getJob({ driver: { db } }: JobsContext, id: string): Promise<JobRecord | null> {
  const row = await db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined ? null : toRecord(row);
}

/** The index has kind and state, and so the order. */
export const countJobs = (db: Kysely<Tables>, most: number): Promise<JobCount[]> =>
  db
    .selectFrom(db.selectFrom('jobs').select(['kind', 'state']).orderBy('kind').orderBy('state').limit(most).as('j'))
    .select((eb) => ['j.kind', 'j.state', eb.fn.countAll<number>().as('count')])
    .groupBy(['j.kind', 'j.state'])
    .execute();

export async function retryJob({ driver, policies }: JobsContext, id: string): Promise<RetryOutcome> {
  const now = await driver.now();
  return driver.transaction(async (trx) => {
    const mine = trx.selectFrom('jobs').selectAll().where('id', '=', id).where('state', '=', 'failed');
    const row = await mine.executeTakeFirst();
    if (row === undefined || !isJobKind(row.kind)) return 'not_found';
    const same = trx.selectFrom('jobs').select('id').where('kind', '=', row.kind).where('key', '=', row.key);
    if ((await same.where('state', '<>', 'failed').executeTakeFirst()) !== undefined) return 'conflict';
    const attempt_limit = row.attempts + policies[row.kind].attempts;
    const change = { state: 'waiting' as const, attempt_limit, due_at: now, set_at: now, failed_at: null };
    await trx.updateTable('jobs').set(change).where('id', '=', id).execute();
    return 'done';
  });
}

export const dropJob = ({ driver }: JobsContext, id: string): Promise<boolean> =>
  driver.transaction(async (trx) => {
    const mine = trx.deleteFrom('jobs').where('id', '=', id).where('state', '=', 'failed');
    return (await mine.executeTakeFirst()).numDeletedRows === 1n;
  });
