/** Hourly usage counters past their time become daily ones: rows whose hour is the first of the day. */
import { sql } from 'kysely';
import { DAY_MS } from '../kernel/clock.ts';
import { USAGE_HOURS_KEPT_DAYS } from '../kernel/facts/limits.ts';
import { andRest, BATCH_ROWS } from './batches.ts';
import type { StorageDriver } from './driver.ts';

/** Makes counters from before `before` daily, `most` rows at most; returns how many rows there are fewer. */
export type UsageRollUp = (before: number, most: number, signal?: AbortSignal) => Promise<number>;

/** The first full day whose counters stay hourly: what a chart of hours may show is not rolled up. */
export const usageHoursFrom = (now: number, keepMs: number): number =>
  Math.floor((now - Math.max(keepMs, USAGE_HOURS_KEPT_DAYS * DAY_MS)) / DAY_MS) * DAY_MS;

const COUNTERS = sql`account_id, key_id, validation_type, status, reason`;

/** Rolls up the account's first day that is not yet, of those before `to`. `done`: there is none. */
const rollUpDay = (driver: StorageDriver, account: string, to: number): Promise<{ rows: number; done: boolean }> =>
  driver.transaction(async (trx) => {
    await driver.lockAccounts(trx, [account]);
    const { rows: firsts } = await sql<{ hour: number | null }>`
      SELECT min(hour) AS hour FROM usage_hours WHERE account_id = ${account} AND hour < ${to}
        AND hour >= (SELECT usage_daily_before FROM accounts WHERE id = ${account})`.execute(trx);
    const first = firsts[0]?.hour ?? null;
    const day = first === null ? to : Math.floor(first / DAY_MS) * DAY_MS;
    const next = first === null ? to : day + DAY_MS;
    const later = sql`account_id = ${account} AND hour > ${day} AND hour < ${next}`;
    if (first !== null)
      await sql`
        INSERT INTO usage_hours (${COUNTERS}, hour, requests, credits)
        SELECT ${COUNTERS}, CAST(${day} AS BIGINT), sum(requests), sum(credits) FROM usage_hours WHERE ${later}
        GROUP BY ${COUNTERS}
        ON CONFLICT (account_id, hour, key_id, validation_type, status, reason) DO UPDATE
          SET requests = usage_hours.requests + excluded.requests, credits = usage_hours.credits + excluded.credits
        `.execute(trx);
    const { numAffectedRows } = await sql`DELETE FROM usage_hours WHERE ${later}`.execute(trx);
    await trx.updateTable('accounts').set({ usage_daily_before: next }).where('id', '=', account).execute();
    return { rows: Number(numAffectedRows ?? 0), done: next === to };
  });

/** Looks at the accounts once for each day. */
export function createUsageRollUp(driver: StorageDriver): UsageRollUp {
  let rolledUpTo = 0;
  return async (before, most, signal) => {
    let total = 0;
    while (rolledUpTo < before && !signal?.aborted) {
      const some = await driver.db
        .selectFrom('accounts')
        .select('id')
        .where('usage_daily_before', '<', before)
        .limit(BATCH_ROWS)
        .execute();
      if (some.length === 0) rolledUpTo = before;
      for (const { id } of some) {
        for (let done = false; !done; ) {
          if (total >= most || signal?.aborted) return total;
          const step = await andRest(() => rollUpDay(driver, id, before));
          total += step.rows;
          done = step.done;
        }
      }
    }
    return total;
  };
}
