/**
 * Until this version, the queue on PostgreSQL was that of the library pg-boss 12, in the schema mailvet_jobs. Programs
 * of the version before go on with it during a rolling upgrade. Whatever nobody runs there is taken over: jobs that
 * wait, that failed, and that a process held which has ended. Triggers (migration 0031) keep jobs of one kind and key
 * from running in both queues at once. One version later this file is deleted, and the schema dropped.
 *
 * Columns: https://github.com/timgit/pg-boss/blob/12.33.0/src/plans.ts (createTableJob).
 */
import { type Kysely, sql } from 'kysely';
import type { JobQueue, StorageDriver } from '../driver.ts';
import type { Tables } from '../tables.ts';

/** Rows that one transaction takes. */
const MIGRATED_AT_ONCE = 500;

export const withJobsOfPgBoss = (driver: StorageDriver, queue: JobQueue): JobQueue => ({
  ...queue,
  async claim(slots, held) {
    if (await isThere(driver)) await takeOver(driver.db, await driver.now());
    return queue.claim(slots, held);
  },
  async dropAccount(trx, account, except) {
    await queue.dropAccount(trx, account, except);
    if (!(await isThere({ db: trx }))) return;
    await sql`DELETE FROM mailvet_jobs.job WHERE group_id = ${account} AND name <> ${except}`.execute(trx);
  },
});

/** A program of the version before may create it at any time. */
async function isThere({ db }: Pick<StorageDriver, 'db'>): Promise<boolean> {
  const there = sql<{ there: boolean }>`SELECT to_regclass('mailvet_jobs.job') IS NOT NULL AS there`;
  return (await there.execute(db)).rows[0]?.there === true;
}

/**
 * One transaction takes over all, so that no job is lost or in both queues. One whose key is open in ours stays until
 * it is not. What a process held comes as a lease that is over, which then counts as a failed attempt.
 */
async function takeOver(db: Kysely<Tables>, now: number): Promise<bigint> {
  const { numAffectedRows } = await sql`
    WITH old AS (
      SELECT *, heartbeat_on + heartbeat_seconds * interval '1s' AS lease_end FROM mailvet_jobs.job
      WHERE left(name, 8) <> '__pgboss' AND singleton_key IS NOT NULL
        AND (state IN ('created', 'retry', 'failed')
          OR state = 'active' AND heartbeat_on + heartbeat_seconds * interval '1s' <= now())
        AND (state = 'failed' OR NOT EXISTS (
          SELECT 1 FROM jobs WHERE kind = name AND key = singleton_key AND jobs.state <> 'failed'))
      LIMIT ${MIGRATED_AT_ONCE} FOR UPDATE SKIP LOCKED
    ), taken AS (
      INSERT INTO jobs (id, kind, key, account_id, payload, state, attempts, attempt_limit, due_at, set_at, last_error,
        created_at, failed_at)
      SELECT id::text, name, singleton_key, group_id, coalesce(data, '{}')::text,
        CASE state WHEN 'failed' THEN 'failed' WHEN 'active' THEN 'running' ELSE 'waiting' END,
        retry_count + (started_on IS NOT NULL)::int, retry_limit + 1,
        floor(extract(epoch FROM CASE state
          WHEN 'failed' THEN completed_on + deletion_seconds * interval '1s'
          WHEN 'active' THEN lease_end ELSE start_after END) * 1000)::bigint,
        ${now}::bigint, output->>'message', floor(extract(epoch FROM created_on) * 1000)::bigint,
        CASE state WHEN 'failed' THEN floor(extract(epoch FROM completed_on) * 1000)::bigint END
      FROM old
      ON CONFLICT DO NOTHING
      RETURNING id, kind
    )
    DELETE FROM mailvet_jobs.job USING taken WHERE job.name = taken.kind AND job.id = taken.id::uuid`.execute(db);
  return numAffectedRows ?? 0n;
}

/** Whether all are in our table afterwards. False: a process of the version before runs one. */
export async function takeAllOver(db: Kysely<Tables>, now: number): Promise<boolean> {
  if (!(await isThere({ db }))) return true;
  while ((await takeOver(db, now)) > 0n);
  const { rows } = await sql`SELECT 1 FROM mailvet_jobs.job WHERE left(name, 8) <> '__pgboss'
    AND singleton_key IS NOT NULL AND state IN ('created', 'retry', 'active', 'failed') LIMIT 1`.execute(db);
  return rows.length === 0;
}
