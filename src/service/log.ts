import { ApiError, isErrorCode } from '../kernel/errors.ts';
import type { LogStatus } from '../kernel/facts/log-filters.ts';
import { STATUSES, type Status } from '../kernel/facts/reasons.ts';
import { canonicalIp } from '../kernel/ip.ts';
import { DASHBOARD_KEY } from '../kernel/log-origins.ts';
import { andRest, EXPORT_ROWS } from '../store/batches.ts';
import type {
  AccountId,
  LoggedRejection,
  LoggedVerification,
  RejectionPosition,
  RejectionSearch,
  Store,
  LogSearch as VerificationSearch,
} from '../store/store.ts';

// Rows of the log, and how they are searched.

export type LogEntry = Omit<LoggedVerification, 'seq' | 'list'> & {
  /** Null: made in the dashboard. */
  readonly key: { readonly id: string; readonly name: string } | null;
  /** Whose result it is; null: of none, or the list was deleted. */
  readonly list: { readonly id: string; readonly name: string } | null;
};

/** A request in the log that got an error. */
export type LoggedRequest = LoggedRejection & {
  /** Null where it came from the dashboard, or stands for several requests. */
  readonly key: { readonly id: string; readonly name: string } | null;
};

type LogQueryByTime = Omit<VerificationSearch, 'before' | 'status'> & {
  readonly before: LogCursor | null;
  /** `rejected` means rejected requests. */
  readonly status: readonly LogStatus[] | null;
};

interface LogResult {
  readonly entries: readonly LogEntry[];
  readonly rejected: readonly LoggedRequest[];
  readonly next: LogCursor | null;
  readonly searchedTo: number | null;
  readonly retentionDays: number;
}

export type LogExportSearch = Omit<LogQueryByTime, 'before' | 'limit'>;
export type LogExportRow = { readonly entry: LogEntry } | { readonly rejected: LoggedRequest };

function createLogExports(search: (account: AccountId, search: LogQueryByTime) => Promise<LogResult>) {
  return {
    /** All that a search finds, newest first, page by page; a page may be empty. */
    async *export(account: AccountId, asked: LogExportSearch) {
      for (let before: LogQueryByTime['before'] = null; ; ) {
        const from = before;
        const page: LogResult = await andRest(() => search(account, { ...asked, before: from, limit: EXPORT_ROWS }));
        yield byTime(page);
        if (page.next === null) return;
        before = page.next;
      }
    },
  };
}

/** Sorts both kinds newest first; a verification comes before a rejected request of the same millisecond. */
function byTime({ entries, rejected }: LogResult): LogExportRow[] {
  const rows = [
    ...entries.map((entry) => ({ at: entry.createdAt, row: { entry } })),
    ...rejected.map((request) => ({ at: request.at, row: { rejected: request } })),
  ];
  return rows.sort((a, b) => b.at - a.at).map(({ row }) => row);
}

/** A page of the log begins here; null means that it begins with the newest. */
export interface LogCursor {
  /** Counts among verifications. */
  readonly seq: number | null;
  readonly rejected: RejectionPosition | null;
}

/** The end of a kind: nothing is older. */
const SEQ_END = 0;
const REJECTED_END: RejectionPosition = { at: 0, id: 0 };
export const isEnd = ({ seq, rejected }: LogCursor) => ({ seq: seq === SEQ_END, rejected: rejected?.id === 0 });

/** What was found of one kind, newest first; `searchedTo`: nothing newer was left out. */
interface FoundPage<T, P> {
  readonly items: readonly T[];
  readonly next: P | null;
  readonly searchedTo: number | null;
}
type FoundVerifications = FoundPage<LoggedVerification, number>;
type FoundRejections = FoundPage<LoggedRejection, RejectionPosition>;

export const NO_VERIFICATIONS: FoundVerifications = { items: [], next: null, searchedTo: null };
export const NO_REJECTIONS: FoundRejections = { items: [], next: null, searchedTo: null };

interface FoundLog {
  readonly verifications: readonly LoggedVerification[];
  readonly rejections: readonly LoggedRejection[];
  readonly next: LogCursor | null;
  /** The page looked this far back; null means to the end. */
  readonly searchedTo: number | null;
}

