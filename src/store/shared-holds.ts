import { BATCH_ROWS, yieldToEventLoop } from './batches.ts';
import { findSharedHold, openSharedHold, releaseSharedHold, type Scope, settlePart } from './charge/shared-hold.ts';
import type { StorageDriver } from './driver.ts';
import { accountId } from './rows.ts';
import type { SharedHolds } from './store.ts';
import type { Row } from './tables.ts';

export function sharedHolds(driver: StorageDriver): SharedHolds {
  const within = async <T>(work: (scope: Scope) => Promise<T>): Promise<T> => {
    const now = await driver.now();
    return driver.transaction((trx) => work({ driver, trx, now }));
  };
  return {
    open: (hold) => within((scope) => openSharedHold(scope, hold)),
    settle: (part) => within((scope) => settlePart(scope, part)),
    renew: (account, id) =>
      within(async ({ trx, now }) => {
        await driver.lockAccounts(trx, [account]);
        const mine = trx
          .updateTable('shared_holds')
          .set((eb) => ({ expires_at: eb('life_ms', '+', now) }))
          .where('id', '=', id)
          .where('account_id', '=', account)
          .where('closed_at', 'is', null);
        return (await mine.executeTakeFirst()).numUpdatedRows === 1n;
      }),
    release: (account, id) => within((scope) => releaseOne(scope, account, id, () => true)),
    async get(account, id) {
      const row = await findSharedHold(driver.db, account, id);
      if (row === undefined) return null;
      const { amount, expires_at: expiresAt, closed_at: closedAt } = row;
      return { id, account: accountId(row.account_id), amount, expiresAt: closedAt === null ? expiresAt : null };
    },
  };
}

async function releaseOne(
  scope: Scope,
  account: string,
  id: string,
  still: (hold: Row<'shared_holds'>) => boolean,
): Promise<number> {
  await scope.driver.lockAccounts(scope.trx, [account]);
  const hold = await findSharedHold(scope.trx, account, id);
  return hold !== undefined && still(hold) ? releaseSharedHold(scope, hold) : 0;
}

/** Releases shared holds that were not renewed in time. Returns how many. */
export async function releaseExpired(driver: StorageDriver, signal?: AbortSignal): Promise<number> {
  let released = 0;
  while (!signal?.aborted) {
    const now = await driver.now();
    const due = await driver.db
      .selectFrom('shared_holds')
      .select(['id', 'account_id'])
      .where('closed_at', 'is', null)
      .where('expires_at', '<=', now)
      .orderBy('expires_at')
      .limit(BATCH_ROWS)
      .execute();
    for (const { id, account_id: account } of due) {
      if (signal?.aborted) break;
      await driver.transaction((trx) =>
        releaseOne({ driver, trx, now }, account, id, (hold) => hold.expires_at <= now),
      );
      released += 1;
    }
    if (due.length < BATCH_ROWS) break;
    await yieldToEventLoop();
  }
  return released;
}
