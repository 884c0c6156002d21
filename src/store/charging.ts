/** The charge's words: what admission is told and answers, and how a hold is settled. */
import type { Level } from '../kernel/plans.ts';
import type { AccountId, Caller, Filter, RateWindow } from './store.ts';

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
  /** `hashApiKey(key)`; or the account that a person signed in to, which is charged under the key id `dashboard`. */
  readonly keyHash: string | { readonly account: AccountId };
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
