import { sql } from 'kysely';
import { toAccount } from './account-rows.ts';
import type { Engine } from './engine.ts';
import type { Account } from './store.ts';

/** Accounts in one transaction. */
const STEP = 500;

/** What running checks hold may come back: only what is spent counts. */
const IS_LOW = sql<boolean>`balance + locked < low_balance`;

/** See `Accounts.fellLow`. What was noted is undone where the balance recovered, or the line was moved or taken away. */
export async function fellLow(engine: Engine): Promise<Account[]> {
  const { db } = engine;
  const now = await engine.now();
  const told: Account[] = [];
  const candidates = await db
    .selectFrom('accounts')
    .select('id')
    .where('low_balance', 'is not', null)
    .where('status', '<>', 'deleted')
    .where((eb) =>
      eb.or([
        eb.and([eb('low_balance_told_at', 'is', null), IS_LOW]),
        eb.and([eb('low_balance_told_at', 'is not', null), eb.not(IS_LOW)]),
      ]),
    )
    .orderBy('id')
    .execute();
  for (let at = 0; at < candidates.length; at += STEP) {
    const ids = candidates.slice(at, at + STEP).map((row) => row.id);
    const fell = await engine.transaction(async (trx) => {
      await engine.lockAccounts(trx, ids);
      const some = trx.updateTable('accounts').where('id', 'in', ids);
      const recovered = some.set({ low_balance_told_at: null }).where('low_balance_told_at', 'is not', null);
      await recovered.where((eb) => eb.not(IS_LOW)).execute();
      const fallen = some.set({ low_balance_told_at: now }).where('low_balance_told_at', 'is', null);
      return fallen.where(IS_LOW).where('status', '<>', 'deleted').returningAll().execute();
    });
    told.push(...fell.map(toAccount));
  }
  return told;
}
