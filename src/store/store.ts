/**
 * The store's interface, the same for SQLite and PostgreSQL. `openStore` (open.ts) chooses the driver by the URL; both
 * pass the same tests (tests/store).
 *
 * Times are milliseconds since the epoch. Credits are whole numbers. Whatever belongs to an account is addressed by the
 * account id first.
 */

import type { ActorKind, AuditAction, AuditSubject, UserAction } from '../kernel/audit-actions.ts';
import type { AlertType, LastingAlertType } from '../kernel/facts/alerts.ts';
import type { OutcomeSum, VerdictGroup } from '../kernel/facts/calibration.ts';
import type { EgressCondition } from '../kernel/facts/checks.ts';
import type {
  AttemptError,
  DeliveryStatus,
  DisabledReason,
  WebhookEventType,
  WebhookFormat,
  WebhookSubscription,
} from '../kernel/facts/events.ts';
import type { FilterAction, FilterMatch, FilterType } from '../kernel/facts/filter-types.ts';
import type { HookKind } from '../kernel/facts/hooks.ts';
import type { Dedupe, FileForm, ListAction, ListError, ListStatus, ReadChoice, SentAs } from '../kernel/facts/lists.ts';
import type { LogConfidence, LogMail, LogNegatable } from '../kernel/facts/log-filters.ts';
import type { Outcome, UsageGrouping, UsageSource } from '../kernel/facts/outcomes.ts';
import type { AccountStatus, LedgerKind, Level, Plans, PlanTerms, Priced } from '../kernel/facts/plans.ts';
import type { Decision, Policy, PolicyAction } from '../kernel/facts/policies.ts';
import type { ReadWarningCode } from '../kernel/facts/read-warnings.ts';
import type { Deliverability, Reason, ReasonOrNone, Status } from '../kernel/facts/reasons.ts';
import type { Role } from '../kernel/facts/roles.ts';
import type { ViewPage } from '../kernel/facts/saved-views.ts';
import type { KeyScope, OperatorScope } from '../kernel/facts/scopes.ts';
import type { ContradictingOutcome, OutcomeClass, OutcomeOrigin, OutcomeProvider } from '../kernel/facts/sent-mail.ts';
import type { AccountSort, FilterSort, ListSort, Sorting } from '../kernel/facts/sort-orders.ts';
import type { JobState, MailPayload } from '../kernel/jobs.ts';
import type { LogOrigin, Via } from '../kernel/log-origins.ts';
import type { FilterKeys, FilterRule } from './filter-kinds.ts';
import type { ClaimOf, Jobs } from './jobs/queue.ts';

/** A file or folder of the store that other users of the host can read or change. */
export interface LooseMode {
  readonly path: string;
  /** The mode is written in octal digits. */
  readonly mode: string;
  /** This command fixes it. */
  readonly fix: string;
}

export interface PendingMigration {
  readonly version: number;
  readonly name: string;
  /** Programs that know this schema version keep working once it is applied. */
  readonly compatibleFrom: number;
}

/** What `migrate` would do to the schema. */
export interface SchemaCheck {
  /** The store has this version; 0 means that it was never migrated. */
  readonly version: number;
  /** Programs that know this version can use the store. */
  readonly compatibleFrom: number;
  /** The latest version that this program knows. */
  readonly known: number;
  readonly pending: readonly PendingMigration[];
  /** Whether nodes that brought the store to its version keep working once the pending ones are applied. */
  readonly rolling: boolean;
}

export interface Store {
  readonly engine: 'sqlite' | 'postgres';
  readonly plans: Plans;
  readonly clock: StoreClock;
  readonly charging: Charging;
  readonly sharedHolds: SharedHolds;
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly operatorKeys: OperatorKeys;
  readonly filters: Filters;
  readonly policies: Policies;
  readonly seen: SeenMailboxes;
  readonly outcomes: Outcomes;
  readonly lists: Lists;
  readonly webhooks: Webhooks;
  readonly alerts: Alerts;
  readonly hooks: Hooks;
  readonly outcomeSources: OutcomeSources;
  readonly verifications: Verifications;
  readonly privacy: Privacy;
  readonly moving: Moving;
  readonly rejectedRequests: RejectedRequests;
  readonly usage: Usage;
  readonly upkeep: Upkeep;
  readonly idempotency: Idempotency;
  readonly users: Users;
  readonly signIns: SignIns;
  readonly members: Members;
  readonly savedViews: SavedViews;
  readonly dismissals: Dismissals;
  readonly auditLog: AuditLog;
  readonly attempts: Attempts;
  readonly traffic: Traffic;
  readonly uncertainReplies: UncertainReplies;
  readonly sharedFiles: SharedFiles;
  readonly nodes: Nodes;
  readonly operatorLeases: OperatorLeases;
  readonly paceSlices: PaceSlices;
  readonly jobs: Jobs;
  readonly stats: StoreStats;
  /** The sign-in library and its tables (`auth_…`) use it: the Kysely instance, and its kind of database. */
  readonly authDatabase: { readonly db: unknown; readonly type: 'sqlite' | 'postgres' };
  /** Returns the named secret of this store, which `make` creates on first use and all nodes share. */
  secret(name: string, make: () => string): Promise<string>;
  /** What is kept where the store is to keep no addresses: under a secret of the store. */
  addressHasher(): Promise<AddressHasher>;
  /** Deletes the named secret if it has this value, because it is kept elsewhere. */
  forgetSecret(name: string, value: string): Promise<void>;
  /**
   * Migrates the schema to this version. Leaves a newer, compatible store as it is; throws StoreVersionError for one
   * that is not compatible. Safe when two processes start.
   */
  migrate(): Promise<{ from: number; to: number }>;
  /** Changes nothing. Throws StoreVersionError. */
  checkSchema(): Promise<SchemaCheck>;
  /** Throws when the store cannot record right now. For /readyz; one at a time. */
  ping(): Promise<void>;
  /** Modes for a warning; there are none on PostgreSQL, and in memory. */
  looseModes(): readonly LooseMode[];
  /** It completes queued requests, then closes. */
  close(): Promise<void>;
}

// Accounts, keys, usage and filters

export type { FilterKeys, FilterRule };

/** Who made a change, as the audit log shows it. */
export interface Actor {
  /**
   * `operator`: a user acting on an account as an operator; `command`: the command line; `service`: the program itself.
   */
  readonly kind: ActorKind;
  /** The ID is that of the user or key. */
  readonly id: string | null;
  /** A user's address, a key's name; what was true at the time. */
  readonly name: string;
  readonly ip: string | null;
}

/** Times are in ms. */
interface KeyBudget {
  /** They may be spent in each calendar month (UTC). */
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
  /** A test key has its live account here. */
  readonly testOf: AccountId | null;
  readonly name: string;
  /** The last four characters of the key, to tell keys apart. */
  readonly lastFour: string;
  /** Canonical addresses and CIDRs; empty means from anywhere. */
  readonly allowIps: readonly string[];
  readonly scopes: readonly KeyScope[];
  readonly budget: KeyBudget | null;
  readonly createdAt: number;
  /** From this time on it is refused; null: never. */
  readonly expiresAt: number | null;
  /** From this time on it is refused; in the future for a key that was rolled. */
  readonly revokedAt: number | null;
  /** The time is exact to the minute, so that a busy key does not cost a write per request. */
  readonly lastUsedAt: number | null;
  readonly lastUsedIp: string | null;
}

/** Who asks, as the admission found it; only the store mints one. */
export interface Caller {
  readonly accountId: AccountId;
  readonly keyId: string;
  readonly plan: string;
  /** The key is of test mode: the account is a test account. */
  readonly test: boolean;
}

/** What a key is limited to, beside its addresses; absent in a new key: no limit. */
export interface KeyLimits {
  /** Must be in the future, unless it is what it was. */
  readonly expiresAt?: number | null | undefined;
  /** DEFAULT_SCOPES: those of later versions as well. */
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
    stored?: OwnedReply<Key> | null,
  ): Promise<Key>;
  /**
   * Lists the keys of an account, with only the newest KEYS_MAX of those that are revoked. `withTest` includes those of
   * its test account; null means all keys of all accounts.
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
   * Makes, in one transaction, a new key with the settings of `id` and what that has spent of its budget; `id` is
   * refused from `graceMs` on. Null where there is no such key in the account, or it is revoked or on its way to be.
   */
  roll(
    account: AccountId,
    id: string,
    fresh: { hash: string; lastFour: string; graceMs: number },
    by: Actor,
  ): Promise<{ fresh: Key; old: Key } | null>;
}

/** Opens the operator API. Times are in ms. */
export interface OperatorKey {
  readonly id: string;
  readonly name: string;
  /** The last four characters of the key, to tell keys apart. */
  readonly lastFour: string;
  /** Canonical addresses and CIDRs; there is at least one. */
  readonly allowIps: readonly string[];
  readonly scopes: readonly OperatorScope[];
  readonly createdAt: number;
  /** From this time on it is refused. */
  readonly expiresAt: number;
  readonly revokedAt: number | null;
  /** The time is exact to the minute. */
  readonly lastUsedAt: number | null;
  readonly lastUsedIp: string | null;
}

interface OperatorKeys {
  /**
   * `hash` is all that is stored of the key's value. Throws ApiError: `invalid_parameter` for an expiry in the past,
   * or too far in the future, `too_many_keys`.
   */
  create(
    input: Pick<OperatorKey, 'name' | 'lastFour' | 'allowIps' | 'scopes' | 'expiresAt'> & { readonly hash: string },
    by: Actor,
  ): Promise<OperatorKey>;
  /** Newest first, revoked ones as well. */
  list(): Promise<OperatorKey[]>;
  /** The key of this hash, whatever its state, and the time of the store; null: there is none. */
  find(hash: string): Promise<{ readonly key: OperatorKey; readonly now: number } | null>;
  recordUse(id: string, ip: string): Promise<void>;
  /** Final; in force for every request begun after this has returned. Null: there is no such key. */
  revoke(id: string, by: Actor): Promise<OperatorKey | null>;
}

interface UsageSummary {
  readonly requests: number;
  readonly good: number;
  readonly bad: number;
  readonly credits: number;
  readonly byReason: Readonly<Partial<Record<Reason, number>>>;
}

export interface UsageRow {
  /** The rows are grouped by day (`2026-11-20`, UTC), key ID, reason (or `none`) or level. */
  readonly group: string;
  readonly requests: number;
  readonly good: number;
  readonly bad: number;
  readonly credits: number;
}

export interface UsageBucketRow {
  /** The hour or day starts at this time, ms. */
  readonly at: number;
  readonly level: Level;
  readonly status: Status;
  readonly reason: Reason | null;
  readonly requests: number;
  readonly credits: number;
}

export type KeyVerdictRow = Omit<UsageBucketRow, 'at'> & { readonly keyId: string };

export interface KeyDayRow {
  readonly keyId: string;
  /** The day starts at this time, ms. */
  readonly at: number;
  readonly requests: number;
}

interface UsedOfLimit {
  readonly used: number;
  /** The account's plan sets the limit. */
  readonly limit: number;
}

/** What an account keeps in the store beside its log. */
export interface AccountStorage {
  /** Lists, whatever their status, those included that are being uploaded. */
  readonly lists: number;
  /** Counts the bytes of their rows, with LIST_RESULT_BYTES for each address. */
  readonly listBytes: UsedOfLimit;
  readonly filters: UsedOfLimit;
}

interface Usage {
  storage(account: AccountId): Promise<AccountStorage>;
  summary(account: AccountId, from: number, to: number): Promise<UsageSummary>;
  series(account: AccountId, grouping: UsageGrouping, from: number, to: number): Promise<UsageRow[]>;
  /**
   * Returns since when the account's counters are by the hour, ms; before, they are by the day (UTC). Null means that
   * none is.
   */
  hoursFrom(account: AccountId): Promise<number | null>;
  /**
   * Buckets are by hour or day (UTC, `bucketMs`), oldest first, and by what was found; those without requests are
   * omitted.
   */
  buckets(
    account: AccountId,
    from: number,
    to: number,
    bucketMs: number,
    of?: {
      readonly source?: UsageSource | null;
      readonly keys?: readonly string[] | null;
      /** Selects all but those keys. */
      readonly notKeys?: boolean;
    },
  ): Promise<UsageBucketRow[]>;
  /** Counts by key and by what was found. */
  byKey(account: AccountId, from: number, to: number, source: UsageSource | null): Promise<KeyVerdictRow[]>;
  /** Counts each key by day (UTC); days without requests are omitted. */
  keyDays(account: AccountId, from: number, to: number, source: UsageSource | null): Promise<KeyDayRow[]>;
  /** How many verifications were counted before calls and lists were counted separately. */
  withoutSource(account: AccountId, from: number, to: number): Promise<number>;
}

