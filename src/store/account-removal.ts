/** The end of an account: its keys and members at once, its rows batch by batch. */
import { sql, type Transaction } from 'kysely';
import { lockAccount } from './account-rows.ts';
import { BATCH_ROWS, inBatches } from './batches.ts';
import { releaseSharedHoldsOf } from './charge/shared-hold.ts';
import type { StorageDriver, TableSchema } from './driver.ts';
import { removableTables } from './owned-tables.ts';
import { writeAudit } from './people/audit-log.ts';
import type { AccountId, Actor } from './store.ts';
import type { Tables } from './tables.ts';

/** Deletes those of `users` who are neither members of an account nor operators, with their sessions. */
async function removeUsersWithoutAccount(
  driver: StorageDriver,
  trx: Transaction<Tables>,
  users: readonly string[],
): Promise<void> {
  if (users.length === 0) return;
  // From here on they cannot become members of another account.
  await driver.lockUsers(trx, users);
  await trx
    .deleteFrom('auth_users')
    .where('id', 'in', users)
    .where('operator', '=', 0)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('members').select('user_id').whereRef('members.user_id', '=', 'auth_users.id'))),
    )
    .execute();
}

export async function removeAccount(driver: StorageDriver, id: AccountId, by?: Actor): Promise<boolean> {
  const now = await driver.now();
  return driver.transaction(async (trx) => {
    const account = await lockAccount(driver, trx, id);
    if (account === null || account.test_of !== null) return false;
    const test = await trx.selectFrom('accounts').select('id').where('test_of', '=', id).executeTakeFirst();
    const accounts = test === undefined ? [id] : [id, test.id];
    await driver.lockAccounts(trx, accounts);
    for (const one of accounts) await releaseSharedHoldsOf({ driver, trx, now }, one);
    const ended = { status: 'deleted', external_id: null } as const;
    await trx.updateTable('accounts').set(ended).where('id', 'in', accounts).execute();
    const detail = { account: id, external_id: account.external_id };
    await writeAudit(trx, null, now, by, { action: 'account.deleted', target: account.name, detail });
    await trx.deleteFrom('invitations').where('account_id', '=', id).execute();
    for (const one of accounts) {
      // Such as mails to its members; a job of its own deletes its rows.
      await driver.jobs.dropAccount(trx, one, 'account_removal');
      await addAccountRemovalJob(driver, trx, one);
    }
    const members = await trx.deleteFrom('members').where('account_id', '=', id).returning('user_id').execute();
    const users = members.map((row) => row.user_id);
    await removeUsersWithoutAccount(driver, trx, users);
    return true;
  });
}

/** Deletes up to BATCH_ROWS rows of the first table that has some, or the account itself when none has. */
const removalStep = (driver: StorageDriver, tables: readonly TableSchema[], account: string): Promise<number> =>
  driver.transaction(async (trx) => {
    await driver.lockAccounts(trx, [account]);
    for (const { table, key } of tables) {
      const row = sql.join(key.map((column) => sql.ref(column)));
      const { numAffectedRows } = await sql`
        DELETE FROM ${sql.table(table)} WHERE account_id = ${account} AND (${row}) IN (
          SELECT ${row} FROM ${sql.table(table)} WHERE account_id = ${account} LIMIT ${BATCH_ROWS}
        )`.execute(trx);
      if (Number(numAffectedRows ?? 0) > 0) return Number(numAffectedRows);
    }
    const deletion = trx.deleteFrom('accounts').where('id', '=', account).where('status', '=', 'deleted');
    const { numDeletedRows } = await deletion.where('locked', '=', 0).executeTakeFirst();
    return Number(numDeletedRows);
  });

/** See `Upkeep.removeAccount`. */
export async function removeRows(driver: StorageDriver, account: string, signal?: AbortSignal): Promise<boolean> {
  const { db } = driver;
  const holdsNothing = db
    .selectFrom('accounts')
    .select('id')
    .where('id', '=', account)
    .where('status', '=', 'deleted')
    .where('locked', '=', 0)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('holds').select('holds.id').whereRef('holds.account_id', '=', 'accounts.id'))),
    );
  // A late settlement still finds its account.
  if ((await holdsNothing.executeTakeFirst()) !== undefined) {
    const tables = await removableTables(driver);
    await inBatches(() => removalStep(driver, tables, account), signal);
  }
  const removed =
    (await db.selectFrom('accounts').select('id').where('id', '=', account).executeTakeFirst()) === undefined;
  if (removed) await driver.truncateLog();
  return removed;
}

/** Adds the job of each deleted account that has none, open or failed: of an older version, or dropped. */
export async function addRemovalJobs(driver: StorageDriver): Promise<void> {
  const rows = await driver.db
    .selectFrom('accounts')
    .select('id')
    // It is written literally, so that the partial index answers.
    .where(sql<boolean>`status = 'deleted'`)
    .execute();
  if (rows.length === 0) return;
  const { items } = await driver.jobs.list({ failed: true, limit: FAILED_MAX });
  const failed = new Set(items.filter(({ kind }) => kind === 'account_removal').map(({ account }) => account));
  for (const { id } of rows)
    if (!failed.has(id)) await driver.transaction((trx) => addAccountRemovalJob(driver, trx, id));
}

/** Failed jobs that are looked through. */
const FAILED_MAX = 20_000;

const addAccountRemovalJob = (driver: StorageDriver, trx: Transaction<Tables>, id: string): Promise<string | null> =>
  driver.jobs.add(trx, { kind: 'account_removal', payload: {}, key: id, account: id });
