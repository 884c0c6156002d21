/**
 * Lists of addresses. The rows of a file are kept in blocks of some hundred; each block has a chunk of work, the
 * distinct addresses that first occur in it. A list is worked on like this:
 *
 *     running() → claim() or claimWaiting() → verify → record() … → release() of what is left
 *
 * A lease ends by the store's clock when it is not renewed, or when its process is found dead; then others claim what
 * it held. Whether an address is still to be done is decided by the store alone: a result that comes a second
 * time, or after the end of the list, is neither recorded nor charged, whoever brings it.
 */
import type {
  Dedupe,
  FileForm,
  ListAction,
  ListError,
  ListStatus,
  ReadChoice,
  SentAs,
} from '../../kernel/facts/lists.ts';
import type { Level } from '../../kernel/facts/plans.ts';
import type { Policy } from '../../kernel/facts/policies.ts';
import type { ReadWarningCode } from '../../kernel/facts/read-warnings.ts';
import type { Deliverability, Reason, Status } from '../../kernel/facts/reasons.ts';
import type { ListSort, Sorting } from '../../kernel/facts/sort-orders.ts';
import type { AccountId, Actor, Page, ReplyToStore } from './accounts.ts';
import type { BudgetSpent, VerificationRecord } from './charging.ts';

/** What an uploaded file looks like. */
export interface ListLayout {
  readonly columns: readonly string[];
  /** Index of the column with the addresses. */
  readonly addressColumn: number;
  /** Whether the names of the columns are in the file. */
  readonly hasHeader: boolean;
  /**
   * As detected: `csv`, `xlsx` …, and what stands between the cells. Missing where the version before stored the list.
   */
  readonly format?: FileForm;
  readonly delimiter?: string | null;
  readonly encoding?: string | null;
  readonly byteOrderMark?: boolean;
  readonly sheet?: string | null;
  readonly entry?: string | null;
  /** Row of the file with the names of the columns, from 1; 0: none. */
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

export interface NewList {
  /** `lst_…`, made by the caller. */
  readonly id: string;
  readonly account: AccountId;
  /** Under which results are recorded. */
  readonly keyId: string;
  /** Of the uploader, canonical: `ip_address` filters match it. */
  readonly clientIp: string | null;
  readonly name: string;
  readonly level: Level;
  readonly patienceMinutes: number;
  readonly layout: ListLayout;
  /** What decides from its results, as it is now; null by default: nothing. */
  readonly policy?: Policy | null;
}

export interface ListRowAddress {
  /** Within the list, from 1; rows with the same address, or mailbox, have the same number. */
  readonly number: number;
  /** Index of its column. */
  readonly column: number;
  /** Null: what its cell has, without dressing. */
  readonly text: string | null;
}

/** A row of the file. */
export interface ListRow {
  /** From 1, the header not counted. */
  readonly row: number;
  /** In the order of the file; none: it is blank or unreadable. */
  readonly addresses: readonly ListRowAddress[];
  readonly cells: readonly string[];
  /** Beyond the last column. */
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

export interface ListRowCounts {
  /** Rows; one may have several addresses. */
  readonly total: number;
  /** Distinct ones. */
  readonly addresses: number;
  /** Further ones that are the same as an earlier one. */
  readonly duplicates: number;
  /** Rows without an address. */
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
  readonly patienceMinutes: number;
  readonly layout: ListLayout;
  /** As it was when the list was made; null: none. */
  readonly policy: Policy | null;
  /** Null where the version before stored the list, or it is a part of another one. */
  readonly summary: ListSummary | null;
  /** Whether its file is kept, so that it can be read in another way. */
  readonly hasFile: boolean;
  readonly rows: ListRowCounts;
  /** Distinct addresses. */
  readonly done: number;
  /** Of those that are not done: asked about, and to be asked about again. */
  readonly waiting: number;
  readonly breakdown: ListBreakdown;
  /** Done in a second, lately; null: unknown, or not running. */
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

/** `list_state`: not allowed in the list's status. */
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
  /** By number of the address; those that are not done are missing. */
  readonly results: ReadonlyMap<number, ListResult>;
  /** By number of the address: how often those that wait were asked about. */
  readonly asked: ReadonlyMap<number, number>;
}

export interface DeferredAddress {
  readonly email: string;
  /** How often it was asked about, and when first. */
  readonly attempts: number;
  readonly firstAt: number;
  readonly retryAt: number;
}

/** A list that is running, of an active account. */
export interface RunningList {
  /** Of a test account: judged by the addresses alone, and free. */
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

/** One address of a list, claimed. */
export interface ListWork {
  readonly list: string;
  readonly account: AccountId;
  /** Its block; null: it was waiting. */
  readonly block: number | null;
  /** Number within the list, from 1. */
  readonly address: number;
  readonly email: string;
  /** How often it was asked about before. */
  readonly attempts: number;
  /** Name of the egress that deferred it; null: none. */
  readonly egress: string | null;
}

export interface ListClaim {
  readonly list: string;
  readonly account: AccountId;
  /** Of the worker. */
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
   * list's patience with it has ended by then: in that case, and without `retryMs`, the record is its result.
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
  /** `ended`: nothing was recorded, as the list was canceled or deleted, or has failed, or its account is gone. */
  readonly outcome: 'recorded' | 'completed' | 'ended';
  /** Results recorded by this call. */
  readonly recorded: number;
  /** Numbers of their addresses. */
  readonly results: readonly number[];
  readonly charged: number;
}

interface Finished {
  readonly by?: Actor | undefined;
  readonly summary?: ListSummary | null;
  readonly stored?: ReplyToStore<List> | null;
}

export interface ListReading {
  /** From which the rows of its blocks are numbered. */
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
   * Throws ApiError `too_many_lists`, `list_storage_full`.
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
  /** The kept file, in pieces. */
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
      /** Missing: the newest first. */
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
  /** Of a list whose `start` was asked for with the upload and refused. */
  setError(account: AccountId, id: string, error: ListError | null): Promise<void>;
  /** Canceling releases what is held; deleting makes the list invisible, and a job removes it with its results. */
  change(account: AccountId, id: string, action: Exclude<ListAction, 'start'>, by?: Actor): Promise<ListChange>;

  /** A lease for a worker in this process. */
  newLease(): Promise<string>;
  /** Oldest first. */
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