/** What is set of a filter. */
export interface FilterInput {
  readonly filterType: FilterType;
  /** The value is in canonical form; with `match` `mailbox`, in that of the mailbox. */
  readonly value: string;
  readonly reason: string | null;
  readonly action: FilterAction;
  readonly match: FilterMatch;
  /** It matches nothing from then on, by the store's clock, ms; null means that it does not expire. */
  readonly expiresAt: number | null;
}

export interface Filter extends FilterInput {
  /** Ids count within the account and are never given again. */
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
  /** `match` changes only together with its value. */
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
  /** Returns for each the filter in force that stands in its way; null means that it could be added. */
  existing(account: AccountId, inputs: readonly FilterInput[]): Promise<(Filter | null)[]>;
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
  /** Returns ids above `after`, oldest first, for going through all of them. */
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
  readonly plan: string;
  readonly terms: PlanTerms;
  /** Requests per window; the plan's own unless one was set. */
  readonly rateLimit: number;
  /** True when `rateLimit` was set for this account. */
  readonly rateLimitSet: boolean;
  readonly status: AccountStatus;
  /**
   * What can still be spent: grants and allowances − settled charges − holds. Never below zero. With the allowance that
   * the first charge of the month will record, if there was none yet.
   */
  readonly balance: number;
  /** Held by checks that are still running. */
  readonly locked: number;
  /** What is left of the month's allowance, out of `balance` and `locked`. It is spent first. */
  readonly allowance: number;
  /** Days that single verifications are kept; null: as long as the server keeps them. */
  readonly retentionDays: number | null;
  /** For so many days a bounce of an address counts as its verdict; null means that the address is verified. */
  readonly trustBouncesDays: number | null;
  /** Below this balance, owners and admins get an alert; null: never. */
  readonly lowBalance: number | null;
  /** Whether members can use it only in sessions begun with a second factor. */
  readonly secondFactorRequired: boolean;
  readonly createdAt: number;
  /**
   * A test account has the name, plan, rate limit, status, retention and members of this live account. Null means that
   * the account is live.
   */
  readonly testOf: AccountId | null;
  /** What whoever created it by the operator API calls it; unique. */
  readonly externalId: string | null;
  /** Whether its webhooks get events of all accounts. */
  readonly operatorEvents: boolean;
}

export interface RateWindow {
  readonly limit: number;
  readonly remaining: number;
  /** The window ends at this time. */
  readonly resetAt: number;
}

interface Page<T> {
  readonly items: readonly T[];
  readonly total: number;
}

/** A query for a page, by the number of the page, from 1. */
export type ByPage<Query> = Omit<Query, 'offset' | 'limit'> & { readonly page: number; readonly perPage: number };

export interface LedgerRow {
  readonly id: string;
  readonly kind: LedgerKind;
  /**
   * It changes the balance: grants by +n, allowances +n (less what ended with the month before), holds −n, settlements
   * +(held − charged) or −charged without a hold, releases +n.
   */
  readonly amount: number;
  /** What was charged finally; 0 but in settlements and days. */
  readonly charged: number;
  readonly verificationId: string | null;
  /** The row of a day sums up this many of them. */
  readonly verifications: number | null;
  readonly note: string | null;
  /** For a day, it is its first millisecond (UTC). */
  readonly createdAt: number;
}

export interface LedgerPage {
  /** May be fewer than the limit, even if there are more. */
  readonly rows: readonly LedgerRow[];
  /** The next page has this as `before`; null means that this page is the last. */
  readonly next: string | null;
}

/** What an account has and had. */
export interface Funds {
  /** Start of the first day that is shown (UTC), ms. */
  readonly from: number;
  readonly openedAt: number;
  /** Credits that it has now, held ones included. */
  readonly total: number;
  readonly held: number;
  /** Days with verifications, the newest first. `at`: start of the day, ms. */
  readonly days: readonly {
    readonly at: number;
    readonly charged: number;
    /** Lists have this part of `charged`; it lacks what earlier versions counted. */
    readonly chargedByLists: number;
    readonly verifications: number;
  }[];
  /** Negative ones were taken back. The newest first. */
  readonly grants: readonly { readonly at: number; readonly credits: number; readonly note: string }[];
}

export interface AccountChange {
  readonly name?: string;
  readonly plan?: string;
  readonly rateLimit?: number | null;
  readonly status?: AccountStatus;
  readonly retentionDays?: number | null;
  readonly trustBouncesDays?: number | null;
  readonly lowBalance?: number | null;
  readonly secondFactorRequired?: boolean;
  readonly operatorEvents?: boolean;
}

/** It adds the numbers of its members and keys. */
export type AccountSummary = Account & {
  readonly members: number;
  readonly keys: number;
  /** Sums the credits charged in the last SPENT_DAYS. */
  readonly spent: number;
  /** The start of the hour, or of the day where it is long ago, of the last verification, ms. */
  readonly usedAt: number | null;
};

export interface AccountInput {
  readonly name: string;
  readonly plan: string;
  readonly rateLimit: number | null;
  /** The opening balance is recorded under `note`. */
  readonly credits: number;
  readonly note?: string;
  readonly externalId?: string | null;
}

/** What is stored in the transaction that creates an account. */
interface WithAccount {
  readonly invitation?: InvitationInput | null;
  readonly stored?: OwnedReply<Account> | null;
}

/** A grant that is made once, whoever asks for it again. */
export interface ExternalGrant {
  readonly externalId: string;
  readonly credits: number;
  readonly note: string;
  readonly createdAt: number;
}
export interface GrantOutcome {
  readonly grant: ExternalGrant;
  /** As it is now. */
  readonly account: Account;
  /** The grant had been made before: nothing was changed. */
  readonly repeated: boolean;
}

/**
 * A test account holds the test data of a live one; it is found by `get`, `testAccount`, `ledger` and `window` only,
 * and what changes or removes its live account changes and removes it.
 *
 * With `by`, a change is written to the audit log in the same transaction; likewise in the other interfaces. Creating
 * anything in a deleted account throws ApiError('not_found').
 */
