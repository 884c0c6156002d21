/**
 * The monthly allowance of a plan (calendar months, UTC). It is a part of what the account has, `balance` and `locked`
 * together; charges take from it first. What a month gives, less what of the month before ends, is one row of the
 * ledger, written by the first charge of the month.
 */
import { monthName } from '../../kernel/clock.ts';
import type { PlanTerms } from '../../kernel/facts/plans.ts';
import type { AccountId } from '../store.ts';

/** What an account has. */
export interface CreditCounters {
  balance: number;
  /** What is held. */
  locked: number;
  /** What is left of allowances. */
  allowance: number;
}

/** What an account knows of the allowances that it was given. */
export interface GivenAllowances {
  /** The latest months (`2026-11`) whose allowance was given, in order, separated by blanks. */
  allowanceMonths: string;
  /** What the plan has given for the last of them. */
  allowanceGiven: number;
}

/** What charging moves is mutable: each request of a batch sees the changes of those before it. */
export interface CreditState extends CreditCounters, GivenAllowances {
  readonly id: AccountId;
  readonly plan: string;
  /** Its live account; null: it is one. */
  readonly testOf: string | null;
}

/**
 * How many months an account remembers. Months before the first of them are over, so however the clock is set, no month
 * is given twice: one that it was ahead in stays remembered while the skipped ones are given.
 */
const MONTHS_KEPT = 6;

/** A plan's allowance changes a balance so, and leaves the account so. */
export interface Renewal extends GivenAllowances, Pick<CreditCounters, 'allowance'> {
  readonly month: string;
  readonly amount: number;
  /** Null is for the allowance of the month itself. */
  readonly note: string | null;
}

/**
 * What the next charge at `now` has to record first; null: nothing. Credits that are held when their month ends stay,
 * as they may be charged: so the balance never falls below zero. A plan that gives more than the month was given adds
 * the difference.
 */
export function renewalOf(account: Readonly<CreditState>, terms: PlanTerms, now: number): Renewal | null {
  const { allowanceMonths: given, testOf } = account;
  const { monthlyCredits, carryOver } = terms;
  if (testOf !== null || (monthlyCredits === 0 && account.allowance === 0)) return null;
  const month = monthName(now);
  // Programs of the version before do not take charges from the allowance.
  const left = Math.min(account.allowance, account.balance + account.locked);
  if (given.includes(month)) {
    const more = monthlyCredits - account.allowanceGiven;
    if (more <= 0 || !given.endsWith(month)) return null;
    const after = { allowance: left + more, allowanceMonths: given, allowanceGiven: monthlyCredits };
    return { ...after, month, amount: more, note: 'More, by its plan' };
  }
  const months = given === '' ? [] : given.split(' ');
  const [oldest = month] = months;
  if (month < oldest) return null;
  const carried = Math.min(left, Math.max(account.locked, carryOver));
  return {
    month,
    amount: monthlyCredits - (left - carried),
    allowance: carried + monthlyCredits,
    allowanceMonths: [...months, month].sort().slice(-MONTHS_KEPT).join(' '),
    allowanceGiven: monthlyCredits,
    note: null,
  };
}

/** What a change to a plan that gives less takes back of the month's allowance; null: nothing. */
export function withdrawalOf(account: Readonly<CreditState>, terms: PlanTerms, now: number): Renewal | null {
  const { allowance, allowanceMonths, allowanceGiven, balance, locked } = account;
  const month = monthName(now);
  if (!allowanceMonths.endsWith(month)) return null;
  const free = Math.max(0, Math.min(allowance, balance + locked) - locked);
  const taken = Math.min(allowanceGiven - terms.monthlyCredits, free);
  if (taken <= 0) return null;
  const after = { allowance: allowance - taken, allowanceMonths, allowanceGiven: allowanceGiven - taken };
  return { ...after, month, amount: -taken, note: 'Less, by its plan' };
}

/** What can be spent at `now`: the balance once the next charge has renewed the allowance. */
export const spendable = (account: Readonly<CreditState>, terms: PlanTerms, now: number): number =>
  account.balance + (renewalOf(account, terms, now)?.amount ?? 0);
