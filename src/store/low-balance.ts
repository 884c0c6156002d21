import { sql } from 'kysely';
import { monthOf } from '../kernel/clock.ts';
import { toAccount } from './account-rows.ts';
import { BATCH_ROWS } from './batches.ts';
import type { StorageDriver } from './driver.ts';
import { mailAdmins } from './people/members.ts';
import type { Account, LowBalanceMail } from './store.ts';
import { creditsUsed } from './usage.ts';
import { emitEvent } from './webhooks.ts';

/** Held credits may be released: only spent ones count. */
export const IS_LOW = sql<boolean>`balance + locked < low_balance`;

/** See `Accounts.claimLowBalanceAlerts`. Where the balance has recovered, the claim is reset. */
export async function claimLowBalanceAlerts(
  driver: StorageDriver,
  mailTo: LowBalanceMail,
  signal?: AbortSignal,
): Promise<Account[]> {
  const { db } = driver;
  const now = await driver.now();
  const month = monthOf(now);
  const alerts: Account[] = [];
  const candidates = await db
    .selectFrom('accounts')
    .select('id')
    .where('low_balance', 'is not', null)
    .where('status', '=', 'active')
    .where((eb) =>
      eb.or([
        eb.and([eb('low_balance_told_at', 'is', null), IS_LOW]),
        eb.and([eb('low_balance_told_at', 'is not', null), eb.not(IS_LOW)]),
      ]),
    )
    .orderBy('id')
    .execute();
  for (let at = 0; at < candidates.length; at += BATCH_ROWS) {
    const ids = candidates.slice(at, at + BATCH_ROWS).map((row) => row.id);
    if (signal?.aborted) break;
    const fell = await driver.transaction(async (trx) => {
      await driver.lockAccounts(trx, ids);
      const some = trx.updateTable('accounts').where('id', 'in', ids);
      const recovered = some.set({ low_balance_told_at: null }).where('low_balance_told_at', 'is not', null);
      await recovered.where((eb) => eb.not(IS_LOW)).execute();
      const fallen = some.set({ low_balance_told_at: now }).where('low_balance_told_at', 'is', null);
      const rows = await fallen.where(IS_LOW).where('status', '=', 'active').returningAll().execute();
      const accounts = rows.map(toAccount);
      for (const account of accounts) {
        const { id, balance, locked, lowBalance } = account;
        await mailAdmins(driver, trx, id, (to) => mailTo(account, to));
        const used = await creditsUsed(trx, id, month.start, month.end);
        const credits = { total: balance + locked, locked, used, remaining: balance };
        await emitEvent({ driver, trx, now }, id, 'credits.low', { credits, low_balance: lowBalance ?? 0 });
      }
      return accounts;
    });
    alerts.push(...fell);
  }
  return alerts;
}
