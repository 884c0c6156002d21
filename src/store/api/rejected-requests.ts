import type { LogOrigin, Via } from '../../kernel/log-origins.ts';
import type { AccountId } from './accounts.ts';

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
export type LoggedRejection = { readonly [K in keyof Columns]: Columns[K] | null } & {
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
