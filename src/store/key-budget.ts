/** Budgets of keys, for whoever charges in a transaction of their own. The account is locked. */
import type { Transaction } from 'kysely';
import { monthOf } from '../kernel/clock.ts';
import { type BudgetState, countBudget } from './charge/budget.ts';
import type { Tables } from './tables.ts';

/** Null for a key without a budget, and for what is no key. */
export async function findBudget(trx: Transaction<Tables>, account: string, key: string): Promise<BudgetState | null> {
  const row = await trx
    .selectFrom('keys')
    .select(['id', 'budget', 'budget_month', 'budget_spent', 'budget_held'])
    .where('id', '=', key)
    .where('account_id', '=', account)
    .where('budget', 'is not', null)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { id, budget, budget_month: budgetMonth, budget_spent: budgetSpent, budget_held: budgetHeld } = row;
  return { id, budget, budgetMonth, budgetSpent, budgetHeld };
}

export async function writeBudget(
  trx: Transaction<Tables>,
  key: BudgetState | null,
  by: { held: number; charged: number },
  now: number,
): Promise<void> {
  if (key === null || (by.held === 0 && by.charged === 0)) return;
  countBudget(key, by, now);
  const { budgetMonth: budget_month, budgetSpent: budget_spent, budgetHeld: budget_held } = key;
  await trx.updateTable('keys').set({ budget_month, budget_spent, budget_held }).where('id', '=', key.id).execute();
}

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
