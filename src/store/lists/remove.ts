/** Lists that were deleted or have expired, and uploads that were given up. */
import { sql } from 'kysely';
import { DAY_MS, MINUTE_MS } from '../../kernel/clock.ts';
import { LIST_UPLOAD_MINUTES } from '../../kernel/facts/lifetimes.ts';
import { BATCH_ROWS, DELETED_ROWS, inBatches } from '../batches.ts';
import type { StorageDriver } from '../driver.ts';
import { accountId } from '../rows.ts';

import { deleteList } from './end.ts';

const LIST_TABLES = {
  list_waiting: 'address',
  list_chunks: 'first_row',
  list_files: 'piece',
  list_blocks: 'first_row',
} as const;
type ListTable = keyof typeof LIST_TABLES;

/** See `Lists.remove`. */
export async function removeList(
  driver: StorageDriver,
  account: string,
  id: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const deleted = driver.db.selectFrom('lists').select('id').where('id', '=', id).where('account_id', '=', account);
  if ((await deleted.where('status', '=', 'deleted').executeTakeFirst()) === undefined) return true;
  await inBatches(() => resultsStep(driver, id), signal);
  for (const part of ['list_waiting', 'list_chunks', 'list_files', 'list_blocks'] as const)
    await inBatches(() => partStep(driver, account, id, part), signal);
  if (signal?.aborted) return false;
  await driver.db.deleteFrom('lists').where('id', '=', id).where('status', '=', 'deleted').execute();
  await driver.truncateLog();
  return true;
}

/** The results of a list are the verifications of its hold. */
async function resultsStep(driver: StorageDriver, list: string): Promise<number> {
  const results = driver.db.selectFrom('verifications').select(['seq', 'account_id']).where('hold_id', '=', list);
  const some = await results.limit(DELETED_ROWS).execute();
  if (some.length > 0) await driver.bulk.deleteVerifications(some);
  return some.length;
}

async function partStep({ db }: StorageDriver, account: string, list: string, part: ListTable): Promise<number> {
  const column = sql.ref(LIST_TABLES[part]);
  const { numAffectedRows } = await sql`
    DELETE FROM ${sql.table(part)} WHERE account_id = ${account} AND list_id = ${list} AND ${column} IN (
      SELECT ${column} FROM ${sql.table(part)} WHERE account_id = ${account} AND list_id = ${list} LIMIT ${BATCH_ROWS}
    )`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/**
 * Deletes lists that began longer ago than verifications are kept, and uploads to which nothing was added for long.
 * Returns how many.
 */
export async function expireLists(
  driver: StorageDriver,
  now: number,
  keepMs: number,
  signal?: AbortSignal,
): Promise<number> {
  const { db } = driver;
  const own = sql`accounts.retention_days * ${sql.lit(DAY_MS)}`;
  const kept = sql`CASE WHEN ${own} < ${sql.lit(keepMs)} THEN ${own} ELSE ${sql.lit(keepMs)} END`;
  const ended = await db
    .selectFrom('lists')
    .innerJoin('accounts', 'accounts.id', 'lists.account_id')
    .select(['lists.id', 'lists.account_id', 'lists.status'])
    .where('lists.status', 'not in', ['uploading', 'running', 'deleted'])
    .where(sql<boolean>`coalesce(lists.started_at, lists.created_at) < ${sql.lit(now)} - ${kept}`)
    .limit(BATCH_ROWS)
    .execute();
  const stale = await db
    .selectFrom('lists')
    .select(['id', 'account_id', 'status'])
    .where(sql<boolean>`status IN ('uploading', 'deleted')`)
    .where('status', '=', 'uploading')
    .where('changed_at', '<', now - LIST_UPLOAD_MINUTES * MINUTE_MS)
    .limit(BATCH_ROWS)
    .execute();
  const due = [...ended, ...stale];
  for (const { id, account_id, status } of due) {
    if (signal?.aborted) break;
    await deleteList(driver, accountId(account_id), id, [status]);
  }
  return due.length;
}
