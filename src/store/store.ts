/**
 * What a store can do, whatever engine is behind it. `openStore` (open.ts) picks SQLite or PostgreSQL by the URL; both
 * rooms have the same shape and pass the same suite (tests/store).
 *
 * Times are milliseconds since the epoch. Credits are whole numbers. Anything an account owns is asked for by its
 * account id first.
 */
import type { Level, Plan } from '../kernel/plans.ts';

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

/** A recorded verification: what the log shows and what the ledger charges for. */
export interface VerificationRecord {
  /** `ver_…`, made by the caller so that the recorded reply can name it. */
  readonly id: string;
  /** As sent. May hold any UTF-16 code unit but NUL is stored as U+FFFD where an engine cannot keep it. */
  readonly email: string;
  readonly requested: Level;
  readonly validationType: Level;
  readonly status: 'good' | 'bad';
  readonly deliverability: string;
  readonly reason: string | null;
  readonly credits: number;
  readonly clientIp: string | null;
  readonly durationMs: number;
  /** The reply's JSON text, exactly as it is sent. */
  readonly body: string;
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

/** Canonical values under which the account's filters could match this request: email, then domains, then IPs. */
export interface FilterKeys {
  readonly email: string | null;
  /** The domain and its parents, longest first. */
  readonly domains: readonly string[];
  /** The canonical values that cover the end user's IP, most specific first; asked for only when there are IP filters. */
  readonly ips: () => readonly string[];
}

export interface AdmissionRequest {
  /** `hashApiKey(key)`. */
  readonly keyHash: string;
  /** Canonical IP of the caller (v4-mapped already folded to v4). */
  readonly ip: string;
  /** The request itself is unusable (400, 413, 415, 422): judged up to the rate window, then handed back. */
  readonly invalid: boolean;
  readonly idempotency: IdempotencyRef | null;
  readonly verify: VerifyAdmission | null;
}
export interface VerifyAdmission {
  readonly id: string;
  readonly level: Level;
  readonly filterKeys: FilterKeys;
  /** Milliseconds until a hold whose process is silent may be released. */
  readonly holdMs: number;
  /**
   * Called inside the transaction, synchronously, once it is known who asks and which filter matches. Returns the
   * record when the verdict waits for nobody (then it is charged and recorded in the same transaction), or null when
   * it has to be worked out (then PRICE[level] is held). Must be pure: PostgreSQL may call it again.
   */
  readonly decide: (filter: Filter | null) => VerificationRecord | null;
}

export type RefusalCode =
  | 'invalid_api_key'
  | 'revoked_api_key'
  | 'ip_not_allowed'
  | 'rate_limit_exceeded'
  | 'plan_upgrade_required'
  | 'insufficient_credits'
  | 'idempotency_in_progress'
  | 'idempotency_key_reused';

/**
 * The outcome of admission, in the contract's order of refusal: key (an unknown key, and one whose account is gone or
 * suspended, are `invalid_api_key`), IP allowlist, rate window, idempotency (for unusable requests too: their 400 and 422
 * are stored replies), [`invalid` is handed back here as `admitted`], plan, filters, credits. A matching filter costs
 * nothing, so it needs no credits: `decide` is then called with it and its record settles at once. Credits
 * means PRICE[level] even when the verdict turns out to cost less, so that an answer does not depend on what is cached.
 * `caller` and `window` are there from the moment the key is known to be good.
 * A request refused with 401 or 403 does not count in the window; every other one counts once, a 429 not.
 */
export type Admission =
  | {
      readonly outcome: 'refused';
      readonly code: RefusalCode;
      readonly caller: Caller | null;
      readonly window: RateWindow | null;
      readonly balance: number | null;
    }
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
      readonly filter: Filter | null;
      readonly balance: number;
    }
  | {
      readonly outcome: 'settled';
      readonly caller: Caller;
      readonly window: RateWindow;
      readonly record: VerificationRecord;
      readonly balance: number;
    };

export interface Settlement {
  readonly caller: Caller;
  /** Null gives the hold back without a charge (no verdict could be given). */
  readonly record: VerificationRecord | null;
  /** The id the hold was taken under. */
  readonly holdId: string;
  readonly idempotency: IdempotencyRef | null;
}

