/** The monthly budget of a key: what it was charged in the calendar month (UTC), and what is held for it now. */

import type { Expression, Transaction } from 'kysely';
import { monthOf } from '../../kernel/clock.ts';
import type { Tables } from '../tables.ts';

export interface BudgetCounters {
  /** The first millisecond of the month that `budgetSpent` is of. */
  budgetMonth: number;
  budgetSpent: number;
  /** Counts against the month that it is charged in, so it stays when a month ends. */
  budgetHeld: number;
}
export interface BudgetState extends BudgetCounters {
  readonly id: string;
  /** Credits; null: no budget, and nothing is counted. */
  readonly budget: number | null;
}

/**
 * The month in force at `now`. When the clock is set back, the stored one stays in force, unless it is over a month
 * ahead.
 */
function currentMonth({ budgetMonth, budgetSpent }: Readonly<BudgetCounters>, now: number) {
  const { start, end } = monthOf(now);
  return start > budgetMonth || budgetMonth > end
    ? { month: start, spent: 0 }
    : { month: budgetMonth, spent: budgetSpent };
}

/** What was charged in the month and what is held, together. */
export const budgetUsed = (key: Readonly<BudgetCounters>, now: number): number =>
  currentMonth(key, now).spent + key.budgetHeld;

/** Returns when the month in force ends, ms. */
export const budgetResetsAt = (key: Readonly<BudgetCounters>, now: number): number =>
  monthOf(currentMonth(key, now).month).end;

/** Whether `credits` more may be held or charged; what is held already may always be charged. */
export const fitsBudget = (key: Readonly<BudgetState> | null, credits: number, now: number): boolean =>
  key === null || key.budget === null || credits <= 0 || budgetUsed(key, now) + credits <= key.budget;

/** Counts what is held and charged from now on; negative `held` is given back. */
export function countBudget(key: BudgetCounters, by: { held: number; charged: number }, now: number): void {
  const { month, spent } = currentMonth(key, now);
  key.budgetMonth = month;
  key.budgetSpent = spent + by.charged;
  key.budgetHeld += by.held;
}

// Budgets of keys, for whoever charges in a transaction of their own. The account is locked.

/** Returns the row of a key that has a budget. */
export const budgetRow = (trx: Transaction<Tables>, account: string, key: string | Expression<string>) =>
  trx
    .selectFrom('keys')
    .select(['id', 'budget', 'budget_month as budgetMonth', 'budget_spent as budgetSpent', 'budget_held as budgetHeld'])
    .where('id', '=', key)
    .where('account_id', '=', account)
    .where('budget', 'is not', null);

/** Null for a key without a budget, and for what is no key. */
export const findBudget = async (trx: Transaction<Tables>, account: string, key: string): Promise<BudgetState | null> =>
  (await budgetRow(trx, account, key).executeTakeFirst()) ?? null;

/** What a key without a budget has spent in the month of `now` and has held, for the budget that it gets. */
export async function countersOf(trx: Transaction<Tables>, account: string, key: string, now: number) {
  const { start } = monthOf(now);
  const used = trx.selectFrom('usage_hours').select((eb) => eb.fn.sum<number | null>('credits').as('credits'));
  const charged = used.where('account_id', '=', account).where('hour', '>=', start).where('key_id', '=', key);
  const amounts = async (table: 'holds' | 'shared_holds'): Promise<number> => {
    const held = trx.selectFrom(table).select((eb) => eb.fn.sum<number | null>('amount').as('amount'));
    const row = await held.where('account_id', '=', account).where('key_id', '=', key).executeTakeFirst();
    return Number(row?.amount ?? 0);
  };
  return {
    budget_month: start,
    budget_spent: Number((await charged.executeTakeFirst())?.credits ?? 0),
    budget_held: (await amounts('holds')) + (await amounts('shared_holds')),
  };
}
