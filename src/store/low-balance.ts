import { sql } from 'kysely';
import { monthOf } from '../kernel/clock.ts';
import { creditsOf } from '../kernel/facts/plans.ts';
import { toAccount } from './account-rows.ts';
import { BATCH_ROWS } from './batches.ts';
import type { StorageDriver } from './driver.ts';
import type { Account } from './store.ts';
import { creditsUsed } from './usage.ts';
import { accountEvent, emitEvent, emitOperatorEvent } from './webhooks.ts';

/** Held credits may be released: only spent ones count. */
export const IS_LOW = sql<boolean>`balance + locked < low_balance`;

/** The balance includes the allowance that the next charge will record: its row may not say so yet. */
const isLow = ({ balance, locked, lowBalance }: Account): boolean =>
  lowBalance !== null && balance + locked < lowBalance;

/** See `Accounts.claimLowBalanceAlerts`. Where the balance has recovered, the claim is reset. */
export async function claimLowBalanceAlerts(driver: StorageDriver, signal?: AbortSignal): Promise<Account[]> {
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
      const fallen = trx
        .selectFrom('accounts')
        .selectAll()
        .where('id', 'in', ids)
        .where('low_balance_told_at', 'is', null);
      const rows = await fallen.where(IS_LOW).where('status', '=', 'active').execute();
      const accounts = rows.map((row) => toAccount(driver, row)).filter(isLow);
      for (const account of accounts) {
        await some.set({ low_balance_told_at: now }).where('id', '=', account.id).execute();
        const { id, lowBalance } = account;
        const used = await creditsUsed(trx, id, month.start, month.end);
        const credits = { ...creditsOf(account), used };
        const data = { credits, low_balance: lowBalance ?? 0 };
        await emitEvent({ driver, trx, now }, id, 'credits.low', data);
        const about = { id, name: account.name, external_id: account.externalId };
        await emitOperatorEvent({ driver, trx, now }, id, 'credits.low', { ...data, account: about });
      }
      return accounts;
    });
    alerts.push(...fell);
  }
  await claimExhausted(driver, signal);
  return alerts;
}

/** No credits are left, and none are held. A test account never spends its own. */
const IS_EXHAUSTED = sql<boolean>`balance + locked = 0 AND test_of IS NULL`;

/** Tells operators, once, of each account that has spent its last credits; likewise. */
async function claimExhausted(driver: StorageDriver, signal?: AbortSignal): Promise<void> {
  const { db } = driver;
  // There is no recipient: one that is chosen later gets the state at that time.
  const chosen = db.selectFrom('accounts').select('id').where('operator_events', '=', 1).limit(1);
  if ((await chosen.executeTakeFirst()) === undefined) return;
  const now = await driver.now();
  const candidates = await db
    .selectFrom('accounts')
    .select('id')
    .where('status', '=', 'active')
    .where((eb) =>
      eb.or([
        eb.and([eb('exhausted_told_at', 'is', null), IS_EXHAUSTED]),
        eb.and([eb('exhausted_told_at', 'is not', null), eb.not(IS_EXHAUSTED)]),
      ]),
    )
    .orderBy('id')
    .execute();
  for (let at = 0; at < candidates.length && !signal?.aborted; at += BATCH_ROWS) {
    const ids = candidates.slice(at, at + BATCH_ROWS).map((row) => row.id);
    await driver.transaction(async (trx) => {
      await driver.lockAccounts(trx, ids);
      const some = trx.updateTable('accounts').where('id', 'in', ids);
      const recovered = some.set({ exhausted_told_at: null }).where('exhausted_told_at', 'is not', null);
      await recovered.where((eb) => eb.not(IS_EXHAUSTED)).execute();
      const ended = some.set({ exhausted_told_at: now }).where('exhausted_told_at', 'is', null).where(IS_EXHAUSTED);
      for (const row of await ended.where('status', '=', 'active').returningAll().execute())
        await emitOperatorEvent({ driver, trx, now }, row.id, 'credits.exhausted', { account: accountEvent(row) });
    });
  }
}