/** Where the next page goes on, after the first `used` items. */
function restOf<T, P>(
  { items, next }: FoundPage<T, P>,
  used: number,
  before: P | null,
  end: P,
  at: (item: T) => P,
): P | null {
  const last = items[used - 1];
  if (used === items.length) return next ?? end;
  return last === undefined ? before : at(last);
}

/** The newest of both kinds. A row is left for the next page where the other kind may still have newer ones. */
export function mergedPage(
  found: FoundVerifications,
  rejected: FoundRejections,
  before: LogCursor,
  limit: number,
): FoundLog {
  let [v, r] = [0, 0];
  const timeOf = (at: number | undefined, { next, searchedTo }: FoundPage<unknown, unknown>) =>
    // Once its items are used up, a kind goes on where its search ended.
    at ?? (next === null ? -Infinity : (searchedTo ?? -Infinity));
  while (v + r < limit) {
    const [a, b] = [found.items[v], rejected.items[r]];
    const [aTime, bTime] = [timeOf(a?.createdAt, found), timeOf(b?.at, rejected)];
    if (a !== undefined && aTime >= bTime) v += 1;
    else if (b !== undefined && bTime >= aTime) r += 1;
    else break;
  }
  const seq = restOf(found, v, before.seq, SEQ_END, (item) => item.seq);
  const position = restOf(rejected, r, before.rejected, REJECTED_END, ({ at, id }) => ({ at, id }));
  const next = { seq, rejected: position };
  const { seq: ended, rejected: endedToo } = isEnd(next);
  const isLast = ended && endedToo;
  const times = [timeOf(found.items[v]?.createdAt, found), timeOf(rejected.items[r]?.at, rejected)];
  return {
    verifications: found.items.slice(0, v),
    rejections: rejected.items.slice(0, r),
    next: isLast ? null : next,
    searchedTo: isLast ? null : Math.max(...times),
  };
}

/**
 * The same where rejected requests were found by their ID: there are no others, so that they are on the first page,
 * however old they are. More than fit are merged as usual.
 */
function pageById(found: FoundVerifications, rejected: FoundRejections, before: LogCursor, limit: number): FoundLog {
  const { items, next } = rejected;
  if (next !== null || items.length >= limit) return mergedPage(found, rejected, before, limit);
  return { ...mergedPage(found, NO_REJECTIONS, before, limit - items.length), rejections: items };
}

