import type { ActorKind } from '../../kernel/audit-actions.ts';
import type { FilterAction, FilterMatch, FilterType } from '../../kernel/facts/filter-types.ts';
import type { AccountStatus, Level, Plan } from '../../kernel/facts/plans.ts';
import type { Reason, Status } from '../../kernel/facts/reasons.ts';
import type { KeyScope } from '../../kernel/facts/scopes.ts';
import type { FilterSort, Sorting } from '../../kernel/facts/sort-orders.ts';
import type { MailPayload } from '../../kernel/jobs.ts';
import type { FilterKeys, FilterRule } from '../filter-kinds.ts';

export type { FilterKeys, FilterRule };

/** Who made a change, as the audit log shows it. */
export interface Actor {
  /**
   * `operator`: a user acting on an account as an operator; `command`: the command line; `service`: the program itself.
   */
  readonly kind: ActorKind;
  /** Id of the user or key. */
  readonly id: string | null;
  /** A user's address, a key's name; what was true at the time. */
  readonly name: string;
  readonly ip: string | null;
}

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

export interface UsageSummary {
  readonly requests: number;
  readonly good: number;
  readonly bad: number;
  readonly credits: number;
  readonly byReason: Readonly<Partial<Record<Reason, number>>>;
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

export interface UsageBucketRow {
  /** Start of the hour or day, ms. */
  readonly at: number;
  readonly level: Level;
  readonly status: Status;
  readonly reason: Reason | null;
  readonly requests: number;
  readonly credits: number;
}

export interface KeyDayRow {
  readonly keyId: string;
  /** Start of the day, ms. */
  readonly at: number;
  readonly requests: number;
}

interface Kept {
  readonly used: number;
  /** That of the account's plan. */
  readonly limit: number;
}

/** What an account keeps in the store beside its log. */
export interface AccountStorage {
  /** Lists, whatever their status, those included that are being uploaded. */
  readonly lists: number;
  /** Bytes of their rows, with LIST_RESULT_BYTES for each address. */
  readonly listBytes: Kept;
  readonly filters: Kept;
}

export interface Usage {
  storage(account: AccountId): Promise<AccountStorage>;
  summary(account: AccountId, from: number, to: number): Promise<UsageSummary>;
  series(account: AccountId, grouping: UsageGrouping, from: number, to: number): Promise<UsageRow[]>;
  /** Since when the account's counters are by the hour, ms; before, they are by the day (UTC). Null: none is. */
  hoursFrom(account: AccountId): Promise<number | null>;
  /**
   * By hour or day (UTC; `size` in ms), oldest first, and by what was found; those without requests are omitted. `key`:
   * of this one only.
   */
  buckets(account: AccountId, from: number, to: number, size: number, key?: string | null): Promise<UsageBucketRow[]>;
  /** Of each key by day (UTC); days without requests are omitted. */
  keyDays(account: AccountId, from: number, to: number): Promise<KeyDayRow[]>;
}

/** What is set of a filter. */
export interface FilterInput {
  readonly filterType: FilterType;
  /** Canonical form; with `match` `mailbox` that of the mailbox. */
  readonly value: string;
  readonly reason: string | null;
  readonly action: FilterAction;
  readonly match: FilterMatch;
  /** By the store's clock, ms: from then on it matches nothing. Null: never. */
  readonly expiresAt: number | null;
}

export interface Filter extends FilterInput {
  /** Counted within the account, and never given again. */
  readonly id: number;
  readonly createdAt: number;
  /** Whether `expiresAt` has come. */
  readonly expired: boolean;
  /** Results that it has decided, or let pass. */
  readonly hits: number;
  readonly lastHitAt: number | null;
}

/** What is left out stays. */
export interface FilterChange {
  readonly reason?: string | null;
  readonly action?: FilterAction;
  /** With the value that goes with it. */
  readonly matching?: Pick<FilterInput, 'match' | 'value'>;
  readonly expiresAt?: number | null;
}

/** See `Filters.matchMany`. */
export interface FilterMatches {
  readonly filters: readonly (FilterRule | null)[];
  /** The account has filters of mail hosts. */
  readonly hasHosts: boolean;
}

export interface Filters {
  /**
   * One with the same value that has expired is replaced. Throws ApiError `too_many_filters`; so does `addMany`, which
   * then adds none.
   */
  add(
    account: AccountId,
    input: FilterInput,
    by?: Actor,
    stored?: ReplyToStore<FilterAdded> | null,
  ): Promise<FilterAdded>;
  /** Many at once in one transaction (imports, benches); answers one outcome for each, in their order. */
  addMany(account: AccountId, inputs: readonly FilterInput[], by?: Actor): Promise<FilterAdded[]>;
  get(account: AccountId, id: number): Promise<Filter | null>;
  /**
   * Null: there is no such filter. `existingId`: another one has the value that it would have. `plan` is given the
   * filter as it is, and may throw.
   */
  change(
    account: AccountId,
    id: number,
    plan: (filter: Filter, now: number) => FilterChange,
    by?: Actor,
  ): Promise<Filter | { readonly existingId: number } | null>;
  /** Oldest first, ids above `after`: for going through all of them. */
  from(account: AccountId, after: number, limit: number): Promise<Filter[]>;
  /**
   * Sorted by `sort`, newest first by default and where it leaves a tie; filters without a reason come after those with
   * one. `query` is searched literally (no wildcards), without regard to case, in value and
   * reason.
   */
  list(
    account: AccountId,
    input: {
      filterType: FilterType | null;
      query: string | null;
      sort?: Sorting<FilterSort>;
      offset: number;
      limit: number;
    },
  ): Promise<Page<Filter>>;
  /** The filter that matches, for each. Null, without a call of `keys`, for an account that has no filters. */
  matchMany(account: AccountId, keys: () => readonly FilterKeys[]): Promise<FilterMatches | null>;
  remove(account: AccountId, id: number, by?: Actor): Promise<boolean>;
}

export type FilterAdded =
  | { readonly added: true; readonly filter: Filter }
  | { readonly added: false; readonly existingId: number };

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

export interface IdempotencyRef {
  /** `POST /v1/verify`. */
  readonly route: string;
  readonly key: string;
  /** SHA-256 of the request body, hex. */
  readonly fingerprint: string;
}
export interface StoredReply {
  readonly status: number;
  readonly body: string;
  /** `Location` and the like; small. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The reply to keep for an Idempotency-Key that admission reserved. A store writes it in the transaction of the change
 * that it reports, so that after a crash a repeated request finds either both or neither.
 */
export interface ReplyToStore<Outcome> {
  readonly ref: IdempotencyRef;
  /** Pure: a transaction may run more than once. Refusals that are outcomes of the change are stored likewise. */
  readonly replyTo: (outcome: Outcome) => StoredReply;
}
