/**
 * Rows of the ledger past their time become sums of their day: holds, releases, and charges of earlier versions and of
 * shared holds. Grants stay. What a verification is, its deletion sums up (migration 0014).
 */

import type { Transaction } from 'kysely';
import { DAY_MS } from '../../kernel/clock.ts';
import { andRest, BATCH_ROWS, yieldToEventLoop } from '../batches.ts';
import type { StorageDriver } from '../driver.ts';
import type { Row, Tables } from '../tables.ts';

/** Sums up rows from before `before`, `most` at most; returns how many. */
export type LedgerRollUp = (before: number, most: number, signal?: AbortSignal) => Promise<number>;

type Day = Row<'ledger_days'>;

async function addDays(trx: Transaction<Tables>, days: readonly Day[]): Promise<void> {
  if (days.length === 0) return;
  await trx
    .insertInto('ledger_days')
    .values(days)
    .onConflict((oc) =>
      oc.columns(['account_id', 'day']).doUpdateSet((eb) => ({
        verifications: eb('ledger_days.verifications', '+', eb.ref('excluded.verifications')),
        amount: eb('ledger_days.amount', '+', eb.ref('excluded.amount')),
        charged: eb('ledger_days.charged', '+', eb.ref('excluded.charged')),
      })),
    )
    .execute();
}

function daysOf(rows: readonly Pick<Row<'ledger'>, 'account_id' | 'created_at' | 'kind' | 'amount' | 'charged'>[]) {
  const days = new Map<string, { -readonly [K in keyof Day]: Day[K] }>();
  for (const { account_id, created_at, kind, amount, charged } of rows) {
    const day = Math.floor(created_at / DAY_MS) * DAY_MS;
    const id = `${account_id} ${day}`;
    const sum = days.get(id) ?? { account_id, day, verifications: 0, amount: 0, charged: 0 };
    days.set(id, sum);
    sum.verifications += kind === 'settlement' ? 1 : 0;
    sum.amount += amount;
    sum.charged += charged;
  }
  return [...days.values()];
}

const rollUp = (driver: StorageDriver, rows: readonly { id: number; account_id: string }[]): Promise<number> =>
  driver.transaction(async (trx) => {
    await driver.lockAccounts(trx, [...new Set(rows.map((row) => row.account_id))]);
    const ids = rows.map((row) => row.id);
    // Another node may have been here meanwhile.
    const deleted = await trx.deleteFrom('ledger').where('id', 'in', ids).returningAll().execute();
    await addDays(trx, daysOf(deleted));
    return deleted.length;
  });

/** Rows in order of recording. Of a shared hold, the audit needs them for as long as the hold has a row. */
const rowsAfter = ({ db }: StorageDriver, id: number) =>
  db
    .selectFrom('ledger as l')
    .leftJoin('shared_holds as h', 'h.id', 'l.hold_id')
    .select(['l.id', 'l.account_id', 'l.kind', 'l.created_at', 'h.id as hold'])
    .where('l.id', '>', id)
    .orderBy('l.id')
    .limit(BATCH_ROWS)
    .execute();

/** Remembers how far it has read, and begins again every day: what stays is read once a day. */
export function createLedgerRollUp(driver: StorageDriver): LedgerRollUp {
  let read = { day: -1, upTo: 0 };
  return async (before, most, signal) => {
    const day = Math.floor(before / DAY_MS);
    if (read.day !== day) read = { day, upTo: 0 };
    let total = 0;
    for (let rows = BATCH_ROWS; rows === BATCH_ROWS && total < most && !signal?.aborted; await yieldToEventLoop()) {
      const next = await rowsAfter(driver, read.upTo);
      const old = next.filter((row) => row.created_at < before);
      const passing = old.filter(({ kind, hold }) => kind !== 'grant' && hold === null);
      if (passing.length > 0) total += await andRest(() => rollUp(driver, passing));
      read.upTo = old.at(-1)?.id ?? read.upTo;
      rows = old.length;
    }
    return total;
  };
}
