import type { AccountStatus, Plan } from '../../kernel/facts/plans.ts';
import type { MailPayload } from '../../kernel/jobs.ts';
import type { Actor } from './actor.ts';

export type AccountId = string & { readonly __brand: 'AccountId' };

export interface Account {
  readonly id: AccountId;
  readonly name: string;
  readonly plan: Plan;
  /** Requests per window; the plan's own unless one was set. */
  readonly rateLimit: number;
  /** True when `rateLimit` was set for this account. */
  readonly rateLimitSet: boolean;
  readonly status: AccountStatus;
  /** What can still be spent: grants − settled charges − holds. Never below zero. */
  readonly balance: number;
  /** Held by checks that are still running. */
  readonly locked: number;
  /** Days that single verifications are kept; null: as long as the server keeps them. */
  readonly retentionDays: number | null;
  /** Below this balance, owners and admins get an alert; null: never. */
  readonly lowBalance: number | null;
  /** Whether members can use it only in sessions begun with a second factor. */
  readonly secondFactorRequired: boolean;
  readonly createdAt: number;
  /**
   * Of a test account: its live account, whose name, plan, rate limit, status, retention and members it has. Null for a
   * live account.
   */
  readonly testOf: AccountId | null;
}

export interface RateWindow {
  readonly limit: number;
  readonly remaining: number;
  /** When the window ends. */
  readonly resetAt: number;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly total: number;
}

export interface LedgerRow {
  readonly id: string;
  /** `day`: the sum of a day's entries that were deleted after their time. */
  readonly kind: 'grant' | 'hold' | 'settlement' | 'release' | 'day';
  /**
   * Change of the balance: grants +n, holds −n, settlements +(held − charged) or −charged without a hold, releases +n.
   */
  readonly amount: number;
  /** What was charged finally; 0 but in settlements and days. */
  readonly charged: number;
  readonly verificationId: string | null;
  /** How many of them the row of a day sums up. */
  readonly verifications: number | null;
  readonly note: string | null;
  /** Of a day: its first millisecond (UTC). */
  readonly createdAt: number;
}

export interface LedgerPage {
  /** May be fewer than the limit, even if there are more. */
  readonly rows: readonly LedgerRow[];
  /** `before` of the next page; null at the end. */
  readonly next: string | null;
}

/** What an account has and had. */
export interface Funds {
  /** Start of the first day that is told about (UTC), ms. */
  readonly from: number;
  readonly openedAt: number;
  /** Credits that it has now, held ones included. */
  readonly total: number;
  readonly held: number;
  /** Days with verifications, the newest first. `at`: start of the day, ms. */
  readonly days: readonly { readonly at: number; readonly charged: number; readonly verifications: number }[];
  /** Negative ones were taken back. The newest first. */
  readonly grants: readonly { readonly at: number; readonly credits: number; readonly note: string }[];
}

export interface AccountChange {
  readonly name?: string;
  readonly plan?: Plan;
  readonly rateLimit?: number | null;
  readonly status?: AccountStatus;
  readonly retentionDays?: number | null;
  readonly lowBalance?: number | null;
  readonly secondFactorRequired?: boolean;
}

/** The alert to one of the account's admins; null: none. */
export type LowBalanceMail = (account: Account, to: string) => MailPayload | null;

/** An account and the numbers of its members and keys. */
export type AccountSummary = Account & { readonly members: number; readonly keys: number };

export interface AccountInput {
  readonly name: string;
  readonly plan: Plan;
  readonly rateLimit: number | null;
  /** The opening balance, recorded under `note`. */
  readonly credits: number;
  readonly note?: string;
}

/**
 * A test account holds the test data of a live one; it is found by `get`, `testAccount`, `ledger` and `window` only,
 * and what changes or removes its live account changes and removes it.
 *
 * With `by`, a change is written to the audit log in the same transaction; likewise in the other interfaces. Creating
 * anything in a deleted account throws ApiError('not_found').
 */
export interface Accounts {
  create(input: AccountInput, by?: Actor): Promise<Account>;
  /** The account and its owner in one transaction; null if the user is a member of an account already. */
  createFor(owner: string, input: AccountInput, by: Actor): Promise<Account | null>;
  get(id: string): Promise<Account | null>;
  /** The test account of a live account, created when it is missing. Throws ApiError('not_found'). */
  testAccount(live: AccountId): Promise<Account>;
  list(): Promise<Account[]>;
  count(): Promise<number>;
  /** One page, newest first; `query` is searched literally in id and name, without regard to case. */
  search(input: { query: string | null; offset: number; limit: number }): Promise<Page<AccountSummary>>;
  summary(id: string): Promise<AccountSummary | null>;
  set(id: AccountId, change: AccountChange, by?: Actor): Promise<Account | null>;
  /** Adds credits, or removes them when negative; null when the balance would fall below zero. */
  grant(id: AccountId, credits: number, note: string, by?: Actor): Promise<Account | null>;
  /** Newest first. `before`: the `next` of an earlier page; three whole numbers, separated by dots. */
  ledger(id: AccountId, limit: number, before?: string | null): Promise<LedgerPage>;
  /** Charges by day (UTC) and grants from the day of `since` on; all of one state of the store. */
  funds(id: AccountId, since: number): Promise<Funds | null>;
  /**
   * Deletes the account: from now on its keys are refused and nobody is a member; people who are in no other account
   * and no operators go with it. Its rows follow in the rounds of upkeep, as there may be millions.
   */
  remove(id: AccountId): Promise<boolean>;
  /**
   * Accounts whose balance (with what is held, as it may come back) fell below their threshold since this was last
   * called, each returned once on all nodes together; the mails to its owners and admins are added as jobs in the same
   * transaction. One whose balance recovered, or whose threshold changed, can alert again.
   */
  claimLowBalanceAlerts(mailTo: LowBalanceMail, signal?: AbortSignal): Promise<Account[]>;
  /** The rate window as it stands, without counting a request. */
  window(id: AccountId): Promise<RateWindow | null>;
  /**
   * Sums that must agree: balance = Σ amounts of the ledger; locked = Σ holds; Σ charged = Σ verification credits while
   * nothing has been purged. Returns what does not.
   */
  audit(): Promise<string[]>;
}
