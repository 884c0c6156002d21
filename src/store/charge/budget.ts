/** The monthly budget of a key: what it was charged in the calendar month (UTC), and what is held for it now. */
import { monthOf } from '../../kernel/clock.ts';

export interface BudgetState {
  readonly id: string;
  /** Credits; null: no budget, and nothing is counted. */
  readonly budget: number | null;
  /** The first millisecond of the month that `budgetSpent` is of. */
  budgetMonth: number;
  budgetSpent: number;
  /** Counts against the month that it is charged in, so it stays when a month ends. */
  budgetHeld: number;
}
type Counters = Pick<BudgetState, 'budgetMonth' | 'budgetSpent' | 'budgetHeld'>;

/**
 * The month in force at `now`. When the clock is set back, the stored one stays in force, unless it is over a month
 * ahead.
 */
function currentMonth({ budgetMonth, budgetSpent }: Readonly<Counters>, now: number) {
  const { start, end } = monthOf(now);
  return start > budgetMonth || budgetMonth > end
    ? { month: start, spent: 0 }
    : { month: budgetMonth, spent: budgetSpent };
}

/** What was charged in the month and what is held, together. */
export const budgetUsed = (key: Readonly<Counters>, now: number): number =>
  currentMonth(key, now).spent + key.budgetHeld;

/** When the month in force ends, ms. */
export const budgetResetsAt = (key: Readonly<Counters>, now: number): number =>
  monthOf(currentMonth(key, now).month).end;

/** Whether `credits` more may be held or charged; what is held already may always be charged. */
export const fitsBudget = (key: Readonly<BudgetState> | null, credits: number, now: number): boolean =>
  key === null || key.budget === null || credits <= 0 || budgetUsed(key, now) + credits <= key.budget;

/** Counts what is held and charged from now on; negative `held` is given back. */
export function countBudget(key: Counters, by: { held: number; charged: number }, now: number): void {
  const { month, spent } = currentMonth(key, now);
  key.budgetMonth = month;
  key.budgetSpent = spent + by.charged;
  key.budgetHeld += by.held;
}
