/**
 * What charging reads and changes. A driver loads a `ChargeState`, `applyBatch` works on it in memory, and the driver
 * writes the `Changes` in the same transaction.
 */
import type { Level, Plans } from '../../kernel/facts/plans.ts';
import type { Reason, Status } from '../../kernel/facts/reasons.ts';
import type { FilterCounts, FilterLookup } from '../filter-kinds.ts';
import type {
  AccountId,
  Admission,
  AdmissionRequest,
  CompletedReply,
  FilterRule,
  Settlement,
  StoreEvent,
  VerificationRecord,
} from '../store.ts';
import type { CreditState, GivenAllowances, Renewal } from './allowance.ts';
import type { BudgetState } from './budget.ts';
import type { WindowCounters } from './window.ts';

/** The counters of its budget are mutable, as the account is. */
export interface KeyState extends BudgetState {
  readonly accountId: AccountId;
  /** The text is a JSON array of canonical addresses and CIDRs. */
  readonly allowIps: string;
  readonly revokedAt: number | null;
  readonly expiresAt: number | null;
  /** Scopes are separated by spaces; null means all. */
  readonly scopes: string | null;
  readonly lastUsedAt: number | null;
}

export interface AccountState extends CreditState, FilterCounts, WindowCounters {
  readonly rateLimit: number | null;
  readonly status: string;
}

export interface HoldState {
  readonly id: string;
  readonly accountId: AccountId;
  readonly amount: number;
}

/** What an account goes by for the mailboxes that it has seen. */
export interface SeenOwner {
  readonly accountId: AccountId;
  readonly secret: string;
  readonly mailboxes: number;
}
/** A mailbox that was seen in a scope. */
export interface SeenState {
  readonly accountId: AccountId;
  readonly mailbox: string;
  readonly scope: string;
  readonly spelling: string;
  readonly count: number;
  readonly firstAt: number;
  readonly lastAt: number;
}

export interface IdempotencyState {
  readonly accountId: AccountId;
  readonly route: string;
  readonly key: string;
  readonly fingerprint: string;
  readonly state: 'running' | 'done';
  readonly status: number | null;
  /** The text is a JSON object. */
  readonly headers: string | null;
  readonly body: string | null;
  readonly node: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** The rows a batch may need. Within a batch, a look-up always returns the same object. */
export interface ChargeState {
  /** The time is by the store's clock, in ms. */
  readonly now: number;
  /** The process that charges owns the holds taken here. */
  readonly node: string;
  readonly plans: Plans;
  key(hash: string): KeyState | null;
  /** One that a hold was taken with; the same object as `key` gives. */
  keyById(id: string): KeyState | null;
  account(id: string): AccountState | null;
  hold(id: string): HoldState | null;
  /** Returns the reply of the verification that is recorded under this ID. */
  recorded(id: string): CompletedReply | null;
  idempotency(accountId: string, route: string, key: string): IdempotencyState | null;
  filters(accountId: string, lookup: FilterLookup): readonly FilterRule[];
  seenOwner(accountId: string): SeenOwner | null;
  seen(accountId: string, mailbox: string, scope: string): SeenState | null;
}

interface LedgerEntry {
  readonly accountId: AccountId;
  readonly kind: 'hold' | 'release' | 'settlement';
  readonly amount: number;
  readonly charged: number;
  readonly verificationId: string | null;
  /** The shared hold; null: it is about a single verification. */
  readonly holdId: string | null;
}
/** A row of the ledger, and what changes of its account beside what charging counts. */
export interface AllowanceEntry extends GivenAllowances, Pick<Renewal, 'month' | 'amount' | 'note'> {
  readonly accountId: AccountId;
}
interface HoldEntry extends HoldState {
  readonly keyId: string;
  readonly route: string | null;
  readonly idempotencyKey: string | null;
  readonly expiresAt: number;
}
interface VerificationEntry {
  readonly accountId: AccountId;
  readonly keyId: string;
  /** The shared hold that pays for it; null: its own. */
  readonly holdId: string | null;
  readonly record: VerificationRecord;
  /** What was held for it; null: it moved nothing, or a row of the ledger says it. */
  readonly held: number | null;
}
export interface UsageEntry {
  readonly accountId: string;
  readonly keyId: string;
  readonly hour: number;
  readonly validationType: Level;
  readonly status: Status;
  /** Empty where there is none. */
  readonly reason: Reason | '';
  /** Of calls, one address each, and of lists. */
  readonly api: UsageSums;
  readonly list: UsageSums;
}
interface UsageSums {
  requests: number;
  credits: number;
}

/** How often a filter of an account has decided. */
export interface FilterHits {
  readonly accountId: string;
  readonly id: number;
  hits: number;
}

/** What a batch leaves to write; empty when it only refused. All rows get `ChargeState.now`. */
export interface Changes<A extends CreditState = AccountState> {
  readonly accounts: Set<A>;
  readonly allowances: AllowanceEntry[];
  readonly ledger: LedgerEntry[];
  readonly verifications: VerificationEntry[];
  readonly holds: HoldEntry[];
  /** Ids of holds that were settled or released. */
  readonly ended: string[];
  readonly usage: Map<string, UsageEntry>;
  /** Counts by account and filter. */
  readonly hits: Map<string, FilterHits>;
  /** The key is `idempotencyId`. `keep` is false where it is forgotten. */
  readonly idempotency: Map<string, { ref: IdempotencyState; keep: boolean }>;
  /** Key id → the IP it was used from. */
  readonly keyUses: Map<string, string>;
  /** Keys whose budget has other counters now. */
  readonly budgets: Set<BudgetState>;
  /** Maps accounts to their secrets and how many mailboxes they have seen. */
  readonly seenOwners: Map<string, SeenOwner>;
  /** Maps each `seenId` to its state. */
  readonly seen: Map<string, SeenState>;
  readonly events: StoreEvent[];
}

export const noChanges = <A extends CreditState = AccountState>(): Changes<A> => ({
  accounts: new Set(),
  allowances: [],
  ledger: [],
  verifications: [],
  holds: [],
  ended: [],
  usage: new Map(),
  hits: new Map(),
  idempotency: new Map(),
  keyUses: new Map(),
  budgets: new Set(),
  seenOwners: new Map(),
  seen: new Map(),
  events: [],
});

export type ChargeRequest = (
  | { readonly kind: 'admit'; readonly admit: AdmissionRequest }
  | { readonly kind: 'settle'; readonly settle: Settlement }
) & {
  /**
   * Called when it is about to be applied, perhaps again in another transaction; false: nobody waits for it, drop it.
   */
  readonly enter: () => boolean;
};

/**
 * The answer to one request of a batch. `held`: another session has locked its account, and nothing was recorded.
 * `again`: nothing was recorded, and the driver wants it in the next batch.
 */
export type ChargeAnswer =
  | { readonly value: unknown }
  | { readonly error: unknown }
  | { readonly dropped: true }
  | { readonly held: true }
  | { readonly again: true };

export const isAdmission = (value: unknown): value is Admission =>
  typeof value === 'object' && value !== null && 'outcome' in value;