/** Since the store was opened; for metrics. */
export interface ChargingStats {
  /** Transactions begun for batches. */
  readonly batches: number;
  /** Requests answered, refusals included. */
  readonly answered: number;
  /** Requests rejected because the store could not record. */
  readonly failed: number;
  /** Requests turned away by a full queue. */
  readonly overloaded: number;
}

/**
 * The charge: both calls are micro-batched; each answers after its commit. A full queue throws Refusal('overloaded') to
 * `admit`; `settle` is never turned away, as what it finishes was admitted once and is bounded by that. When the store
 * cannot record, both throw Refusal('verification_unavailable') and nothing was charged.
 */
export interface Charging {
  admit(request: AdmissionRequest): Promise<Admission>;
  /**
   * Turns a hold into its charge and writes the record, ledger rows, usage counters and the idempotent reply in one
   * transaction; or, with `record: null`, releases the hold and forgets the idempotency key. Idempotent by record id.
   * Answers the balance afterwards. When the hold was released meanwhile, it charges from the balance if that
   * suffices, else throws Refusal('verification_unavailable') and records nothing.
   */
  settle(settlement: Settlement): Promise<{ balance: number }>;
  /** Requests waiting for a transaction. */
  readonly waiting: number;
  readonly stats: ChargingStats;
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

export interface Accounts {
  create(input: {
    name: string;
    plan: Plan;
    rateLimit: number | null;
    credits: number;
    note?: string;
  }): Promise<Account>;
  get(id: string): Promise<Account | null>;
  list(): Promise<Account[]>;
  count(): Promise<number>;
  set(
    id: AccountId,
    change: { name?: string; plan?: Plan; rateLimit?: number | null; status?: 'active' | 'suspended' },
  ): Promise<Account | null>;
  /** Adds (or, with a negative number, takes back) credits; refuses what would put the balance below zero: null. */
  grant(id: AccountId, credits: number, note: string): Promise<Account | null>;
  ledger(id: AccountId, limit: number): Promise<LedgerRow[]>;
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
  ): Promise<Key>;
  list(account: AccountId | null): Promise<Key[]>;
  get(id: string): Promise<Key | null>;
  update(account: AccountId, id: string, change: { name?: string; allowIps?: readonly string[] }): Promise<Key | null>;
  /** Final; in force for every request begun after this has returned. Revoking twice keeps the first time. */
  revoke(id: string): Promise<Key | null>;
}
export interface Filters {
  add(
    account: AccountId,
    input: { filterType: FilterType; value: string; reason: string | null },
  ): Promise<{ added: true; filter: Filter } | { added: false; existingId: number }>;
  /** Many at once in one transaction (imports, benches); answers how many were new. */
  addMany(
    account: AccountId,
    inputs: readonly { filterType: FilterType; value: string; reason: string | null }[],
  ): Promise<number>;
  /** Newest first. `query` is searched literally (no wildcards), without regard to case, in value and reason. */
  list(
    account: AccountId,
    input: { filterType: FilterType | null; query: string | null; offset: number; limit: number },
  ): Promise<Page<Filter>>;
  remove(account: AccountId, id: number): Promise<boolean>;
}
export interface Verifications {
  get(account: AccountId, id: string): Promise<(VerificationRecord & { createdAt: number; keyId: string }) | null>;
  list(
    account: AccountId,
    input: { offset: number; limit: number },
  ): Promise<Page<VerificationRecord & { createdAt: number; keyId: string }>>;
}
export interface Usage {
  summary(account: AccountId, from: number, to: number): Promise<UsageSummary>;
  series(account: AccountId, grouping: UsageGrouping, from: number, to: number): Promise<UsageRow[]>;
}
export interface Upkeep {
  /** Releases the holds (and unfinished idempotency keys) of processes that are gone, and those past their time. */
  releaseDead(): Promise<number>;
  /** Deletes verifications older than `before` and idempotency keys past their day, in small steps. */
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
  /** Brings the schema to this version. Refuses (throws StoreVersionError) a store that is newer. Safe for two starters. */
  migrate(): Promise<{ from: number; to: number }>;
  /** Answers whether a read and a write would work right now; throws with the reason when not. For /readyz. */
  ping(): Promise<void>;
  /** Waits for what is queued, then closes. */
  close(): Promise<void>;
}
