/**
 * What a store can do, whatever engine is behind it. `openStore` (open.ts) picks SQLite or PostgreSQL by the URL; both
 * rooms have the same shape and pass the same suite (tests/store).
 *
 * Times are milliseconds since the epoch. Credits are whole numbers. Anything an account owns is asked for by its
 * account id first.
 */
import type { Plan } from '../kernel/plans.ts';
import type { Charging, IdempotencyRef, StoredReply, VerificationRecord } from './charging.ts';
import type { Actor, Attempts, Members, Traffic, Trail, Users } from './people.ts';

export type * from './charging.ts';
export type * from './people.ts';

export type AccountId = string & { readonly __brand: 'AccountId' };

export interface Account {
  readonly id: AccountId;
  readonly name: string;
  readonly plan: Plan;
  /** Requests per window; the plan's own unless one was set. */
  readonly rateLimit: number;
  /** True when `rateLimit` was set for this account. */
  readonly rateLimitSet: boolean;
  readonly status: 'active' | 'suspended';
  /** What can still be spent: grants − settled charges − holds. Never below zero. */
  readonly balance: number;
  /** Held by checks that are still running. */
  readonly locked: number;
  /** Days that single verifications are kept; null: as long as the server keeps them. */
  readonly retentionDays: number | null;
  /** Below this balance its people are told; null: never. */
  readonly lowBalance: number | null;
  readonly createdAt: number;
}

export interface Key {
  readonly id: string;
  readonly accountId: AccountId;
  readonly name: string;
  /** The last four characters of the key, to tell keys apart. */
  readonly lastFour: string;
  /** Canonical addresses and CIDRs; empty = from anywhere. */
  readonly allowIps: readonly string[];
  readonly createdAt: number;
  /** From this time on it is refused; in the future for a key that was rolled. */
  readonly revokedAt: number | null;
  /** To the minute, so that a busy key does not cost a write per request. */
  readonly lastUsedAt: number | null;
  readonly lastUsedIp: string | null;
}

export type FilterType = 'email' | 'domain' | 'ip_address';
export interface Filter {
  readonly id: number;
  readonly filterType: FilterType;
  /** Canonical form. */
  readonly value: string;
  readonly reason: string | null;
  readonly createdAt: number;
}

