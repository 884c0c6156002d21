import type { LogNegatable } from '../../kernel/facts/log-filters.ts';
import type { Outcome } from '../../kernel/facts/outcomes.ts';
import type { Level } from '../../kernel/facts/plans.ts';
import type { ReasonOrNone, Status } from '../../kernel/facts/reasons.ts';
import type { LogOrigin, Via } from '../../kernel/log-origins.ts';
import type { AccountId, Page } from './accounts.ts';
import type { Actor } from './actor.ts';
import type { VerificationRecord } from './charging.ts';

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
  /** Which of these rows must not match. */
  readonly not?: readonly LogNegatable[];
  /** Rows before this one. */
  readonly before: number | null;
  readonly limit: number;
}

export type LoggedVerification = VerificationRecord & {
  readonly via: Via | null;
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
  /** Addresses that used a key, of the newest LOG_SEARCH_ROWS of the account; the latest first. */
  clients(account: AccountId, keyId: string, limit: number): Promise<KeyClient[]>;
  /** Deletes what is recorded of an address (without regard to case), replies kept for repeats too; how many. */
  erase(account: AccountId, email: string, by: Actor): Promise<number>;
}
