import type { AccountId } from './accounts.ts';
import type { VerificationRecord } from './charging.ts';

export interface SharedHold {
  readonly id: string;
  readonly account: AccountId;
  /** Credits that are left. */
  readonly amount: number;
  /** Released by the upkeep after this time, ms; null: over. */
  readonly expiresAt: number | null;
}

export interface NewSharedHold {
  readonly id: string;
  readonly account: AccountId;
  /** Under which its results are recorded. */
  readonly keyId: string;
  readonly amount: number;
  /** How long it lasts after each settlement or renewal, ms. */
  readonly lifeMs: number;
}

/** The monthly budget of a key, and when the next one begins, ms. */
export interface BudgetSpent {
  readonly budget: number;
  readonly resetsAt: number;
}

/** `closed`: the hold of this id has ended. */
export type SharedHoldOutcome =
  | { readonly outcome: 'held'; readonly balance: number }
  | { readonly outcome: 'insufficient_credits'; readonly balance: number }
  | ({ readonly outcome: 'key_budget_spent'; readonly balance: number } & BudgetSpent)
  | { readonly outcome: 'closed' | 'account_inactive' };

export interface SettlementPart {
  readonly account: AccountId;
  readonly holdId: string;
  /** `held`: what the hold contains for this result; what its record costs less goes back to the balance. */
  readonly results: readonly { readonly record: VerificationRecord; readonly held: number }[];
}

export interface SettledPart {
  /** Results that were recorded now; the others were before. */
  readonly recorded: number;
  readonly charged: number;
  readonly balance: number;
  /** What is left of the hold. */
  readonly amount: number;
}

/**
 * Credits held for many results, such as those of a list (in payments: an authorization with several captures). It
 * belongs to the work on its results, on any node: the end of a node does not release it. Its owner renews it
 * while work goes on and releases it at the end; when nobody does either for `lifeMs`, the upkeep releases it, and
 * deleting the account does so at once.
 */
export interface SharedHolds {
  /** Idempotent: a second call with the id of an open hold of the account changes nothing. */
  open(hold: NewSharedHold): Promise<SharedHoldOutcome>;
  /**
   * Records results with their charge, one ledger row and the usage counters in one transaction, and renews the hold.
   * A result whose id is already recorded is skipped, so repeating a part charges nothing. What the hold no longer
   * covers is taken from the balance and from the budget of its key; throws ApiError('insufficient_credits') or
   * ApiError('key_budget_spent') where these do not suffice, and ApiError('not_found') when the account was deleted.
   * Then nothing is recorded.
   */
  settle(part: SettlementPart): Promise<SettledPart>;
  /** False when the hold has ended. */
  renew(account: AccountId, id: string): Promise<boolean>;
  /** Returns how many credits went back to the balance; 0 when the hold was over. */
  release(account: AccountId, id: string): Promise<number>;
  get(account: AccountId, id: string): Promise<SharedHold | null>;
}