/** Who asks, as the admission found it; only the store mints one. */
export interface Caller {
  readonly accountId: AccountId;
  readonly keyId: string;
  readonly plan: Plan;
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

export interface UsageSummary {
  readonly requests: number;
  readonly good: number;
  readonly bad: number;
  readonly credits: number;
  readonly byReason: Readonly<Record<string, number>>;
}
export type UsageGrouping = 'day' | 'key' | 'reason' | 'validation_type';
export interface UsageRow {
  /** The day (`2026-11-20`, UTC), key id, reason (or `none`) or level. */
  readonly group: string;
  readonly requests: number;
  readonly good: number;
  readonly bad: number;
  readonly credits: number;
}

export interface LedgerRow {
  readonly id: number;
  readonly kind: 'grant' | 'hold' | 'settlement' | 'release';
  /** Change of the balance: grants +n, holds −n, settlements +(held − charged) or −charged without a hold, releases +n. */
  readonly amount: number;
  /** What was charged for good; 0 but in settlements. */
  readonly charged: number;
  readonly verificationId: string | null;
  readonly note: string | null;
  readonly createdAt: number;
}

export interface AccountChange {
  readonly name?: string;
  readonly plan?: Plan;
  readonly rateLimit?: number | null;
  readonly status?: 'active' | 'suspended';
  readonly retentionDays?: number | null;
  readonly lowBalance?: number | null;
}

/**
 * Where `by` is given, a change is written to the audit log in its own transaction; so it is in the other nouns. Whatever
 * is made in an account that is gone throws Refusal('not_found').
 */
export interface Accounts {
  create(
    input: { name: string; plan: Plan; rateLimit: number | null; credits: number; note?: string },
    by?: Actor,
  ): Promise<Account>;
  get(id: string): Promise<Account | null>;
  list(): Promise<Account[]>;
  count(): Promise<number>;
  /** One page, newest first; `query` is searched literally in id and name, without regard to case. */
  search(input: {
    query: string | null;
    offset: number;
    limit: number;
  }): Promise<Page<Account & { readonly members: number; readonly keys: number }>>;
  set(id: AccountId, change: AccountChange, by?: Actor): Promise<Account | null>;
  /** Adds (or, with a negative number, takes back) credits; refuses what would put the balance below zero: null. */
  grant(id: AccountId, credits: number, note: string, by?: Actor): Promise<Account | null>;
  /** Newest first; ids below `before`. */
  ledger(id: AccountId, limit: number, before?: number | null): Promise<LedgerRow[]>;
  /**
   * Deletes the account: from now on its keys are refused and nobody is a member; people who are in no other account
   * and no operators go with it. Its rows follow in the rounds of upkeep, as there may be millions.
   */
  remove(id: AccountId): Promise<boolean>;
  /**
   * Accounts whose balance (with what is held, as it may come back) fell below their line since this was last asked, each
   * answered once on all nodes together; one whose balance recovered, or whose line was moved, counts anew.
   */
  fellLow(): Promise<Account[]>;
  /** The rate window as it stands, without counting a request. */
  window(id: AccountId): Promise<RateWindow | null>;
  /**
   * Sums that must agree: balance = Σ ledger.amount; locked = Σ holds; Σ charged = Σ verification credits while
   * nothing has been purged. Returns what does not.
   */
  audit(): Promise<string[]>;
}
export interface Keys {
  /** `hash` is all that is stored of the key's value. */
  create(
    account: AccountId,
    input: { name: string; hash: string; lastFour: string; allowIps: readonly string[] },
    by?: Actor,
  ): Promise<Key>;
  list(account: AccountId | null): Promise<Key[]>;
  get(id: string): Promise<Key | null>;
  update(
    account: AccountId,
    id: string,
    change: { name?: string; allowIps?: readonly string[] },
    by?: Actor,
  ): Promise<Key | null>;
  /** Final; in force for every request begun after this has returned. Revoking twice keeps the first time. */
  revoke(id: string, by?: Actor): Promise<Key | null>;
  /**
   * In one transaction: a new key with the name and allowlist of `id`, which is refused from `graceMs` on. Null where
   * there is no such key in the account, or it is revoked or on its way to be.
   */
  roll(
    account: AccountId,
    id: string,
    fresh: { hash: string; lastFour: string; graceMs: number },
    by: Actor,
  ): Promise<{ fresh: Key; old: Key } | null>;
}
export interface Filters {
  add(
    account: AccountId,
    input: { filterType: FilterType; value: string; reason: string | null },
    by?: Actor,
  ): Promise<FilterAdded>;
  /** Many at once in one transaction (imports, benches); answers one outcome for each, in their order. */
  addMany(
    account: AccountId,
    inputs: readonly { filterType: FilterType; value: string; reason: string | null }[],
    by?: Actor,
  ): Promise<FilterAdded[]>;
  /** Oldest first, ids above `after`: for going through all of them. */
  from(account: AccountId, after: number, limit: number): Promise<Filter[]>;
  /** Newest first. `query` is searched literally (no wildcards), without regard to case, in value and reason. */
  list(
    account: AccountId,
    input: { filterType: FilterType | null; query: string | null; offset: number; limit: number },
  ): Promise<Page<Filter>>;
  remove(account: AccountId, id: number, by?: Actor): Promise<boolean>;
}
export type FilterAdded =
  | { readonly added: true; readonly filter: Filter }
  | { readonly added: false; readonly existingId: number };

export interface LogSearch {
  /** An address or its beginning, without regard to case. */
  readonly email: string | null;
  readonly id: string | null;
  /** `none`: without a reason. */
  readonly reason: string | null;
  readonly keyId: string | null;
  readonly status: 'good' | 'bad' | null;
  /** Rows before this one. */
  readonly before: number | null;
  readonly limit: number;
}
export type LoggedVerification = VerificationRecord & {
  /** Order of recording; for `before`. */
  readonly seq: number;
  readonly createdAt: number;
  readonly keyId: string;
};
export interface Verifications {
  get(account: AccountId, id: string): Promise<(VerificationRecord & { createdAt: number; keyId: string }) | null>;
  list(
    account: AccountId,
    input: { offset: number; limit: number },
  ): Promise<Page<VerificationRecord & { createdAt: number; keyId: string }>>;
  /**
   * Newest first. Looks through at most 5,000 rows of the account, unless an index answers (id, email): `next` is null
   * at the end, else where to go on, and `searchedTo` the time of the last row looked at.
   */
  search(
    account: AccountId,
    search: LogSearch,
  ): Promise<{ items: LoggedVerification[]; next: number | null; searchedTo: number | null }>;
  /** Deletes what is recorded of an address (without regard to case), replies kept for repeats too; how many. */
  erase(account: AccountId, email: string, by: Actor): Promise<number>;
}
export interface Usage {
  summary(account: AccountId, from: number, to: number): Promise<UsageSummary>;
  series(account: AccountId, grouping: UsageGrouping, from: number, to: number): Promise<UsageRow[]>;
  /** By hour, oldest first; hours without requests are left out. `at`: start of the hour, ms. */
  hours(account: AccountId, from: number, to: number): Promise<(Omit<UsageRow, 'group'> & { readonly at: number })[]>;
}
export interface Upkeep {
  /** Releases the holds (and unfinished idempotency keys) of processes that are gone, and those past their time. */
  releaseDead(): Promise<number>;
  /**
   * Deletes what is past its time, in small steps: verifications older than `before` or than their account's own
   * retention, idempotency keys past their day, old attempts and invitations, traffic of more than 800 days ago, and what
   * is left of deleted accounts.
   */
  purge(before: number): Promise<number>;
}
/** Replies of other routes than verify, kept for an Idempotency-Key after admission reserved it. */
export interface Idempotency {
  finish(caller: Caller, ref: IdempotencyRef, reply: StoredReply): Promise<void>;
  /** Forgets a reservation (the reply was one that is not stored). */
  forget(caller: Caller, ref: IdempotencyRef): Promise<void>;
}

export interface Store {
  readonly engine: 'sqlite' | 'postgres';
  readonly charging: Charging;
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly filters: Filters;
  readonly verifications: Verifications;
  readonly usage: Usage;
  readonly upkeep: Upkeep;
  readonly idempotency: Idempotency;
  readonly users: Users;
  readonly members: Members;
  readonly trail: Trail;
  readonly attempts: Attempts;
  readonly traffic: Traffic;
  /** The tables of the sign-in library (`auth_…`): its own Kysely, and which engine it speaks to. */
  readonly authDatabase: { readonly db: unknown; readonly type: 'sqlite' | 'postgres' };
  /** The named secret of this store, made by `make` on first use; the same for all nodes. */
  secret(name: string, make: () => string): Promise<string>;
  /** Brings the schema to this version. Refuses (throws StoreVersionError) a store that is newer. Safe for two starters. */
  migrate(): Promise<{ from: number; to: number }>;
  /** Answers whether a read and a write would work right now; throws with the reason when not. For /readyz. */
  ping(): Promise<void>;
  /** Waits for what is queued, then closes. */
  close(): Promise<void>;
}