/** The log: verifications, and requests that were rejected. All methods throw ApiError. */
export function createLogService(
  store: Pick<Store, 'verifications' | 'rejectedRequests' | 'keys' | 'hooks' | 'outcomeSources' | 'accounts' | 'lists'>,
  serverRetentionDays: number,
) {
  /** Finds the names of API keys, hooks and connections with providers, by ID. */
  async function keyNames(account: AccountId, rows: number): Promise<(id: string) => { id: string; name: string }> {
    const callers = [store.keys, store.hooks, store.outcomeSources];
    const named = rows === 0 ? [] : await Promise.all(callers.map((one) => one.list(account)));
    const names = new Map(named.flat().map(({ id, name }) => [id, name]));
    return (id) => ({ id, name: names.get(id) ?? id });
  }

  /** Adds the names of API key and list. */
  async function withNames<T extends Omit<LoggedVerification, 'seq'>>(
    account: AccountId,
    rows: readonly T[],
    keyOf: Awaited<ReturnType<typeof keyNames>>,
  ) {
    const lists = await store.lists.names(account, [...new Set(rows.flatMap(({ list }) => list ?? []))]);
    const listOf = (id: string | null) => {
      const name = id === null ? undefined : lists.get(id);
      return id === null || name === undefined ? null : { id, name };
    };
    return rows.map((row) => ({
      ...row,
      list: listOf(row.list),
      key: row.keyId === DASHBOARD_KEY ? null : keyOf(row.keyId),
    }));
  }
  const withKey = (row: LoggedRejection, keyOf: Awaited<ReturnType<typeof keyNames>>): LoggedRequest => ({
    ...row,
    key: row.keyId === null || row.keyId === DASHBOARD_KEY ? null : keyOf(row.keyId),
  });

  async function search(account: AccountId, search: LogQueryByTime): Promise<LogResult> {
    const { statuses, withRejected } = statusesOf(search);
    const before = search.before ?? { seq: null, rejected: null };
    const wanted = isEnd(before).rejected || !withRejected ? null : rejectionSearch(search);
    const narrowed = statuses.length < STATUSES.length ? statuses : null;
    const not = search.not?.filter((name) => name !== 'status') ?? [];
    const [verifications, rejected, owner] = await Promise.all([
      statuses.length === 0 || isEnd(before).seq || REQUEST_ID.test(search.text?.trim() ?? '')
        ? NO_VERIFICATIONS
        : store.verifications.search(account, { ...search, status: narrowed, not, before: before.seq }),
      wanted === null ? NO_REJECTIONS : store.rejectedRequests.list(account, wanted),
      store.accounts.get(account),
    ]);
    const page = (wanted?.requestId == null ? mergedPage : pageById)(verifications, rejected, before, search.limit);
    const keyOf = await keyNames(account, page.verifications.length + page.rejections.length);
    return {
      entries: await withNames(account, page.verifications, keyOf),
      rejected: page.rejections.map((row) => withKey(row, keyOf)),
      next: page.next,
      searchedTo: page.searchedTo,
      retentionDays: Math.min(owner?.retentionDays ?? serverRetentionDays, serverRetentionDays),
    };
  }

  return {
    /** Newest first; pass `next` as the next `before`. */
    search,
    ...createLogExports(search),
    /** Verifications alone, newest first; pass `next` as the next `before`. */
    async verifications(account: AccountId, wanted: VerificationSearch) {
      const { items, ...found } = await store.verifications.search(account, wanted);
      return { ...found, entries: await withNames(account, items, await keyNames(account, items.length)) };
    },
    async get(account: AccountId, id: string) {
      const row = await store.verifications.get(account, id);
      if (row === null)
        throw new ApiError('not_found', 'There is no such verification; it may have expired or been erased.');
      const [entry] = await withNames(account, [row], await keyNames(account, 1));
      return entry!;
    },
    async getRejected(account: AccountId, id: number) {
      const row = await store.rejectedRequests.get(account, id);
      if (row === null) throw new ApiError('not_found', 'There is no such request; it may have expired.');
      return withKey(row, await keyNames(account, 1));
    },
  };
}

/** We make such IDs; clients may choose others. */
const REQUEST_ID = /^req_\w{22}$/;

/** The statuses that verifications may have, and whether rejected requests can match at all. */
function statusesOf({ status, not = [] }: LogQueryByTime): { statuses: readonly Status[]; withRejected: boolean } {
  const isWanted = (one: LogStatus) => status === null || status.includes(one) !== not.includes('status');
  return { statuses: STATUSES.filter(isWanted), withRejected: isWanted('rejected') };
}

/** What a search of the log asks of rejected requests; null where it is about verifications. */
function rejectionSearch(search: LogQueryByTime): RejectionSearch | null {
  const { email, id, keyId, limit, before, from = null, to = null, not = [] } = search;
  const { reason, level = null, outcome = null, operator = null, egress = null, decision = null } = search;
  const { mail = null, confidence = null, reported = null, list = null } = search;
  if ((email !== null && email !== '') || id !== null) return null;
  // They have none of these, so not the one that is asked for.
  const ofVerifications = [
    ['reason', reason],
    ['level', level],
    ['deliverability', outcome],
    ['operator', operator],
    ['egress', egress],
    ['decision', decision],
    ['mail', mail],
    ['confidence', confidence],
    ['reported', reported],
    ['list', list],
  ] as const;
  if (ofVerifications.some(([name, value]) => value !== null && !not.includes(name))) return null;
  const origin = search.origin?.filter((one) => one !== 'list') ?? null;
  if (origin?.length === 0 && !not.includes('origin')) return null;
  const negated = (['key', 'origin'] as const).filter((name) => not.includes(name));
  const text = search.text?.trim() ?? '';
  const ip = canonicalIp(text);
  const asked =
    text === '' ? {} : ip !== null ? { clientIp: ip } : isErrorCode(text) ? { code: text } : { requestId: text };
  return {
    before: before?.rejected ?? null,
    limit,
    keyId,
    origin: origin?.length === 0 ? null : origin,
    not: negated,
    from,
    to,
    ...asked,
  };
}