interface Accounts {
  /** Throws ApiError `external_id_taken`. */
  create(input: AccountInput, by?: Actor, more?: WithAccount): Promise<Account>;
  /** The account and its owner in one transaction; null if the user is a member of an account already. */
  createFor(owner: string, input: AccountInput, by: Actor): Promise<Account | null>;
  get(id: string): Promise<Account | null>;
  /** The test account of a live account, created when it is missing. Throws ApiError('not_found'). */
  testAccount(live: AccountId): Promise<Account>;
  list(): Promise<Account[]>;
  count(): Promise<number>;
  /** How many accounts have each plan. */
  byPlan(): Promise<readonly { readonly plan: string; readonly accounts: number }[]>;
  /**
   * One page, newest first unless `sort` says otherwise; `query` is searched literally in id and name, without regard
   * to case.
   */
  search(input: {
    query: string | null;
    sort?: Sorting<AccountSort>;
    offset: number;
    limit: number;
  }): Promise<Page<AccountSummary>>;
  summary(id: string): Promise<AccountSummary | null>;
  set(id: AccountId, change: AccountChange, by?: Actor): Promise<Account | null>;
  /** Adds credits, or removes them when negative; null when the balance would fall below zero. */
  grant(id: AccountId, credits: number, note: string, by?: Actor): Promise<Account | null>;
  /**
   * The same, once for each `externalId`: a second one changes nothing, for as long as the store exists. Throws
   * ApiError: `not_found`, `balance_too_small`, `grant_conflict` where the id belongs to a grant of other credits or to
   * another account.
   */
  grantOnce(
    id: AccountId,
    grant: Omit<ExternalGrant, 'createdAt'>,
    by: Actor,
    stored?: OwnedReply<GrantOutcome> | null,
  ): Promise<GrantOutcome>;
  /**
   * Returns rows newest first. `before` is the `next` of an earlier page: three whole numbers, separated by dots.
   */
  ledger(id: AccountId, limit: number, before?: string | null): Promise<LedgerPage>;
  /** Charges by day (UTC) and grants from the day of `since` on; all of one state of the store. */
  funds(id: AccountId, since: number): Promise<Funds | null>;
  /**
   * Deletes the account: from now on its keys are refused and nobody is a member; people who are in no other account
   * and no operators go with it. Its rows follow in the rounds of upkeep, as there may be millions.
   */
  remove(id: AccountId, by?: Actor): Promise<boolean>;
  /**
   * Accounts whose balance (with what is held, as it may come back) fell below their threshold since this was last
   * called, each returned once on all nodes together; the mails to its owners and admins are added as jobs in the same
   * transaction. One whose balance recovered, or whose threshold changed, can alert again.
   */
  claimLowBalanceAlerts(signal?: AbortSignal): Promise<Account[]>;
  /** Returns the rate window as it is, without counting a request. */
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
  /** The fingerprint is the SHA-256 of the request body in hex. */
  readonly fingerprint: string;
}
export interface StoredReply {
  readonly status: number;
  readonly body: string;
  /** Only small headers, such as `Location`, are kept. */
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

/** Does the same for an operator key, whose id stands in the place of an account's. */
export interface OwnedReply<Outcome> extends ReplyToStore<Outcome> {
  readonly owner: string;
}

// Charging: the request and the outcome of admission, and the settlement of a hold

interface SharedHold {
  readonly id: string;
  readonly account: AccountId;
  /** Credits that are left. */
  readonly amount: number;
  /** The upkeep releases it after this time, ms; null: it is over. */
  readonly expiresAt: number | null;
}

export interface NewSharedHold {
  readonly id: string;
  readonly account: AccountId;
  /** Its results are recorded under this key. */
  readonly keyId: string;
  readonly amount: number;
  /** How long it lasts after each settlement or renewal, ms. */
  readonly lifeMs: number;
}

/** A key has spent its monthly budget; the next one begins at `resetsAt`, ms. */
interface BudgetSpent {
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
interface SharedHolds {
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

/**
 * Replies of other routes than verify, of an owner: an account, or an operator key. Errors are stored for the key that
 * admission reserved; they go with no change.
 */
interface Idempotency {
  /**
   * The stored reply, for a key that nothing was reserved for: a body that is read as it arrives has its hash at its
   * end. Throws ApiError `idempotency_key_reused`.
   */
  find(owner: string, ref: IdempotencyRef): Promise<StoredReply | null>;
  /**
   * Reserves the key for callers without an admission, which does so otherwise: operator keys. Returns the stored
   * reply; null means reserved. Throws ApiError `idempotency_key_reused`, `idempotency_in_progress`.
   */
  reserve(owner: string, ref: IdempotencyRef): Promise<StoredReply | null>;
  finish(owner: string, ref: IdempotencyRef, reply: StoredReply): Promise<void>;
  /** Forgets a reservation (the reply was one that is not stored). */
  forget(owner: string, ref: IdempotencyRef): Promise<void>;
}

/** Hashes of an address and of its mailbox; null: it has none. */
interface KeptAddress {
  readonly email: string;
  readonly mailbox: string | null;
}
export type AddressHasher = (email: string, mailbox: string | null) => KeptAddress;

/** The log shows the record, and the ledger charges for it. */
export interface VerificationRecord {
  /** `ver_…`, made by the caller so that the recorded reply can name it. */
  readonly id: string;
  /** As sent. NUL and lone surrogates are stored as U+FFFD. */
  readonly email: string;
  readonly requested: Level;
  readonly validationType: Level;
  readonly status: Status;
  readonly deliverability: Deliverability;
  readonly reason: Reason | null;
  /** As `body` says. */
  readonly credits: number;
  /**
   * What it is priced as: where the account's plan has another price than `credits`, the store corrects both that and
   * `body`. Null by default: it costs `credits`, whatever the plan.
   */
  readonly price?: Priced | null;
  readonly clientIp: string | null;
  readonly durationMs: number;
  /** The reply's JSON text, exactly as it is sent. */
  readonly body: string;
  /** The contract through which it was asked for; null by default: our own. */
  readonly via?: Via | null;
  /** What the policy of the request said; null by default: it had none. */
  readonly decision?: PolicyAction | null;
  /** The hashes replace the address and its mailbox; null, the default, means that these are kept. */
  readonly keptAs?: KeptAddress | null;
  /** The account's filter that matched: recording counts a hit of it. None by default. */
  readonly filterId?: number | null;
  /** What the policy decides where the request's sighting shows that the mailbox was seen before; null: the same. */
  readonly decisionIfSeen?: Decision | null;
}

/** What the store has completed of a record, by what it knows of a mailbox and of prices. */
export type CompletedReply = Pick<VerificationRecord, 'body' | 'decision'>;

/** That a mailbox is to be remembered in a scope of the account. Neither address is stored. */
export interface Sighting {
  readonly scope: string;
  /** The canonical address, by which the spellings of one mailbox are equal. */
  readonly mailbox: string;
  /** The spelling is the normalized address. */
  readonly spelling: string;
}

/** What an account has remembered of sightings. */
interface SeenMailboxes {
  /** Forgets it in one scope, or in all (null). Returns in how many it was known. */
  forget(account: AccountId, mailbox: string, scope: string | null): Promise<number>;
  /** Returns how many mailboxes it had. */
  forgetScope(account: AccountId, scope: string, by: Actor): Promise<number>;
}

export interface AdmissionRequest {
  /**
   * `hashApiKey(key)`; or an account: of a hook that was called, whose id stands for the key, or the one that a person
   * signed in to, which is charged under the key id `dashboard`.
   */
  readonly keyHash: string | { readonly account: AccountId; readonly hook?: string };
  /**
   * What the request is for: an API key must have it, a signed-in user need not. `any`: it is counted, whichever the
   * key has. Null: the key and its allowlist are checked, and nothing is counted.
   */
  readonly scope: KeyScope | 'any' | null;
  /** The caller's IP address is canonical (v4-mapped is already folded to v4). */
  readonly ip: string;
  /** The request itself is unusable (400, 413, 415, 422): judged up to the rate window, then handed back. */
  readonly invalid: boolean;
  readonly idempotency: IdempotencyRef | null;
  readonly verify: VerifyAdmission | null;
  /** Whether the client has disconnected; a request whose reply nobody awaits is dropped before its transaction. */
  readonly hasDisconnected?: () => boolean;
}
export interface VerifyAdmission {
  readonly id: string;
  readonly level: Level;
  /** Judged in test mode; throws where the account is of the other one. */
  readonly test: boolean;
  readonly filterKeys: FilterKeys;
  /**
   * Remembered with the record, whose reply then says in `seen` what was known; refused where the account has no room
   * for one more mailbox. None by default.
   */
  readonly seen?: Sighting | null;
  /** The verdict costs nothing, and `decide` has it, unless a filter allows. False by default. */
  readonly free?: boolean;
  /** Milliseconds until a hold whose process is silent may be released. */
  readonly holdMs: number;
  /**
   * Called with the matching filter, unless one may match once the mail hosts are known. Returns the record when the
   * verdict needs no network (then it is charged and recorded in the transaction that found the filter to match), or
   * null when it has to be worked out (then `heldPrice` of the level is held; nothing in test mode). Must be pure: it
   * may be called again, and in vain.
   */
  readonly decide: (filter: FilterRule | null) => VerificationRecord | null;
}

type PlainRefusal =
  | 'invalid_api_key'
  | 'revoked_api_key'
  | 'ip_not_allowed'
  | 'rate_limit_exceeded'
  | 'insufficient_credits'
  | 'idempotency_in_progress'
  | 'idempotency_key_reused';
export type Refusal =
  | { readonly code: PlainRefusal }
  /** `upgrade`: the plan that has the level; null: none has. */
  | { readonly code: 'plan_upgrade_required'; readonly upgrade: string | null }
  | { readonly code: 'expired_api_key'; readonly expiredAt: number }
  | { readonly code: 'scope_missing'; readonly scope: KeyScope }
  | { readonly code: 'too_many_mailboxes'; readonly limit: number }
  /** `left` is what is left of the budget, holds deducted. `resetsAt` is in ms. */
  | { readonly code: 'key_budget_spent'; readonly budget: number; readonly left: number; readonly resetsAt: number };

/**
 * The outcome of admission, in the contract's order of refusal: key (an unknown one, or one of an account that is
 * deleted or suspended, is `invalid_api_key`), IP allowlist, scope, rate window, idempotency (for unusable requests
 * too: their 400 and 422 are stored replies), [`invalid` is handed back here as `admitted`], plan, room for a mailbox,
 * filters, credits, budget of the key. What a filter blocks costs nothing, so it needs neither of the last two:
 * `decide` is then called with it and its record settles at once. Credits and budget must cover `heldPrice` even when
 * the verdict turns out to cost less, so that an answer does not depend on what is cached. Holds count against the
 * budget while they last, so it is never exceeded. `caller` and `window` are there from the moment the key is known to
 * be good. A request refused with 401 or 403 does not count in the window; every other one counts once, a 429 not.
 */
export type Admission =
  | (Refusal & {
      readonly outcome: 'refused';
      readonly caller: Caller | null;
      readonly window: RateWindow | null;
      readonly balance: number | null;
    })
  | {
      readonly outcome: 'replay';
      readonly caller: Caller;
      readonly window: RateWindow;
      readonly reply: StoredReply;
      readonly balance: number;
    }
  | {
      readonly outcome: 'admitted';
      readonly caller: Caller;
      readonly window: RateWindow;
      readonly filter: FilterRule | null;
      /** The account has filters of mail hosts, none matched before, and `FilterKeys.mxHosts` was not known. */
      readonly matchesHosts: boolean;
      readonly balance: number;
    }
  | {
      readonly outcome: 'settled';
      readonly caller: Caller;
      readonly window: RateWindow;
      readonly record: VerificationRecord;
      /** Where it is not that of the record. */
      readonly completed?: CompletedReply;
      readonly balance: number;
    };

export interface Settlement {
  readonly caller: Caller;
  /** Null gives the hold back without a charge (no verdict could be given). */
  readonly record: VerificationRecord | null;
  /** The id the hold was taken under. */
  readonly holdId: string;
  readonly idempotency: IdempotencyRef | null;
  /** Says what had been seen at the admission. */
  readonly seen?: Sighting | null;
}

export interface Settled {
  readonly balance: number;
  /** Where it is not that of the record. */
  readonly completed?: CompletedReply;
}

/** The latest results are by `Clock.elapsed()`; null means that there are none yet. */
export interface ChargingHealth {
  /** A charge or a hold was recorded. */
  readonly chargedAt: number | null;
  /** The store could not record. */
  readonly failure: { readonly at: number; readonly cause: unknown } | null;
}

/** Metrics show these counts since the store was opened. */
export interface ChargingStats {
  /** Counts transactions that began for batches. */
  readonly batches: number;
  /** Counts requests that were answered, refusals included. */
  readonly answered: number;
  /** Requests rejected because the store could not record. */
  readonly failed: number;
  /** Counts requests that a full queue turned away. */
  readonly overloaded: number;
  /** Requests that waited longer than STORE_WAIT_SECONDS. */
  readonly expired: number;
  /** Counts requests whose client disconnected before their transaction. */
  readonly dropped: number;
  /** Times that a request was set aside because another session had locked its account. */
  readonly setAside: number;
}

/**
 * The charge: both calls are micro-batched; each answers after its commit, or after STORE_WAIT_SECONDS with
 * ApiError('verification_unavailable'). By then an admission that is still in the queue is not charged; one whose
 * transaction was under way is either not charged, or charged with its record, and a hold that it took is released. A
 * settlement stays in the queue until it is recorded. A full queue throws ApiError('overloaded') to
 * `admit`; `settle` is never turned away, as what it finishes was admitted once and is bounded by that. When the store
 * cannot record, both throw ApiError('verification_unavailable') and nothing was charged.
 */
export interface Charging {
  /**
   * Opens the connections that charging needs, so that the first requests do not wait for them. What cannot be opened
   * is opened, or reported, by the request that needs it.
   */
  open(): Promise<void>;
  admit(request: AdmissionRequest): Promise<Admission>;
  /**
   * Turns a hold into its charge and writes the record, ledger rows, usage counters and the idempotent reply in one
   * transaction; or, with `record: null`, releases the hold and forgets the idempotency key. Idempotent by record id.
   * `balance` is that afterwards. When the hold was released meanwhile, it charges from the balance if that
   * suffices, else throws ApiError('verification_unavailable') and records nothing; so it does, with
   * ApiError('idempotency_in_progress'), when another request has taken the idempotency key meanwhile.
   */
  settle(settlement: Settlement): Promise<Settled>;
  /** Counts requests that wait for a transaction. */
  readonly waiting: number;
  readonly stats: ChargingStats;
  readonly health: ChargingHealth;
}

// The log

/** A request with a valid key that got an error. */
export interface RejectedRequest {
  readonly account: AccountId;
  /** When it was answered, ms. */
  readonly at: number;
  /** The request ID of the reply; the client may have chosen it. */
  readonly requestId: string;
  readonly keyId: string;
  /** The caller's IP address is canonical. */
  readonly clientIp: string;
  /** The row of the route has this method and path, without values. */
  readonly route: string;
  readonly status: number;
  /** The code of the error; null where the reply had none. */
  readonly code: string | null;
  /** The contract that it speaks; null: our own, or the dashboard's. */
  readonly via: Via | null;
  /** What a hook answered although there was no verdict; null by default: it was no such call. */
  readonly answer?: PolicyAction | null;
}

/** The requests of a minute beyond those that are logged are only counted. */
export interface MoreRejectedRequests {
  readonly account: AccountId;
  /** The minute starts at this time, ms. */
  readonly at: number;
  readonly count: number;
}

type RejectedColumns = Omit<RejectedRequest, 'account' | 'at'>;

/** The log has one request in a row, or with null in all other columns those of a minute that were only counted. */
export type LoggedRejection = {
  readonly [K in keyof RejectedColumns]-?: Exclude<RejectedColumns[K], undefined> | null;
} & {
  readonly id: number;
  readonly at: number;
  readonly count: number;
};

/** A place in the log, newest first; rows after it are older. */
export interface RejectionPosition {
  readonly at: number;
  readonly id: number;
}

export interface RejectionSearch {
  readonly before: RejectionPosition | null;
  readonly limit: number;
  readonly requestId?: string | null;
  readonly keyId?: readonly string[] | null;
  readonly origin?: readonly Exclude<LogOrigin, 'list'>[] | null;
  /** Which of these rows must not match. */
  readonly not?: readonly ('key' | 'origin')[];
  readonly clientIp?: string | null;
  readonly code?: string | null;
  /** Unix time in ms; `to` is exclusive. */
  readonly from?: number | null;
  readonly to?: number | null;
}

export interface RejectedRequests {
  /** Counts of the same minute add up, of all nodes. What belongs to deleted accounts is dropped. */
  add(requests: readonly RejectedRequest[], more: readonly MoreRejectedRequests[]): Promise<void>;
  get(account: AccountId, id: number): Promise<LoggedRejection | null>;
  /**
   * Requests that were rejected with each key since `from`, in milliseconds; those beyond the limit of a minute have
   * none.
   */
  countByKey(account: AccountId, from: number, to?: number): Promise<ReadonlyMap<string, number>>;
  /**
   * Newest first. A search that no index answers looks through at most LOG_SEARCH_ROWS: `next` is null at the end, else
   * where to go on, and `searchedTo` the time of the last row looked at.
   */
  list(
    account: AccountId,
    search: RejectionSearch,
  ): Promise<{ items: LoggedRejection[]; next: RejectionPosition | null; searchedTo: number | null }>;
}

/** Replies of mail servers of one kind, since the last time they were added. */
export interface UncertainReplyCount {
  readonly operator: string;
  readonly fingerprint: string;
  readonly code: number;
  readonly enhanced: string | null;
  /** The text is without addresses, names, numbers and IDs. */
  readonly template: string;
  /** How the last one was read. */
  readonly rule: string;
  readonly finding: string;
  readonly count: number;
}

export interface UncertainReplyRow extends UncertainReplyCount {
  readonly firstSeen: number;
  readonly lastSeen: number;
}

/** Replies that were read with low confidence, by operator and template. */
interface UncertainReplies {
  /**
   * Adds to the stored counts. Of one operator, the UNCERTAIN_REPLIES_PER_OPERATOR most frequent kinds are kept; of
   * all, UNCERTAIN_REPLIES_MAX.
   */
  add(replies: readonly UncertainReplyCount[]): Promise<void>;
  /** Returns the most frequent first. `unmatched` selects those that no rule matched. */
  list(query: { readonly unmatched: boolean; readonly limit: number }): Promise<Page<UncertainReplyRow>>;
}

/** Counts the requests of one process since its last flush. */
export interface TrafficRow {
  readonly account: AccountId;
  /** The hour starts at this time, ms. */
  readonly hour: number;
  /** `status` counts replies of 4xx by status; `mx` and `smtp` count verifications of that level by latency bucket. */
  readonly metric: 'status' | 'mx' | 'smtp';
  /** The bucket is the HTTP status, or the number of the latency bucket (service/traffic.ts). */
  readonly bucket: number;
  readonly count: number;
}

export interface Traffic {
  /** Adds to the stored counts; counts of deleted accounts are dropped. */
  add(rows: readonly TrafficRow[]): Promise<void>;
  /** Returns the traffic of all accounts together, from the hour of `from` on. Gives up after `withinMs`. */
  ofAll(from: number, withinMs: number): Promise<Omit<TrafficRow, 'account'>[]>;
  /** Returns rows from the hour of `from` to before `to`, oldest first. */
  list(account: AccountId, from: number, to: number): Promise<TrafficRow[]>;
}

export interface LogSearch {
  /** Matches an address or its beginning, without regard to case. */
  readonly email: string | null;
  readonly id: string | null;
  /** One of these; likewise what follows with several values. */
  readonly reason: readonly ReasonOrNone[] | null;
  readonly keyId: readonly string[] | null;
  readonly status: readonly Status[] | null;
  /** Matches an ID, an address or its beginning, or any part of one, without regard to case. */
  readonly text?: string | null;
  /** The level that was asked for. */
  readonly level?: readonly Level[] | null;
  /** Outcomes are named as charts count them. */
  readonly outcome?: readonly Outcome[] | null;
  /** `keyId` names a key of the API. */
  readonly origin?: readonly LogOrigin[] | null;
  /** Unix time in ms; `to` is exclusive. */
  readonly from?: number | null;
  readonly to?: number | null;
  /** Mail operators, by the names that replies give them; `none`: one that has no name. */
  readonly operator?: readonly string[] | null;
  /** Names of the egresses from which the mail server was asked. */
  readonly egress?: readonly string[] | null;
  /** The policies of the requests decided one of these. */
  readonly decision?: readonly PolicyAction[] | null;
  /** What became of mail to the address. */
  readonly mail?: readonly LogMail[] | null;
  /** Tenths of the confidence that the reply had; of those whose mail has an outcome. */
  readonly confidence?: readonly LogConfidence[] | null;
  /** Says on which way an outcome of the mail came: an `OutcomeOrigin`, or the id of a connection. */
  readonly reported?: readonly string[] | null;
  /** The lists are named by ID. */
  readonly list?: readonly string[] | null;
  /** Which of these rows must not match. */
  readonly not?: readonly LogNegatable[];
  /** Rows before this one. */
  readonly before: number | null;
  readonly limit: number;
}

export type LoggedVerification = VerificationRecord & {
  readonly via: Via | null;
  readonly decision: PolicyAction | null;
  /** Gives the order of recording, for `before`. */
  readonly seq: number;
  readonly createdAt: number;
  readonly keyId: string;
  /** Id of the list whose result it is; the list may have been deleted. */
  readonly list: string | null;
};
/** One that is read by itself. */
type Verification = Omit<LoggedVerification, 'seq'>;

/** Has the latest time and the number of requests of a key from one address; null: without one. */
interface KeyClient {
  readonly ip: string | null;
  readonly requests: number;
  readonly lastAt: number;
}

type CheckedMailbox = Pick<VerificationRecord, 'deliverability' | 'reason' | 'durationMs'> & {
  /** The level that was charged. */
  readonly level: Level;
  /** Null means servers of the domain itself. */
  readonly operator: string | null;
};

export interface Verifications {
  get(account: AccountId, id: string): Promise<Verification | null>;
  list(account: AccountId, input: { offset: number; limit: number }): Promise<Page<Verification>>;
  /**
   * Newest first. Looks through at most LOG_SEARCH_ROWS of the account, unless an index answers (id, email): `next` is
   * null at the end, else where to go on, and `searchedTo` the time of the last row looked at. Hours in which the usage
   * counters have nothing of what is asked for are passed over.
   */
  search(
    account: AccountId,
    search: LogSearch,
  ): Promise<{ items: LoggedVerification[]; next: number | null; searchedTo: number | null }>;
  /**
   * Those between `from` and `to` that asked for the mailbox and found mail servers, of the newest RECENT_ROWS.
   * `since`: from when on they are, ms.
   */
  mailboxChecks(
    account: AccountId,
    query: { readonly from: number; readonly to: number | null; readonly source: UsageSource | null },
  ): Promise<{ readonly since: number; readonly checks: readonly CheckedMailbox[] }>;
  /** Returns the newest ones; `body` is the reply as JSON. */
  newest(account: AccountId, limit: number): Promise<Pick<LoggedVerification, 'id' | 'email' | 'body' | 'createdAt'>[]>;
  /** Addresses that used a key since `from`, ms, of the newest RECENT_ROWS of the account; the latest first. */
  clients(account: AccountId, keyId: string, from: number, limit: number): Promise<KeyClient[]>;
}

// What is held about a person.

/** Whom a request is about. */
export interface Person {
  readonly email: string;
  /** The canonical form of the mailbox; null: it has none. */
  readonly mailbox: string | null;
  /** Null means only this address, without regard to case. */
  readonly spellings: Spellings | null;
}

/** All addresses that lead to the mailbox. */
export interface Spellings {
  readonly is: (address: string) => boolean;
  /** Domains are in lower case; each spelling in ASCII has one of them in it. */
  readonly domains: readonly string[];
}

/** They belong to one table. */
export interface HeldRows {
  readonly table: string;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

export interface Erased {
  readonly total: number;
  /** Rows by table: deleted, or changed so that they no longer say whom they are about. */
  readonly erased: Readonly<Record<string, number>>;
  /** Rows that still mention the person: settings of the account, and what it keeps of its own users. */
  readonly kept: Readonly<Record<string, number>>;
}

interface Privacy {
  /**
   * Yields everything piece by piece, a table after the other, without secrets. The audit log records it by hash.
   */
  held(account: AccountId, person: Person, by: Actor): AsyncGenerator<HeldRows, void, undefined>;
  /**
   * Deletes what is recorded about a person, and puts a hash in place of the address where the record stays. `filters`:
   * those as well.
   */
  erase(account: AccountId, person: Person, by: Actor, how: { readonly filters: boolean }): Promise<Erased>;
}

/** How many rows were moved, in all and by table. */
export interface Moved {
  readonly rows: number;
  readonly tables: Readonly<Record<string, number>>;
}
/** Writes the whole store as lines of text, for a store on another database. */
interface Moving {
  /** Nothing else writes meanwhile. Throws MoveRefused. */
  export(write: (line: string) => Promise<void>): Promise<Moved>;
  /**
   * Into an empty store, which no service can use before all is there. What was taken of the same lines before stays.
   * `open`: twice, the whole of the lines. Throws MoveRefused.
   */
  import(open: () => AsyncIterable<string>, onProgress: (share: number) => void): Promise<Moved>;
}

// What became of mail that accounts sent.

/** A verification that a mail is measured by. */
export interface SentAfter extends Pick<VerificationRecord, 'id' | 'email' | 'deliverability' | 'reason'> {
  readonly validationType: VerificationRecord['validationType'];
  /** The evidence of its reply; null: it has none. */
  readonly evidence: {
    readonly provider: string | null;
    readonly rule: string | null;
    readonly code: number | null;
    readonly enhanced: string | null;
    /** The confidence goes from 0 to 1. */
    readonly p: number | null;
  };
}

/** A verdict that an outcome is about. */
export interface MeasuredVerdict {
  readonly verificationId: string;
  readonly group: VerdictGroup;
  /** The confidence that the reply had, in thousandths; null: none. */
  readonly predicted: number | null;
  /** Names the rule that decided, and the codes of the reply. */
  readonly rule: string | null;
  readonly reply: string | null;
}

/** Times are in ms. */
export interface NewOutcome {
  /** Mailbox and domain are canonical, and stored as their HMACs. */
  readonly mailbox: string;
  readonly domain: string;
  readonly class: OutcomeClass;
  readonly at: number;
  /** The code is one such as `550 5.1.1`; null means unknown. */
  readonly code: string | null;
  readonly source: string | null;
  /** Null: of no verification, or of one that is not measured. */
  readonly verdict: MeasuredVerdict | null;
  /** The words of a bounce without names, addresses, numbers and ids; kept only where it contradicts the verdict. */
  readonly template: string | null;
}

/** An outcome that says otherwise than the verdict did. */
export interface Contradiction {
  readonly verificationId: string;
  readonly group: VerdictGroup;
  readonly outcome: ContradictingOutcome;
  /** When the latest outcome came, ms. */
  readonly at: number;
  readonly rule: string | null;
  readonly reply: string | null;
  readonly code: string | null;
  readonly template: string | null;
}

/** Says how outcomes came. `connection` is that of the provider that reported them. */
export type OutcomeFrom = { readonly origin: OutcomeOrigin } | { readonly connection: string };

export interface OutcomesRecorded {
  /** Results are in the order of what was to be recorded. */
  readonly results: readonly ('recorded' | 'duplicate')[];
  /** These were no contradictions before. */
  readonly contradictions: readonly Contradiction[];
}

/** What a verification needs to know of its account before it looks for outcomes. */
export interface OutcomeOwner {
  readonly account: AccountId;
  /** Changes with every outcome; 0: there is none. */
  readonly version: number;
  /** See `seen_secrets`; null: the account has none yet. */
  readonly secret: string | null;
  readonly trustBouncesDays: number | null;
}

/** The latest outcomes of a mailbox, ms; null: none. `bouncedAt` is for a reason of the recipient. */
export interface MailboxOutcomes {
  readonly deliveredAt: number | null;
  readonly bouncedAt: number | null;
  readonly complainedAt: number | null;
  /** Sums all mailboxes of its domain. */
  readonly domain: OutcomeSum;
}

interface PredictedSum extends OutcomeSum {
  /** The sum covers what was predicted for all that were sent, in thousandths. */
  readonly predicted: number;
}

interface Outcomes {
  /**
   * The verifications that outcomes are about: those of the ids, and for each address the latest one that was recorded
   * at `until` or before. Null: there is none.
   */
  verifications(
    account: AccountId,
    ids: readonly string[],
    addresses: readonly { readonly email: string; readonly until: number }[],
  ): Promise<{ readonly byId: ReadonlyMap<string, SentAfter>; readonly byAddress: readonly (SentAfter | null)[] }>;
  /** In one transaction, with its sums and the event of contradictions. Throws ApiError `not_found`. */
  record(
    account: AccountId,
    outcomes: readonly NewOutcome[],
    from: OutcomeFrom,
    stored: ReplyToStore<OutcomesRecorded> | null,
  ): Promise<OutcomesRecorded>;
  /** Null: there is no such key, or no such account. */
  owner(of: AdmissionRequest['keyHash']): Promise<OutcomeOwner | null>;
  /** Takes canonical addresses, and answers in their order. */
  ofMailboxes(
    owner: OutcomeOwner,
    mailboxes: readonly { readonly mailbox: string; readonly domain: string }[],
  ): Promise<MailboxOutcomes[]>;
  /** Maps each `groupKey` to its sums. */
  verdictSums(account: AccountId): Promise<ReadonlyMap<string, OutcomeSum>>;
  /** The key is the tenth of what was predicted, 0 to 9. */
  predictions(account: AccountId): Promise<ReadonlyMap<number, PredictedSum>>;
  /** Returns the newest first; null: those of all live accounts. */
  contradictions(account: AccountId | null, limit: number): Promise<Contradiction[]>;
  /** How many came on which way other than from providers, and when the last one did, ms. */
  origins(
    account: AccountId,
  ): Promise<ReadonlyMap<OutcomeOrigin, { readonly received: number; readonly lastReceivedAt: number }>>;
}

// Lists of addresses. The rows of a file are kept in blocks of some hundred; each block has a chunk of work, the
// distinct addresses that first occur in it. A list is worked on like this:
//
//     running() → claim() or claimWaiting() → verify → record() … → release() of what is left
//
// A lease ends by the store's clock when it is not renewed, or when its process is found dead; then others claim what
// it held. Whether an address is still to be done is decided by the store alone: a result that comes a second
// time, or after the end of the list, is neither recorded nor charged, whoever brings it.

/** Says what an uploaded file looks like. */
export interface ListLayout {
  readonly columns: readonly string[];
  /** The column with the addresses has this index. */
  readonly addressColumn: number;
  /** Whether the names of the columns are in the file. */
  readonly hasHeader: boolean;
  /**
   * As detected: `csv`, `xlsx` …, and what is between the cells. Missing where the version before stored the list.
   */
  readonly format?: FileForm;
  readonly delimiter?: string | null;
  readonly encoding?: string | null;
  readonly byteOrderMark?: boolean;
  readonly sheet?: string | null;
  readonly entry?: string | null;
  /** The row of the file with the names of the columns is counted from 1; 0: none. */
  readonly headerRow?: number;
  /** Indexes of the columns whose addresses are verified, that of `addressColumn` first. */
  readonly addressColumns?: readonly number[];
  /** As it was asked for. */
  readonly chosen?: ReadChoice;
  /** Missing: nothing was said, or the version before stored the list. */
  readonly sentAs?: SentAs;
  /** Which rows have the same number. Missing where the version before stored the list: those of one address. */
  readonly dedupe?: Dedupe;
}

/** What only the whole file has shown. */
export interface ListSummary {
  readonly otherAddressColumns: readonly { readonly column: string; readonly addresses: number }[];
  readonly addressesPerRow: { readonly max: number; readonly rowsWithSeveral: number };
  readonly rowsWithAddress: number;
  /** Rows that are not blank in every cell. */
  readonly filledRows: number;
  readonly warnings: readonly { readonly code: ReadWarningCode; readonly message: string }[];
}

interface NewList {
  /** `lst_…`, made by the caller. */
  readonly id: string;
  readonly account: AccountId;
  /** Results are recorded under this key. */
  readonly keyId: string;
  /** The canonical address of the uploader: `ip_address` filters match it. */
  readonly clientIp: string | null;
  readonly name: string;
  readonly level: Level;
  readonly retryMinutes: number;
  readonly layout: ListLayout;
  /** What decides from its results, as it is now; null by default: nothing. */
  readonly policy?: Policy | null;
}

export interface ListRowAddress {
  /** It counts from 1 within the list; rows with the same address, or mailbox, have the same number. */
  readonly number: number;
  readonly column: number;
  /** Null: what its cell has, without dressing. */
  readonly text: string | null;
}

export interface ListRow {
  /** Counts from 1, without the header. */
  readonly row: number;
  /** Addresses are in the order of the file; an empty list means that the row is blank or unreadable. */
  readonly addresses: readonly ListRowAddress[];
  readonly cells: readonly string[];
  /** These cells are beyond the last column. */
  readonly extra: readonly string[];
  /** Why it could not be read, and where in the file. */
  readonly problem: { readonly code: string; readonly line: number } | null;
}

/** Rows in the order of the file, as they are stored: made by `newBlock` (lists/blocks.ts). */
export interface NewListBlock {
  readonly firstRow: number;
  readonly rowCount: number;
  readonly rows: string;
  /** Distinct addresses that first occur in these rows, numbered from `firstAddress`. */
  readonly firstAddress: number;
  readonly addressCount: number;
  readonly addresses: string;
  /** That all of this takes in the store. */
  readonly bytes: number;
}

/** `bytes`: those that a new list may take, counted as in `AccountStorage`; `limit`: that of all lists. */
export interface ListRoom {
  readonly bytes: number;
  readonly limit: number;
}

interface ListRowCounts {
  /** Rows; one may have several addresses. */
  readonly total: number;
  /** Counts distinct addresses. */
  readonly addresses: number;
  /** Further ones that are the same as an earlier one. */
  readonly duplicates: number;
  /** Counts rows without an address. */
  readonly blank: number;
  readonly unreadable: number;
}

export interface ListBreakdown {
  readonly status: Readonly<Record<Status, number>>;
  readonly deliverability: Readonly<Record<Deliverability, number>>;
  /** Reasons that occur. */
  readonly reason: Readonly<Partial<Record<Reason, number>>>;
}

export interface List {
  readonly id: string;
  readonly account: AccountId;
  readonly keyId: string;
  readonly name: string;
  readonly status: ListStatus;
  readonly level: Level;
  readonly retryMinutes: number;
  readonly layout: ListLayout;
  /** As it was when the list was made; null: none. */
  readonly policy: Policy | null;
  /** Null where the version before stored the list, or it is a part of another one. */
  readonly summary: ListSummary | null;
  /** Whether its file is kept, so that it can be read in another way. */
  readonly hasFile: boolean;
  readonly rows: ListRowCounts;
  /** Counts distinct addresses. */
  readonly done: number;
  /** So many addresses are not done: those asked about, and those to be asked about again. */
  readonly waiting: number;
  readonly breakdown: ListBreakdown;
  /** Counts those that were done in a second, lately; null: unknown, or not running. */
  readonly perSecond: number | null;
  /** `price` is what was held at the start, or would be. */
  readonly credits: { readonly price: number; readonly held: number; readonly used: number };
  readonly error: ListError | null;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** When it is deleted, with its results. */
  readonly expiresAt: number;
}

/** `list_state` means not allowed in the list's status. */
export type ListChange =
  | { readonly outcome: 'done'; readonly list: List }
  | { readonly outcome: 'list_state'; readonly list: List }
  | { readonly outcome: 'not_found' };
export type ListStart =
  | ListChange
  | { readonly outcome: 'account_inactive' | 'no_addresses'; readonly list: List }
  | {
      readonly outcome: 'insufficient_credits';
      readonly list: List;
      readonly needed: number;
      readonly available: number;
    }
  | ({ readonly outcome: 'key_budget_spent'; readonly list: List; readonly needed: number } & BudgetSpent);

/** The result of a row. `attempts`: how often the address was asked about. */
export interface ListResult extends Omit<VerificationRecord, 'clientIp' | 'requested'> {
  readonly attempts: number;
  readonly createdAt: number;
}

export interface ListBlock {
  readonly rows: readonly ListRow[];
  /** An address with a number below it is that of a row in an earlier block. */
  readonly firstAddress: number;
  /** The key is the number of the address; those that are not done are missing. */
  readonly results: ReadonlyMap<number, ListResult>;
  /** The key is the number of an address that waits, the value how often it was asked about. */
  readonly asked: ReadonlyMap<number, number>;
}

interface DeferredAddress {
  readonly email: string;
  /** How often it was asked about, and when first. */
  readonly attempts: number;
  readonly firstAt: number;
  readonly retryAt: number;
}

/** A list that is running, of an active account. */
export interface RunningList {
  /** A test account has it judged by the addresses alone, for free. */
  readonly test: boolean;
  readonly id: string;
  readonly account: AccountId;
  readonly keyId: string;
  readonly clientIp: string | null;
  readonly level: Level;
  readonly policy: Policy | null;
  readonly addresses: number;
  readonly done: number;
}

/** One address of a list has been claimed. */
export interface ListWork {
  readonly list: string;
  readonly account: AccountId;
  /** Its block; null: it was waiting. */
  readonly block: number | null;
  /** Counts from 1 within the list. */
  readonly address: number;
  readonly email: string;
  /** How often it was asked about before. */
  readonly attempts: number;
  /** Names the egress that deferred it; null: none. */
  readonly egress: string | null;
}

export interface ListClaim {
  readonly list: string;
  readonly account: AccountId;
  /** The worker holds this lease. */
  readonly lease: string;
  readonly leaseMs: number;
}

export interface WaitingClaim extends ListClaim {
  /** Addresses at most. */
  readonly limit: number;
  /** Mail operators whose addresses are to be left to others. */
  readonly notOperators?: readonly string[];
}

/** What a worker found out about an address. The id of the record is `listResultId` of the list and the address. */
export type ListOutcome =
  /**
   * `retryMs`: the answer is a temporary one, and the address is to be asked about again after so many ms, unless the
   * list does not wait for it that long: in that case, and without `retryMs`, the record is its result.
   * `egress`: name of the one to ask from again.
   */
  | {
      readonly work: ListWork;
      readonly record: VerificationRecord;
      readonly retryMs?: number | null;
      readonly egress?: string | null;
    }
  /** Not asked about: another node has the mail operator. Somebody claims it after so many ms. */
  | { readonly work: ListWork; readonly record: null; readonly operator: string | null; readonly againMs: number };

export interface ListRecorded {
  /** `ended`: nothing was recorded, as the list was canceled or deleted, or has failed, or its account is deleted. */
  readonly outcome: 'recorded' | 'completed' | 'ended';
  /** This call has recorded so many results. */
  readonly recorded: number;
  /** The results are named by the numbers of their addresses. */
  readonly results: readonly number[];
  readonly charged: number;
}

interface Finished {
  readonly by?: Actor | undefined;
  readonly summary?: ListSummary | null;
  readonly stored?: ReplyToStore<List> | null;
}

export interface ListReading {
  /** The rows of its blocks are numbered from this. */
  readonly base: number;
  readonly room: ListRoom;
}

/** What a file turned out to be when it was read again. */
export interface ListRead {
  readonly layout: ListLayout;
  readonly rows: ListRowCounts;
  readonly summary: ListSummary;
  readonly blocks: readonly Pick<NewListBlock, 'firstRow' | 'firstAddress' | 'addressCount' | 'bytes'>[];
  /** Why it cannot be started by itself. */
  readonly error: ListError | null;
}

export interface Lists {
  /**
   * Begins an upload; the list is invisible until `finish`. An upload without a new block for an hour is removed.
   * Throws ApiError `too_many_lists`, `list_storage_full`, `list_state` where there is one with this id.
   */
  create(list: NewList): Promise<ListRoom>;
  /** Adds blocks of rows. False: the upload was given up. */
  append(account: AccountId, id: string, blocks: readonly NewListBlock[]): Promise<boolean>;
  /**
   * The list is ready from now on. Null: the upload was given up. `stored`: the reply for the Idempotency-Key, written
   * with it. Throws ApiError `list_storage_full`, `idempotency_in_progress`.
   */
  finish(account: AccountId, id: string, rows: ListRowCounts, more?: Finished): Promise<List | null>;
  /**
   * Keeps the file of a list that is ready, as far as the plan has room for it, until it starts, ends or is deleted, or
   * an address is erased. False: it is not kept.
   */
  keepFile(account: AccountId, id: string, content: AsyncIterable<Uint8Array>): Promise<boolean>;
  /** Yields the kept file in pieces. */
  file(account: AccountId, id: string): AsyncGenerator<Uint8Array, void, undefined>;
  /** Begins to read the kept file again: other rows are stored beside those of the list, invisible until `replace`. */
  beginReading(account: AccountId, id: string): Promise<ListReading>;
  /** Adds blocks of such rows. False: the file is not kept any more. */
  appendReading(
    account: AccountId,
    id: string,
    reading: ListReading,
    blocks: readonly NewListBlock[],
  ): Promise<boolean>;
  /**
   * The list, which is ready, has the rows of the reading from now on. Null: it has started or ended meanwhile, or its
   * file is not kept any more; then nothing is left of the reading.
   */
  replace(account: AccountId, id: string, reading: ListReading, read: ListRead): Promise<List | null>;
  /** Gives a reading up. */
  discardReading(account: AccountId, id: string, reading: ListReading): Promise<void>;
  /** Gives an upload up. */
  discard(account: AccountId, id: string): Promise<void>;

