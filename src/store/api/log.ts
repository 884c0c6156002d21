import type { LogOrigin } from '../../kernel/log-origins.ts';
import type { Level } from '../../kernel/plans.ts';
import type { Deliverability, ReasonOrNone, Status } from '../../kernel/reasons.ts';
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
  readonly deliverability?: Deliverability | null;
  /** `keyId` names a key of the API. */
  readonly origin?: LogOrigin | null;
  /** Unix time in ms; `to` is exclusive. */
  readonly from?: number | null;
  readonly to?: number | null;
  /** Rows before this one. */
  readonly before: number | null;
  readonly limit: number;
}

export type LoggedVerification = VerificationRecord & {
  /** Order of recording; for `before`. */
  readonly seq: number;
  readonly createdAt: number;
  readonly keyId: string;
  /** Id of the list whose result it is; the list may have been deleted. */
  readonly list: string | null;
};
/** One that is read by itself. */
type Verification = Omit<LoggedVerification, 'seq'>;

export interface Verifications {
  get(account: AccountId, id: string): Promise<Verification | null>;
  list(account: AccountId, input: { offset: number; limit: number }): Promise<Page<Verification>>;
  /**
   * Newest first. Looks through at most LOG_SEARCH_ROWS of the account, unless an index answers (id, email): `next` is null
   * at the end, else where to go on, and `searchedTo` the time of the last row looked at.
   */
  search(
    account: AccountId,
    search: LogSearch,
  ): Promise<{ items: LoggedVerification[]; next: number | null; searchedTo: number | null }>;
  /** Deletes what is recorded of an address (without regard to case), replies kept for repeats too; how many. */
  erase(account: AccountId, email: string, by: Actor): Promise<number>;
}
