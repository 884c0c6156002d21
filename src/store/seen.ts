/** Forgets mailboxes that accounts have seen, on request or after a time. Charging remembers them (charge/seen.ts). */
import { sql, type Transaction } from 'kysely';
import { lockExistingAccount } from './account-rows.ts';
import { andRest, BATCH_ROWS } from './batches.ts';
import { hashedMailbox } from './charge/seen.ts';
import type { StorageDriver } from './driver.ts';
import { writeAudit } from './people/audit-log.ts';
import type { AccountId, Actor, Store } from './store.ts';
import type { Tables } from './tables.ts';

/** Rows were deleted, each named by its account. The accounts are locked. */
async function countForgotten(trx: Transaction<Tables>, deleted: readonly { account_id: string }[]): Promise<void> {
  if (deleted.length === 0) return;
  const sums = Map.groupBy(deleted, (row) => row.account_id);
  const rows = Array.from(sums, ([id, { length }]) => sql`(CAST(${id} AS TEXT), CAST(${length} AS BIGINT))`);
  await sql`UPDATE seen_secrets SET mailboxes = mailboxes - forgotten.column2
    FROM (VALUES ${sql.join(rows)}) AS forgotten WHERE account_id = forgotten.column1`.execute(trx);
}

/** Forgets a mailbox in one scope, or in all; returns in how many. The account is locked. */
export async function forgetMailbox(
  trx: Transaction<Tables>,
  account: AccountId,
  mailbox: string,
  scope: string | null,
): Promise<number> {
  const owners = trx.selectFrom('seen_secrets').select('secret').where('account_id', '=', account);
  const owner = await owners.executeTakeFirst();
  // The account has never remembered one.
  if (owner === undefined) return 0;
  const mine = trx.deleteFrom('seen').where('account_id', '=', account);
  let rows = mine.where('mailbox', '=', hashedMailbox(owner, mailbox));
  if (scope !== null) rows = rows.where('scope', '=', scope);
  const deleted = await rows.returning('account_id').execute();
  await countForgotten(trx, deleted);
  return deleted.length;
}

/** Forgets in batches, in the order of the index, so that the rows of other scopes are passed once. */
async function forgetScope(driver: StorageDriver, account: AccountId, scope: string, by: Actor): Promise<number> {
  const now = await driver.now();
  const step = (after: string, before: { forgotten: number; entry: number | null }) =>
    driver.transaction(async (trx) => {
      await lockExistingAccount(driver, trx, account);
      const mine = trx.selectFrom('seen').select('mailbox').where('account_id', '=', account);
      const some = mine.where('scope', '=', scope).where('mailbox', '>', after).orderBy('mailbox');
      const mailboxes = (await some.limit(BATCH_ROWS).execute()).map((row) => row.mailbox);
      const rows = trx.deleteFrom('seen').where('account_id', '=', account).where('scope', '=', scope);
      const these = rows.where(({ ref }) => driver.oneOf(ref('mailbox'), mailboxes));
      const deleted = mailboxes.length === 0 ? [] : await these.returning('account_id').execute();
      await countForgotten(trx, deleted);
      const forgotten = before.forgotten + deleted.length;
      const last = mailboxes.length < BATCH_ROWS ? null : (mailboxes.at(-1) ?? null);
      const detail = { forgotten };
      if (before.entry === null) {
        const entry = await writeAudit(trx, account, now, by, { action: 'scope.forgotten', target: scope, detail });
        return { last, done: { forgotten, entry } };
      }
      const row = trx.updateTable('trail').set({ detail: JSON.stringify(detail) });
      await row.where('id', '=', before.entry).execute();
      return { last, done: { forgotten, entry: before.entry } };
    });
  let { last, done } = await step('', { forgotten: 0, entry: null });
  for (let after = last; after !== null; after = last) {
    const [from, before] = [after, done];
    ({ last, done } = await andRest(() => step(from, before)));
  }
  return done.forgotten;
}

/**
 * Deletes a batch of the mailboxes that were last seen `keepMs` ago or before. Under the lock of their accounts, so
 * that what a charge has found is there until it ends.
 */
export async function purgeSeen(driver: StorageDriver, now: number, keepMs: number): Promise<number> {
  const until = now - keepMs;
  const old = driver.db.selectFrom('seen').select(['account_id', 'mailbox', 'scope']).where('last_at', '<=', until);
  const found = await old.orderBy('last_at').limit(BATCH_ROWS).execute();
  if (found.length === 0) return 0;
  const accounts = [...new Set(found.map((row) => row.account_id))];
  return driver.transaction(async (trx) => {
    await driver.lockAccounts(trx, accounts);
    const keys = found.map(({ account_id, mailbox, scope }) => sql`(${account_id}, ${mailbox}, ${scope})`);
    // Unless it was seen meanwhile.
    const { rows } = await sql<{ account_id: string }>`
      DELETE FROM seen WHERE (account_id, mailbox, scope) IN (VALUES ${sql.join(keys)}) AND last_at <= ${until}
      RETURNING account_id`.execute(trx);
    await countForgotten(trx, rows);
    return rows.length;
  });
}

export const seenMailboxes = (driver: StorageDriver): Store['seen'] => ({
  forget: (account, mailbox, scope) =>
    driver.transaction(async (trx) => {
      await lockExistingAccount(driver, trx, account);
      return forgetMailbox(trx, account, mailbox, scope);
    }),
  forgetScope: (account, scope, by) => forgetScope(driver, account, scope, by),
});
