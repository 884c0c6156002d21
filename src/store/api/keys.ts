import type { Plan } from '../../kernel/facts/plans.ts';
import type { KeyScope } from '../../kernel/facts/scopes.ts';
import type { AccountId } from './accounts.ts';
import type { Actor } from './actor.ts';

/** Times in ms. */
export interface KeyBudget {
  /** For each calendar month (UTC). */
  readonly credits: number;
  /** The first millisecond of the month that `spent` is of; a later month has spent nothing so far. */
  readonly month: number;
  readonly spent: number;
  /** Held by checks that are still running. */
  readonly held: number;
}

export interface Key {
  readonly id: string;
  readonly accountId: AccountId;
  /** Of a test key: the live account. */
  readonly testOf: AccountId | null;
  readonly name: string;
  /** The last four characters of the key, to tell keys apart. */
  readonly lastFour: string;
  /** Canonical addresses and CIDRs; empty = from anywhere. */
  readonly allowIps: readonly string[];
  readonly scopes: readonly KeyScope[];
  readonly budget: KeyBudget | null;
  readonly createdAt: number;
  /** From this time on it is refused; null: never. */
  readonly expiresAt: number | null;
  /** From this time on it is refused; in the future for a key that was rolled. */
  readonly revokedAt: number | null;
  /** To the minute, so that a busy key does not cost a write per request. */
  readonly lastUsedAt: number | null;
  readonly lastUsedIp: string | null;
}

/** Who asks, as the admission found it; only the store mints one. */
export interface Caller {
  readonly accountId: AccountId;
  readonly keyId: string;
  readonly plan: Plan;
  /** In test mode: the account is a test account. */
  readonly test: boolean;
}

/** What a key is limited to, beside its addresses; absent in a new key: no limit. */
export interface KeyLimits {
  /** Must be in the future, unless it is what it was. */
  readonly expiresAt?: number | null | undefined;
  /** Every scope: those of later versions as well. */
  readonly scopes?: readonly KeyScope[] | undefined;
  /** Credits in a calendar month (UTC). What the key has spent in the month already counts. */
  readonly budget?: number | null | undefined;
}

export interface Keys {
  /**
   * `hash` is all that is stored of the key's value. Throws ApiError: `invalid_parameter` for an expiry in the past,
   * `too_many_keys`.
   */
  create(
    account: AccountId,
    input: { name: string; hash: string; lastFour: string; allowIps: readonly string[] } & KeyLimits,
    by?: Actor,
  ): Promise<Key>;
  /**
   * Of an account, without all but the newest KEYS_MAX of those that are revoked; `withTest`: all of them, those of its
   * test account as well; null: all keys of all accounts.
   */
  list(account: AccountId | null, options?: { readonly withTest?: boolean }): Promise<Key[]>;
  get(id: string): Promise<Key | null>;
  /** Throws as `create` does. */
  update(
    account: AccountId,
    id: string,
    change: { name?: string; allowIps?: readonly string[] } & KeyLimits,
    by?: Actor,
  ): Promise<Key | null>;
  /** Final; in force for every request begun after this has returned. Revoking twice keeps the first time. */
  revoke(id: string, by?: Actor): Promise<Key | null>;
  /**
   * In one transaction: a new key with the settings of `id`, and with what that has spent of its budget, and `id` is
   * refused from `graceMs` on. Null where there is no such key in the account, or it is revoked or on its way to be.
   */
  roll(
    account: AccountId,
    id: string,
    fresh: { hash: string; lastFour: string; graceMs: number },
    by: Actor,
  ): Promise<{ fresh: Key; old: Key } | null>;
}