  get(account: AccountId, id: string): Promise<List | null>;
  /** `query` is searched literally in the name, without regard to case. */
  list(
    account: AccountId,
    input: {
      readonly status: ListStatus | null;
      readonly query: string | null;
      /** Where it is missing, the newest come first. */
      readonly sort?: Sorting<ListSort> | null;
      readonly offset: number;
      readonly limit: number;
    },
  ): Promise<Page<List>>;
  /** Names of those of these lists that can be seen. */
  names(account: AccountId, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Addresses that are deferred, those first that are asked about again soonest. */
  deferred(account: AccountId, id: string, limit: number): Promise<DeferredAddress[]>;
  /** The block with the first row behind `after`, with results; null at the end, and when there is no such list. */
  block(account: AccountId, id: string, after: number, wanted?: (row: ListRow) => boolean): Promise<ListBlock | null>;

  /**
   * Holds the price of all addresses, of which there must be one. `level`: the list gets it, whether
   * the start succeeds or is refused; missing: it keeps its own.
   */
  start(account: AccountId, id: string, by?: Actor, level?: Level): Promise<ListStart>;
  /** Sets why the `start` that was asked for with the upload of a list was refused. */
  setError(account: AccountId, id: string, error: ListError | null): Promise<void>;
  /** Canceling releases what is held; deleting makes the list invisible, and a job removes it with its results. */
  change(account: AccountId, id: string, action: Exclude<ListAction, 'start'>, by?: Actor): Promise<ListChange>;

  /** Makes a lease for a worker in this process. */
  newLease(): Promise<string>;
  /** The oldest comes first. */
  running(): Promise<RunningList[]>;
  /** The first `chunks` chunks of a list that nobody has, as addresses; none when it is not running. */
  claim(claim: ListClaim & { readonly chunks: number }): Promise<ListWork[]>;
  /** Waiting addresses that are due. */
  claimWaiting(claim: WaitingClaim): Promise<ListWork[]>;
  /** Renews whatever the worker holds. */
  renew(lease: string, leaseMs: number): Promise<void>;
  /** Gives back what the worker holds of a list, to be claimed after `againMs`; does not count as a failed claim. */
  release(claim: Pick<ListClaim, 'list' | 'account' | 'lease'>, againMs?: number): Promise<void>;
  /**
   * Records outcomes of one list, in one transaction: results with their charge and the usage counters, progress, what
   * waits; and the end of the list, if these were the last.
   */
  record(account: AccountId, list: string, outcomes: readonly ListOutcome[]): Promise<ListRecorded>;

  /** Removes a deleted list with its rows and results, in batches. False: it was aborted before the end. */
  remove(account: string, id: string, signal?: AbortSignal): Promise<boolean>;
}

// Users and what they do.

/** The token and its hash are left out. */
export interface SessionRecord {
  readonly id: string;
  /** Where it was last seen; null: unknown. */
  readonly ip: string | null;
  /** As the browser sent it; '' if it sent none. */
  readonly userAgent: string;
  readonly createdAt: number;
  /** The time is exact to the hour (SESSION_REFRESH_MINUTES). */
  readonly lastSeenAt: number;
}

export interface PasskeyRecord {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  /** Null: not since it was added, or only before this was recorded. */
  readonly lastUsedAt: number | null;
}

/** A change of how a user signs in: what it does, and what the sign-in library does meanwhile, commits together. */
export interface UserChange {
  /** As read after locking. */
  readonly user: User;
  /** Ends all sessions but these; returns how many. */
  endSessions(keep?: readonly string[]): Promise<number>;
  /** False: it had ended. */
  endSession(id: string): Promise<boolean>;
  countPasskeys(): Promise<number>;
  removePasskeys(keep?: readonly string[]): Promise<number>;
  /** False: the user has no such passkey. */
  removePasskey(id: string): Promise<boolean>;
  /** The subject as which the issuer knows the user; null: it is not linked. */
  subjectAt(issuer: string): Promise<string | null>;
  /** False: somebody is linked to this subject, or the user to another subject of the issuer. */
  linkIdentity(identity: OidcIdentity): Promise<boolean>;
  /** Removes what links the user to OpenID providers, but for this one; returns how many. */
  unlinkIdentities(keep?: OidcIdentity): Promise<number>;
  /** Ends the sessions that were begun with an OpenID provider; of these marks, or all. Returns how many. */
  endOidcSessions(marks: readonly string[] | 'all'): Promise<number>;
  /** Makes the user a member of the account that was named to `change`. False for one who is a member already. */
  join(role: Role, by: Actor): Promise<boolean>;
  /** See `Members.accept`; of the account that was named to `change`. */
  acceptInvitation(tokenHash: string, by: Actor): Promise<Invitation | null>;
  /** Forgets what was counted of the subject: see `Attempts.clear`. */
  clearAttempts(subject: string): Promise<void>;
  mail(payload: MailPayload): Promise<void>;
  /** Writes to the audit log: see `AuditLog.recordUserEvent`. */
  record(event: Omit<UserEvent, 'user'>): Promise<void>;
}

/** An OpenID provider means this user by a subject (OpenID Connect Core 1.0 §8). */
export interface OidcIdentity {
  readonly issuer: string;
  readonly subject: string;
}

/** Sessions and passkeys. The sign-in library makes them, on the same tables (see `Store.authDatabase`). */
interface SignIns {
  /** Returns the user who is linked to the identity. */
  userByIdentity(identity: OidcIdentity): Promise<string | null>;
  /** Users with a session of this mark: see `UserChange.endOidcSessions`. */
  usersByOidcSession(mark: string): Promise<string[]>;
  /** Those that have not expired, the one seen last first; at most SESSIONS_LISTED. */
  sessions(user: string): Promise<SessionRecord[]>;
  /** The oldest comes first. */
  passkeys(user: string): Promise<PasskeyRecord[]>;
  /** Goes by the ID of the credential (WebAuthn Level 3 §4). */
  markPasskeyUsed(credentialId: string): Promise<void>;
  /**
   * One transaction with the user locked. `work` may await only `UserChange` and the library's adapters, since on
   * SQLite anything else would wait for the end of this transaction. Throws ApiError: `not_signed_in` if `session` has
   * ended meanwhile, `not_found` if the user no longer exists. `account`: locked as well, first, as everywhere.
   */
  change<T>(
    who: { readonly user: string; readonly session?: string; readonly account?: AccountId },
    work: (change: UserChange) => Promise<T>,
  ): Promise<T>;
}

/** A search of a page that a member has named. */
export interface SavedView {
  readonly id: string;
  readonly name: string;
  /** The text is the query string of the page. */
  readonly search: string;
}

/** Shared by the members of an account; its test account has the same. */
export interface SavedViews {
  /** Views are sorted by name. */
  list(account: AccountId, page: ViewPage): Promise<SavedView[]>;
  /** Throws ApiError `view_exists`, `too_many_views`, `not_found` for an account that was deleted. */
  add(account: AccountId, page: ViewPage, view: Omit<SavedView, 'id'>): Promise<SavedView>;
  /** Null: there is none of this ID. Throws ApiError `view_exists`. */
  rename(account: AccountId, id: string, name: string): Promise<SavedView | null>;
  /** False: there is none of this ID. */
  remove(account: AccountId, id: string): Promise<boolean>;
}

/** What members do not want to be shown again; of a test account: as in its live account. */
interface Dismissals {
  /** Causes of notices. */
  list(account: AccountId, user: string): Promise<ReadonlySet<string>>;
  add(account: AccountId, user: string, causes: readonly string[]): Promise<void>;
}

export interface AuditEntry {
  readonly id: number;
  /** Null is for a user without an account. */
  readonly account: string | null;
  readonly accountName: string | null;
  readonly at: number;
  readonly actor: Actor;
  /** `key.created`, `filter.removed`, `member.role_changed` … */
  readonly action: AuditAction;
  /** Names a key, the value of a filter or the address of a member in words. */
  readonly target: string;
  /** Says what changed; it is small and has no secrets. */
  readonly detail: Readonly<Record<string, unknown>>;
  /** It happened this often from `at` to `lastAt`. */
  readonly count: number;
  readonly lastAt: number;
}

/** It happened to a user, whatever their accounts. */
export interface UserEvent {
  /**
   * Nothing is recorded of an `email` that has no user. `unlinkedEmail` is recorded, for the operators: the address of
   * somebody whom the OpenID provider sent and who is no user here, '' if it gave none.
   */
  readonly user: { readonly id: string } | { readonly email: string } | { readonly unlinkedEmail: string };
  /** `self` is the user. */
  readonly by: Actor | { readonly kind: 'self' | 'anonymous'; readonly ip: string | null };
  readonly action: UserAction;
  readonly detail?: Readonly<Record<string, unknown>>;
  /** It happened this often; once by default. */
  readonly count?: number;
}

export interface AuditQuery {
  /** Selects ids below it; null: the newest. */
  readonly before: number | null;
  readonly limit: number;
  /** All are selected by default. */
  readonly about?: AuditSubject | null;
}

/** The audit log. Changes are written by the store itself, in the transaction of what it tells of. */
interface AuditLog {
  /** Returns the newest first. `all` means all accounts, and users without one; it is for operators. */
  list(of: AccountId | 'all', query: AuditQuery): Promise<AuditEntry[]>;
  /**
   * Writes what happened to a user to the log of each account that they are a member of, or to that of the operators.
   * The same events of one hour are one entry; so are all events of one action beyond USER_EVENTS_PER_HOUR.
   */
  recordUserEvent(event: UserEvent): Promise<void>;
}

export interface User {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly emailVerified: boolean;
  readonly operator: boolean;
  /** Whether a code is asked at sign-in. */
  readonly secondFactor: boolean;
  readonly createdAt: number;
}

/** Users are made, and their passwords kept, by the sign-in library on the same tables (see `Store.authDatabase`). */
interface Users {
  get(id: string): Promise<User | null>;
  /** It compares without regard to case. */
  byEmail(email: string): Promise<User | null>;
  /** Returns the user to whom this mailbox belongs. */
  idByMailbox(mailbox: string): Promise<string | null>;
  /** False where it belongs to another user. */
  claimMailbox(user: string, mailbox: string): Promise<boolean>;
  /** Claims the mailboxes of users who have none yet, for the oldest of those with the same one. */
  claimMailboxes(mailboxOf: (email: string) => string): Promise<void>;
  list(): Promise<(User & { readonly accounts: readonly { id: AccountId; role: Role }[] })[]>;
  count(): Promise<number>;
  /** False when there is no such user. */
  setOperator(id: string, operator: boolean, by?: Actor): Promise<boolean>;
  /** The user, sessions, memberships and all; refuses (false) while an account would lose its last owner. */
  remove(id: string, by?: Actor): Promise<boolean>;
}

interface Membership {
  readonly account: AccountId;
  readonly accountName: string;
  readonly plan: string;
  readonly status: AccountStatus;
  readonly role: Role;
  /** The account sets this for all its members. */
  readonly secondFactorRequired: boolean;
  /** The id of its test account, which exists once it was asked for (`role`). */
  readonly testAccount: AccountId;
}

/** In a test account, it is the role in its live account. */
export interface AccountRole extends Pick<Membership, 'account' | 'role' | 'secondFactorRequired'> {
  readonly suspended: boolean;
  readonly test: boolean;
}

interface Member {
  readonly userId: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly secondFactor: boolean;
  readonly createdAt: number;
  /** The time is exact to minutes; null means that no activity was recorded. */
  readonly lastActiveAt: number | null;
}

export interface Invitation {
  readonly id: string;
  readonly account: AccountId;
  readonly accountName: string;
  readonly email: string;
  readonly role: Role;
  readonly invitedBy: string;
  /** Only the mailbox or the operator has the link: whoever uses it owns the address. */
  readonly provesAddress: boolean;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface InvitationInput {
  readonly email: string;
  readonly role: Role;
  readonly tokenHash: string;
  readonly expiresAt: number;
  /** Defaults to false. */
  readonly provesAddress?: boolean;
  /** The mail to send, by the name of the account; null or absent: none. */
  readonly mailTo?: ((account: string) => MailPayload) | null;
}

/**
 * `last_owner`: the account would be left without an owner. `admin_needed`, `owner_needed`: the role of `by` does not
 * suffice, or no longer. Nothing was changed in these cases.
 */
export type RoleOutcome = 'done' | 'not_found' | 'last_owner' | 'admin_needed' | 'owner_needed';

/** Every change is written to the audit log in the same transaction. */
interface Members {
  /**
   * Null: not a member, or the account was deleted. The test account of a member's account is created when it is
   * missing.
   */
  role(account: string, user: string): Promise<AccountRole | null>;
  /** They come with the oldest account first. */
  ofUser(user: string): Promise<Membership[]>;
  list(account: AccountId): Promise<Member[]>;
  /**
   * Records that the member used the account, or its test account, now; not if that was recorded less than `everyMs`
   * ago.
   */
  recordActivity(account: AccountId, user: string, everyMs: number): Promise<void>;
  /** False when the user is a member already, or the account was deleted. */
  add(account: AccountId, user: string, role: Role, by: Actor): Promise<boolean>;
  /** Admins may change members and admins, only owners may change owners or make one. */
  setRole(account: AccountId, user: string, role: Role, by: Actor): Promise<RoleOutcome>;
  /** The same rule; every member may leave. */
  remove(account: AccountId, user: string, by: Actor): Promise<RoleOutcome>;
  /**
   * `tokenHash`: SHA-256 of the link's token, hex. An earlier invitation of the same address is replaced. Null: `by` is
   * a member who may not send it, or no longer.
   */
  invite(account: AccountId, input: InvitationInput, by: Actor): Promise<Invitation | null>;
  /** Returns those that can be used. */
  invitations(account: AccountId): Promise<Invitation[]>;
  /** Only owners may withdraw an owner's invitation. */
  withdraw(account: AccountId, id: string, by: Actor): Promise<Exclude<RoleOutcome, 'last_owner'>>;
  /** Null where it is used, withdrawn or past its time. */
  invitation(tokenHash: string): Promise<Invitation | null>;
  /** Uses the invitation up and makes the user a member (one who is a member keeps the higher role); null as above. */
  accept(tokenHash: string, user: string, by: Actor): Promise<Invitation | null>;
}

/** Counts of attempts in fixed windows, on all nodes together. Of a subject only a hash is kept. */
export interface Attempts {
  /**
   * Counts one of the subject, or of the subject from this origin, and answers how many there are in the running
   * window, and when it ends.
   */
  count(subject: string, windowMs: number, origin?: string): Promise<{ count: number; endsAt: number }>;
  /** It clears those from all origins. */
  clear(subject: string): Promise<void>;
}

// Upkeep, and what nodes share

/** Says what one round of the purge did. */
export type PurgeRound =
  /** Nothing was deleted, because the store's clock is doubted (`ClockReading.doubtedSince`). */
  | { readonly paused: true }
  | {
      readonly paused: false;
      /** Counts deleted rows by table, and has only tables with some. */
      readonly deleted: Readonly<Record<string, number>>;
      readonly total: number;
      /** A table had more than PURGE_ROUND_ROWS to delete; the rest is for the next round. */
      readonly full: boolean;
    };

interface Upkeep {
  /** Releases the holds (and unfinished idempotency keys) of dead processes, and expired holds. */
  releaseDead(signal?: AbortSignal): Promise<number>;
  /**
   * Deletes what is past its time by the store's clock, in short transactions: verifications older than `keepMs` or
   * than their account's own retention, mailboxes last seen `seenMs` ago, outcomes of mail `outcomesMs` ago (by
   * default, as long as the options'), and rows of other tables as OWNED_TABLES says; of each table PURGE_ROUND_ROWS at
   * most. The ledger and hourly counters become sums of their days. Adds the job of deleted accounts that have none.
   * Ends after the transaction under way when `signal` aborts.
   */
  purge(keepMs: number, signal?: AbortSignal, seenMs?: number, outcomesMs?: number): Promise<PurgeRound>;
  /**
   * Deletes a deleted account and its rows, in short transactions, until `signal` aborts. False while there is
   * something left: it still holds credits, or was interrupted.
   */
  removeAccount(account: string, signal?: AbortSignal): Promise<boolean>;
}

/** A reading shows the store's clock at one moment. */
export interface ClockReading {
  /** The time is in ms. */
  readonly now: number;
  /**
   * The clock has moved by so much more than time has passed since this process read it last, ms; a negative value
   * means that it was set back. The first reading of a process compares with when any process wrote down that it was
   * seen.
   */
  readonly stepMs: number;
  /**
   * It is doubted since then, because it moved by over CLOCK_DOUBT_HOURS more than time passed. A long downtime looks
   * the same. Nothing is purged for CLOCK_DOUBT_HOURS, unless the clock is set back before.
   */
  readonly doubtedSince: number | null;
}

/** The clock that decides about stored rows: the PostgreSQL server's, or, with SQLite, this process's. */
export interface StoreClock {
  /** Reads it, and writes down what was seen. */
  read(): Promise<ClockReading>;
  /** Does the same without writing, by what others wrote down. */
  peek(): Promise<ClockReading>;
}

/** What the store did that an operator should know. */
export type StoreEvent =
  /** The account's rate window was `aheadMs` ahead, as the clock had been, and began again. */
  | { readonly kind: 'rate_window_restarted'; readonly account: AccountId; readonly aheadMs: number }
  /** The same for a limit on attempts to sign in. */
  | { readonly kind: 'attempt_window_restarted' }
  /** A thread of a SQLite store ended. The next call starts it again. */
  | { readonly kind: 'thread_lost'; readonly cause: string };

/** A file of which every node has a copy. */
interface SharedFile {
  /** Of those that belong together, the beginning is the same. */
  readonly name: string;
  /** The time is ISO 8601 in UTC with milliseconds: of two, the later one counts. */
  readonly made: string;
  readonly text: string;
}

interface SharedFiles {
  /** Names that begin with `prefix`, in order, without their content. */
  list(prefix: string): Promise<readonly Pick<SharedFile, 'name' | 'made'>[]>;
  read(name: string): Promise<SharedFile | null>;
  /** False: the store has one that was made at the same time or later. */
  put(file: SharedFile): Promise<boolean>;
  /** Deletes those whose name begins with `prefix`. */
  drop(prefix: string): Promise<void>;
}

/**
 * How nodes that share an egress address share a limit towards mail servers: each leases a slice of it, in units of
 * which the limit has `total`. The slices of all nodes together never have more. A slice ends by the store's clock when
 * it is not renewed.
 */
export interface SliceRequest {
  readonly key: string;
  readonly total: number;
  /** Units that the node may use until it gets the reply: it cannot be left with fewer. */
  readonly holds: number;
  /** Units that it has work for; 0: it gives back what it does not hold. */
  readonly needs: number;
  /** A limit that nobody has used for so long, ms, is as good as new. */
  readonly restMs: number;
}

export interface Slice {
  readonly key: string;
  readonly units: number;
  /** Units that it may keep; fewer than `units` if other nodes wait for some. */
  readonly target: number;
  /** Nobody has used the limit for `restMs`. */
  readonly isRested: boolean;
}

interface PaceSlices {
  /**
   * Takes, renews or gives back the slices of one node. `leaseMs`: from now, by the store's clock. A request may be
   * left without a reply, when other nodes keep changing the same limit: what the node had before still holds.
   */
  lease(node: string, requests: readonly SliceRequest[], leaseMs: number): Promise<readonly Slice[]>;
}

/**
 * Which node checks the mailboxes of lists at a mail operator, so that those of one operator are checked by one node at
 * a time. A lease ends by the store's clock when it is not renewed; then any node may take it.
 */
export interface OperatorLeases {
  /**
   * Takes or renews the leases of these operators. Returns those that the node has now; other nodes have the others.
   */
  take(node: string, operators: readonly string[], leaseMs: number): Promise<readonly string[]>;
  /** Those of these operators that other nodes have. */
  ofOthers(node: string, operators: readonly string[]): Promise<readonly string[]>;
  /** Ends the node's leases of these operators. */
  release(node: string, operators: readonly string[]): Promise<void>;
}

// What the store can tell of itself, for metrics.

/** A hold is for one verification, or for many results (SharedHolds). */
export type HoldKind = 'verification' | 'shared';

export type HoldAge = 'under_1m' | '1m_to_10m' | '10m_to_1h' | '1h_to_1d' | 'over_1d';

export interface HoldStats {
  readonly byAge: Readonly<Record<HoldAge, number>>;
  /** Age of the oldest, ms; null: there is none. */
  readonly oldestMs: number | null;
}

/** What accounts keep, beside verifications. */
export interface KeptStats {
  /** They belong to lists, without their results. */
  readonly listBytes: number;
  readonly filters: number;
}

export interface JobCount {
  /** The kind is a JobKind, or one that another version of the service knows. */
  readonly kind: string;
  readonly state: JobState;
  readonly count: number;
}

export interface StoreReadings {
  readonly holds: Readonly<Record<HoldKind, HoldStats>>;
  /** How long the oldest verification has been past its retention, ms; 0 if none is. */
  readonly purgeLagMs: number;
  /** Active accounts below the balance at which they want a message. */
  readonly lowBalances: number;
  /** What was reported and is not over, for each type that lasts. */
  readonly alerts: readonly { readonly type: LastingAlertType; readonly count: number }[];
  readonly kept: KeptStats;
  readonly jobs: readonly JobCount[];
}

/** Everything but charging uses these connections. */
export interface PoolUse {
  readonly inUse: number;
  readonly idle: number;
  readonly max: number;
  /** Queries waiting for a connection. */
  readonly waiting: number;
}

/** Why a batch was attempted again. */
export type RetryCause =
  /** Means a serialization failure or a deadlock. */
  | 'conflict'
  /** Another session has locked an account. */
  | 'locked'
  /** The connection was lost. */
  | 'connection'
  /** Another process has the lock of the SQLite file. */
  | 'busy';

/** The charge reports each of its transactions so. */
export interface ChargedBatch {
  readonly requests: number;
  /** Lasts from its begin to the end of its commit, retries included. */
  readonly ms: number;
  readonly committed: boolean;
}

interface StoreStats {
  /** Attempts beyond the first of a batch, since the store was opened. */
  readonly retries: Readonly<Record<RetryCause, number>>;
  /** From now on, `listener` is called with every batch. It must not throw. */
  observe(listener: (batch: ChargedBatch) => void): void;
  /** Null where there is no pool. Takes no query. */
  pool(): PoolUse | null;
  /**
   * Reads a bounded number of rows; `keepMs` is the retention. The server gives up after `withinMs`, but it may be a
   * server that does not answer at all.
   */
  read(keepMs: number, withinMs: number): Promise<StoreReadings>;
}

/** The processes that share the store. */
interface NodeRow {
  readonly id: string;
  /** Shows host and process, such as `web-1/4711`. */
  readonly label: string;
  /** The version of its program; null: it has not said so yet. */
  readonly version: string | null;
  readonly startedAt: number;
  /** The time is by the store's clock; null means never. */
  readonly seenAt: number | null;
}

interface Nodes {
  /** Says that this process runs, with the version of its program. */
  report(version: string): Promise<void>;
  /**
   * Whose rows are there, the newest first, at most `limit`. A dead one is there until it is swept. Gives up after
   * `withinMs`.
   */
  list(limit: number, withinMs: number): Promise<readonly NodeRow[]>;
  /** The id of this process; null before it has charged or reported. */
  readonly current: string | null;
}

// Webhooks

/** Its secrets are left out. */
export interface Webhook {
  readonly id: string;
  readonly accountId: AccountId;
  /** The URL of a chat comes without the part that is its secret. */
  readonly url: string;
  readonly format: WebhookFormat;
  readonly events: WebhookSubscription;
  readonly description: string | null;
  readonly enabled: boolean;
  readonly disabledReason: DisabledReason | null;
  readonly disabledAt: number | null;
  /** Every attempt has failed since then; null means that the last one succeeded, or that there was none. */
  readonly failingSince: number | null;
  /** Secrets before the last rotation sign alongside until then; null means that they do not, or no longer. */
  readonly previousSecretUntil: number | null;
  readonly createdAt: number;
}

interface WebhookInput {
  readonly url: string;
  readonly events: WebhookSubscription;
  readonly description: string | null;
}

/** Says what one attempt came to. */
export interface AttemptOutcome {
  /** Null means none, for the reason in `error`. */
  readonly status: number | null;
  readonly error: AttemptError | null;
  readonly durationMs: number;
  /** Has the first WEBHOOK_RESPONSE_BYTES of the reply's body as text; null without a reply. */
  readonly response: string | null;
}
export interface DeliveryAttempt extends AttemptOutcome {
  readonly at: number;
}

export interface Delivery {
  readonly id: string;
  readonly webhookId: string;
  /** Appears in the header `webhook-id`. */
  readonly eventId: string;
  readonly event: WebhookEventType;
  readonly status: DeliveryStatus;
  /** Attempts are in order of time. */
  readonly attempts: readonly DeliveryAttempt[];
  readonly nextAttemptAt: number | null;
  readonly createdAt: number;
  readonly finishedAt: number | null;
}

/** What is sent, and to where. */
export interface Dispatch {
  readonly url: string;
  readonly format: WebhookFormat;
  /** Whose it is. */
  readonly account: { readonly id: string; readonly name: string };
  /** Each of them signs. */
  readonly secrets: readonly string[];
  readonly eventId: string;
  readonly body: string;
  /** The time is by the store's clock. */
  readonly at: number;
}
/** An attempt that is due. */
export interface DueDelivery extends Dispatch {
  readonly id: string;
  /** Attempts before this one. */
  readonly attemptCount: number;
}
/** A ping about to be sent. */
interface PreparedTest extends Dispatch {
  readonly webhookId: string;
}

interface DueDeliveries {
  /** Oldest first; empty when the webhook or its account is deleted, disabled or suspended. */
  readonly due: readonly DueDelivery[];
  /** All attempts have failed for so long, ms; null means that they have not. */
  readonly failingForMs: number | null;
}

/** It tells one of the account's admins of a disabled webhook; null: nobody. */
export type WebhookDisabledMail = (
  about: { readonly account: string; readonly webhook: string; readonly reason: Exclude<DisabledReason, 'manual'> },
  to: string,
) => MailPayload | null;

/** `pending` is attempted at once. */
type ReplayOutcome =
  | { readonly outcome: 'replayed'; readonly delivery: Delivery }
  | { readonly outcome: 'not_found' | 'disabled' };

export interface DeliveryCounts {
  readonly webhookId: string;
  readonly delivered: number;
  readonly failed: number;
  /** When the newest delivery was, whatever its status. */
  readonly lastAt: number;
}

interface Webhooks {
  /** Throws ApiError('too_many_webhooks'). */
  create(
    account: AccountId,
    input: WebhookInput & { readonly secret: string; readonly format: WebhookFormat },
    by: Actor,
  ): Promise<Webhook>;
  /** The oldest comes first. */
  list(account: AccountId): Promise<Webhook[]>;
  get(account: AccountId, id: string): Promise<Webhook | null>;
  /** Disabling it ends its pending deliveries. */
  update(
    account: AccountId,
    id: string,
    change: Partial<WebhookInput> & { readonly enabled?: boolean },
    by: Actor,
  ): Promise<Webhook | null>;
  /** From now on `secret` signs, and the one before signs for `overlapMs` more. */
  rotate(account: AccountId, id: string, secret: string, overlapMs: number, by: Actor): Promise<Webhook | null>;
  /** Removes its deliveries as well. */
  remove(account: AccountId, id: string, by: Actor): Promise<boolean>;
  /** Newest first, of one status or of all; null where there is no such webhook. */
  deliveries(
    account: AccountId,
    id: string,
    input: { offset: number; limit: number; status?: DeliveryStatus | undefined },
  ): Promise<Page<Delivery> | null>;
  /** Counts the deliveries of the account's webhooks since then; webhooks without one are left out. */
  deliveryCounts(account: AccountId, since: number): Promise<DeliveryCounts[]>;
  /** One of them, with what is sent. */
  delivery(
    account: AccountId,
    id: string,
  ): Promise<({ delivery: Delivery } & Pick<Dispatch, 'format' | 'account' | 'body'>) | null>;
  /**
   * Sends an event again, as a new delivery with the same `webhook-id`; a pending delivery is itself attempted at once,
   * and then as often again as a new one.
   */
  replay(account: AccountId, delivery: string): Promise<ReplayOutcome>;
  /** What is due of a webhook, up to `most`. */
  due(id: string, most: number): Promise<DueDeliveries>;
  /**
   * Records an attempt and what follows from it: retry, end, disabling, with the mails to the account's admins. False
   * when it was recorded already, or the delivery was deleted.
   */
  record(delivery: DueDelivery, outcome: AttemptOutcome, mailTo: WebhookDisabledMail): Promise<boolean>;
  /**
   * Ends a job that sends what is due, unless something is: false. `pauseMs`: nothing is sent before so many ms. The
   * job itself waits where that, or the next attempt, is within `soonMs`; later attempts are for `wake`. Whatever is
   * emitted meanwhile finds the job open, or adds one. Throws LeaseLostError.
   */
  finish(job: ClaimOf<'webhook_delivery'>, wait: { pauseMs: number; soonMs: number }): Promise<boolean>;
  /** A ping, which nothing knows of before it is recorded; null where there is no such webhook. */
  prepareTest(account: AccountId, id: string): Promise<PreparedTest | null>;
  /** A test is not retried; otherwise as `record`. Null when the webhook was deleted meanwhile. */
  recordTest(
    account: AccountId,
    test: PreparedTest,
    outcome: AttemptOutcome,
    mailTo: WebhookDisabledMail,
  ): Promise<Delivery | null>;
  /** Adds the job of each webhook that has due deliveries and no job. */
  wake(signal?: AbortSignal): Promise<void>;
}

// Alerts

/** Which alerts owners and admins are mailed, and which of them are going on. */
export interface AlertSettings {
  readonly mails: readonly AlertType[];
  readonly paused: boolean;
}
export interface AlertsOfAccount extends AlertSettings {
  /** They come with the latest first. */
  readonly open: readonly { readonly type: AlertType; readonly subject: string; readonly since: number }[];
}

/** Whether this node reaches mail servers, and since when. */
export interface MailServersSeen {
  readonly state: EgressCondition;
  readonly since: number;
  readonly node: string | null;
}

interface Alerts {
  /** Whether the account has chosen its mails, or has a chat for its alerts. */
  isSet(account: AccountId): Promise<boolean>;
  settings(account: AccountId): Promise<AlertsOfAccount>;
  change(account: AccountId, change: Partial<AlertSettings>, by: Actor): Promise<void>;
  /**
   * Reports what is wrong in active accounts and was not reported, and ends what is over. Mails and deliveries commit
   * with the record of it. `seen`: null without an SMTP identity.
   */
  evaluate(seen: MailServersSeen | null, signal?: AbortSignal): Promise<void>;
}

// Hooks of auth servers

export interface HookSettings {
  readonly name: string;
  /** Names a policy of the account. */
  readonly policy: string;
  /** Mailboxes are remembered in this scope; null means that they are not. */
  readonly scope: string | null;
  /** How long the caller waits. */
  readonly timeoutMs: number;
  /** Calls in a rate window; null: half of the account's. */
  readonly rateLimit: number | null;
}

/** Its secrets are left out. */
export interface Hook extends HookSettings {
  readonly id: string;
  readonly accountId: AccountId;
  readonly kind: HookKind;
  /** False: its caller's secret is not known yet, so that every call is refused. */
  readonly hasSecret: boolean;
  /** The secret before the last roll is accepted until then; null means that it is not, or no longer. */
  readonly previousSecretUntil: number | null;
  readonly createdAt: number;
  /** When a call was last signed with a valid secret, exact to a minute. */
  readonly lastUsedAt: number | null;
}

/** What a call needs to know. */
export interface CalledHook extends Hook {
  /** Those that are accepted, by the clock of the store; the newest first. */
  readonly secrets: readonly string[];
  readonly plan: string;
  readonly suspended: boolean;
  /** Whether its account is one of test mode. */
  readonly test: boolean;
  /** Its account may send this many requests per window. */
  readonly requestsPerWindow: number;
}

interface Hooks {
  /** Throws ApiError('too_many_hooks'). */
  create(
    account: AccountId,
    input: HookSettings & { readonly kind: HookKind; readonly secret: string | null },
    by: Actor,
  ): Promise<Hook>;
  /** The oldest comes first. */
  list(account: AccountId): Promise<Hook[]>;
  get(account: AccountId, id: string): Promise<Hook | null>;
  update(account: AccountId, id: string, change: Partial<HookSettings>, by: Actor): Promise<Hook | null>;
  /** From now on `secret` is accepted, and the one before for `graceMs` more. */
  roll(account: AccountId, id: string, secret: string, graceMs: number, by: Actor): Promise<Hook | null>;
  remove(account: AccountId, id: string, by: Actor): Promise<boolean>;
  /** Whatever account it is of; null where that was deleted. */
  find(id: string): Promise<CalledHook | null>;
  /** Records that calls of these came whose signature fitted. */
  used(ids: readonly string[]): Promise<void>;
}

// Providers that report outcomes.

/** Its secrets are left out. */
export interface OutcomeSource {
  readonly id: string;
  readonly accountId: AccountId;
  readonly provider: OutcomeProvider;
  readonly name: string;
  /** False: the provider's secret is not known yet, so that every request is refused. */
  readonly hasSecret: boolean;
  /** The secret before the last roll is accepted until then; null means that it is not, or no longer. */
  readonly previousSecretUntil: number | null;
  /** Outcomes that came from there. */
  readonly received: number;
  readonly createdAt: number;
  readonly lastReceivedAt: number | null;
}

/** What a request of a provider needs to know. */
export interface CalledOutcomeSource extends OutcomeSource {
  /** Those that are accepted, by the clock of the store; the newest first. */
  readonly secrets: readonly string[];
  readonly plan: string;
  readonly suspended: boolean;
  /** Whether its account is one of test mode. */
  readonly test: boolean;
}

interface OutcomeSources {
  /** Throws ApiError('too_many_outcome_sources'). */
  create(
    account: AccountId,
    input: { readonly provider: OutcomeProvider; readonly name: string; readonly secret: string | null },
    by: Actor,
  ): Promise<OutcomeSource>;
  /** The oldest comes first. */
  list(account: AccountId): Promise<OutcomeSource[]>;
  get(account: AccountId, id: string): Promise<OutcomeSource | null>;
  /** From now on `secret` is accepted, and the one before for `graceMs` more. */
  roll(account: AccountId, id: string, secret: string, graceMs: number, by: Actor): Promise<OutcomeSource | null>;
  remove(account: AccountId, id: string, by: Actor): Promise<boolean>;
  /** Whatever account it is of; null where that was deleted. */
  find(id: string): Promise<CalledOutcomeSource | null>;
}

// Policies

/** Times are in ms. */
export interface StoredPolicy extends Policy {
  readonly createdAt: number;
  readonly changedAt: number;
}

/** Those that an account has made; the built-in ones are no rows. */
interface Policies {
  /** Returns them sorted by name. */
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
