import type { LogNegatable } from '../../kernel/facts/log-filters.ts';
import type { Outcome } from '../../kernel/facts/outcomes.ts';
import type { Level } from '../../kernel/facts/plans.ts';
import type { PolicyAction } from '../../kernel/facts/policies.ts';
import type { ReasonOrNone, Status } from '../../kernel/facts/reasons.ts';
import type { LogOrigin, Via } from '../../kernel/log-origins.ts';
import type { AccountId, Actor, Page } from './accounts.ts';
import type { VerificationRecord } from './charging.ts';

/** A request with a valid key that got an error. */
export interface RejectedRequest {
  readonly account: AccountId;
  /** When it was answered, ms. */
  readonly at: number;
  /** Of the reply; the client may have chosen it. */
  readonly requestId: string;
  readonly keyId: string;
  /** Canonical IP of the caller. */
  readonly clientIp: string;
  /** Method and path of the row of the route, without values. */
  readonly route: string;
  readonly status: number;
  /** Of the error; null where the reply had none. */
  readonly code: string | null;
  /** The contract that it speaks; null: our own, or the dashboard's. */
  readonly via: Via | null;
  /** What a hook answered although there was no verdict; null by default: it was no such call. */
  readonly answer?: PolicyAction | null;
}

/** Those of a minute that are only counted. */
export interface MoreRejectedRequests {
  readonly account: AccountId;
  /** Start of the minute, ms. */
  readonly at: number;
  readonly count: number;
}

type Columns = Omit<RejectedRequest, 'account' | 'at'>;

/** In the log: one request, or with null in all other columns those of a minute that were only counted. */
export type LoggedRejection = { readonly [K in keyof Columns]-?: Exclude<Columns[K], undefined> | null } & {
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
  readonly keyId?: string | null;
  readonly origin?: Exclude<LogOrigin, 'list'> | null;
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
  countByKey(account: AccountId, from: number): Promise<ReadonlyMap<string, number>>;
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
  /** Text without addresses, names, numbers and ids. */
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
export interface UncertainReplies {
  /**
   * Adds to the stored counts. Of one operator, the UNCERTAIN_REPLIES_PER_OPERATOR most frequent kinds are kept; of
   * all, UNCERTAIN_REPLIES_MAX.
   */
  add(replies: readonly UncertainReplyCount[]): Promise<void>;
  /** The most frequent first. `unmatched`: only those that no rule matched. */
  list(query: { readonly unmatched: boolean; readonly limit: number }): Promise<Page<UncertainReplyRow>>;
}

/** Request counts of one process since its last flush. */
export interface TrafficRow {
  readonly account: AccountId;
  /** Start of the hour, ms. */
  readonly hour: number;
  /** `status`: replies of 4xx by status; `mx`, `smtp`: verifications of that level by latency bucket. */
  readonly metric: 'status' | 'mx' | 'smtp';
  /** HTTP status, or the number of the latency bucket (kernel/latency.ts). */
  readonly bucket: number;
  readonly count: number;
}

export interface Traffic {
  /** Adds to the stored counts; counts of deleted accounts are dropped. */
  add(rows: readonly TrafficRow[]): Promise<void>;
  /** Of all accounts together, from the hour of `from` on. Gives up after `withinMs`. */
  ofAll(from: number, withinMs: number): Promise<Omit<TrafficRow, 'account'>[]>;
  /** From the hour of `from` to before `to`, oldest first. */
  list(account: AccountId, from: number, to: number): Promise<TrafficRow[]>;
}

export interface LogSearch {
  /** An address or its beginning, without regard to case. */
  readonly email: string | null;
  readonly id: string | null;
  readonly reason: ReasonOrNone | null;
  readonly keyId: string | null;
  readonly status: Status | null;
  /** An ID, an address or its beginning, or any part of one, without regard to case. */
  readonly text?: string | null;
  /** The level that was billed. */
  readonly level?: Level | null;
  /** As charts count it. */
  readonly outcome?: Outcome | null;
  /** `keyId` names a key of the API. */
  readonly origin?: LogOrigin | null;
  /** Unix time in ms; `to` is exclusive. */
  readonly from?: number | null;
  readonly to?: number | null;
  /** Mail operator, by the name that replies give it; `none`: one that has no name. */
  readonly operator?: string | null;
  /** Name of the egress from which the mail server was asked. */
  readonly egress?: string | null;
  /** Of the policy of the request. */
  readonly decision?: PolicyAction | null;
  /** Which of these rows must not match. */
  readonly not?: readonly LogNegatable[];
  /** Rows before this one. */
  readonly before: number | null;
  readonly limit: number;
}

export type LoggedVerification = VerificationRecord & {
  readonly via: Via | null;
  readonly decision: PolicyAction | null;
  /** Order of recording; for `before`. */
  readonly seq: number;
  readonly createdAt: number;
  readonly keyId: string;
  /** Id of the list whose result it is; the list may have been deleted. */
  readonly list: string | null;
};
/** One that is read by itself. */
type Verification = Omit<LoggedVerification, 'seq'>;

/** The latest time and the number of requests of a key from one address; null: without one. */
export interface KeyClient {
  readonly ip: string | null;
  readonly requests: number;
  readonly lastAt: number;
}

export interface Verifications {
  get(account: AccountId, id: string): Promise<Verification | null>;
  list(account: AccountId, input: { offset: number; limit: number }): Promise<Page<Verification>>;
  /**
   * Newest first. Looks through at most LOG_SEARCH_ROWS of the account, unless an index answers (id, email): `next` is
   * null at the end, else where to go on, and `searchedTo` the time of the last row looked at.
   */
  search(
    account: AccountId,
    search: LogSearch,
  ): Promise<{ items: LoggedVerification[]; next: number | null; searchedTo: number | null }>;
  /** The newest ones that asked for the mailbox, of the newest LOG_SEARCH_ROWS. `body`: the reply as JSON. */
  mailboxChecks(
    account: AccountId,
    limit: number,
  ): Promise<Pick<VerificationRecord, 'body' | 'deliverability' | 'reason' | 'durationMs'>[]>;
  /** The newest ones; `body`: the reply as JSON. */
  newest(account: AccountId, limit: number): Promise<Pick<LoggedVerification, 'id' | 'email' | 'body' | 'createdAt'>[]>;
  /** Addresses that used a key, of the newest LOG_SEARCH_ROWS of the account; the latest first. */
  clients(account: AccountId, keyId: string, limit: number): Promise<KeyClient[]>;
  /**
   * Deletes what is recorded of an address (without regard to case), replies kept for repeats too, and forgets in which
   * scopes its mailbox was seen; how many. `mailbox`: its canonical address; null: it has none.
   */
  erase(account: AccountId, email: string, by: Actor, mailbox?: string | null): Promise<number>;
}
