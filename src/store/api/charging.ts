/** Charging: the request and the outcome of admission, and the settlement of a hold. */
import type { Level } from '../../kernel/facts/plans.ts';
import type { Decision, PolicyAction } from '../../kernel/facts/policies.ts';
import type { Deliverability, Reason, Status } from '../../kernel/facts/reasons.ts';
import type { KeyScope } from '../../kernel/facts/scopes.ts';
import type { Via } from '../../kernel/log-origins.ts';
import type {
  AccountId,
  Actor,
  Caller,
  FilterKeys,
  FilterRule,
  IdempotencyRef,
  RateWindow,
  StoredReply,
} from './accounts.ts';

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

/**
 * Replies of other routes than verify. Errors are stored for the key that admission reserved; they go with no change.
 */
export interface Idempotency {
  /**
   * The stored reply, for a key that nothing was reserved for: a body that is read as it arrives has its hash at its
   * end. Throws ApiError `idempotency_key_reused`.
   */
  find(account: AccountId, ref: IdempotencyRef): Promise<StoredReply | null>;
  finish(caller: Caller, ref: IdempotencyRef, reply: StoredReply): Promise<void>;
  /** Forgets a reservation (the reply was one that is not stored). */
  forget(caller: Caller, ref: IdempotencyRef): Promise<void>;
}

/** A recorded verification: what the log shows and what the ledger charges for. */
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
  readonly credits: number;
  readonly clientIp: string | null;
  readonly durationMs: number;
  /** The reply's JSON text, exactly as it is sent. */
  readonly body: string;
  /** The contract through which it was asked for; null by default: our own. */
  readonly via?: Via | null;
  /** What the policy of the request said; null by default: it had none. */
  readonly decision?: PolicyAction | null;
  /** The account's filter that matched: recording counts a hit of it. None by default. */
  readonly filterId?: number | null;
  /** What the policy decides where the request's sighting shows that the mailbox was seen before; null: the same. */
  readonly decisionIfSeen?: Decision | null;
}

/** What the store has completed of a record, by what it knows of a mailbox. */
export type CompletedReply = Pick<VerificationRecord, 'body' | 'decision'>;

/** That a mailbox is to be remembered in a scope of the account. Neither address is stored. */
export interface Sighting {
  readonly scope: string;
  /** The canonical address, by which the spellings of one mailbox are equal. */
  readonly mailbox: string;
  /** The normalized address. */
  readonly spelling: string;
}

/** What an account has remembered of sightings. */
export interface SeenMailboxes {
  /** In one scope, or in all (null). Returns in how many it was known. */
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
  /** Canonical IP of the caller (v4-mapped already folded to v4). */
  readonly ip: string;
  /** The request itself is unusable (400, 413, 415, 422): judged up to the rate window, then handed back. */
  readonly invalid: boolean;
  readonly idempotency: IdempotencyRef | null;
  readonly verify: VerifyAdmission | null;
  /** Whether the client has gone; a request of which nobody awaits the reply is dropped before its transaction. */
  readonly gone?: () => boolean;
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
  /** Milliseconds until a hold whose process is silent may be released. */
  readonly holdMs: number;
  /**
   * Called with the matching filter, unless one may match once the mail hosts are known. Returns the record when the
   * verdict needs no network (then it is charged and recorded in the transaction that found the filter to match), or
   * null when it has to be worked out (then PRICE[level] is held; nothing in test mode). Must be pure: it may be called
   * again, and in vain.
   */
  readonly decide: (filter: FilterRule | null) => VerificationRecord | null;
}

type PlainRefusal =
  | 'invalid_api_key'
  | 'revoked_api_key'
  | 'ip_not_allowed'
  | 'rate_limit_exceeded'
  | 'plan_upgrade_required'
  | 'insufficient_credits'
  | 'idempotency_in_progress'
  | 'idempotency_key_reused';
export type Refusal =
  | { readonly code: PlainRefusal }
  | { readonly code: 'expired_api_key'; readonly expiredAt: number }
  | { readonly code: 'scope_missing'; readonly scope: KeyScope }
  | { readonly code: 'too_many_mailboxes'; readonly limit: number }
  /** `left`: of the budget, holds deducted. `resetsAt`: ms. */
  | { readonly code: 'key_budget_spent'; readonly budget: number; readonly left: number; readonly resetsAt: number };

/**
 * The outcome of admission, in the contract's order of refusal: key (an unknown key, and one whose account is gone or
 * suspended, are `invalid_api_key`), IP allowlist, scope, rate window, idempotency (for unusable requests too: their
 * 400 and 422 are stored replies), [`invalid` is handed back here as `admitted`], plan, room for a mailbox, filters,
 * credits, budget of the key. What a filter blocks costs nothing, so it needs neither of the last two: `decide` is then
 * called with it and its record settles at once. Credits and budget must cover PRICE[level] even when the verdict turns
 * out to cost less, so that an answer does not depend on what is cached. Holds count against the budget while they
 * last, so it is never exceeded.
 * `caller` and `window` are there from the moment the key is known to be good.
 * A request refused with 401 or 403 does not count in the window; every other one counts once, a 429 not.
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
  /** As of the admission. */
  readonly seen?: Sighting | null;
}

export interface Settled {
  readonly balance: number;
  /** Where it is not that of the record. */
  readonly completed?: CompletedReply;
}

/** The latest results, by `Clock.elapsed()`; null: none yet. */
export interface ChargingHealth {
  /** A charge or a hold was recorded. */
  readonly chargedAt: number | null;
  /** The store could not record. */
  readonly failure: { readonly at: number; readonly cause: unknown } | null;
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
  /** Requests that waited longer than STORE_WAIT_SECONDS. */
  readonly expired: number;
  /** Requests whose client had gone before their transaction. */
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
  /** Requests waiting for a transaction. */
  readonly waiting: number;
  readonly stats: ChargingStats;
  readonly health: ChargingHealth;
}
