import type { Policy } from '../../kernel/facts/policies.ts';
import type { AccountId, Actor } from './accounts.ts';

/** Times in ms. */
export interface StoredPolicy extends Policy {
  readonly createdAt: number;
  readonly changedAt: number;
}

/** Those that an account has made; the built-in ones are no rows. */
export interface Policies {
  /** By name. */
  list(account: AccountId): Promise<StoredPolicy[]>;
  get(account: AccountId, name: string): Promise<StoredPolicy | null>;
  /**
   * The account that a key belongs to, whether or not it may be used now: the caller has to admit the request before it
   * tells anything. Null: there is no such key.
   */
  accountOfKey(keyHash: string): Promise<AccountId | null>;
  /** Throws ApiError `too_many_policies`, and `not_found` where the account was deleted. Writes the audit log. */
  put(account: AccountId, policy: Policy, by: Actor | undefined): Promise<{ created: boolean; policy: StoredPolicy }>;
  /** False: there was none. */
  remove(account: AccountId, name: string, by: Actor | undefined): Promise<boolean>;
}
