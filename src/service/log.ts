import { ApiError, isErrorCode } from '../kernel/errors.ts';
import { canonicalIp } from '../kernel/ip.ts';
import { DASHBOARD_KEY } from '../kernel/log-origins.ts';
import type { AccountId, Actor, LoggedRejection, LoggedVerification, RejectionSearch, Store } from '../store/store.ts';
import { createLogExports, type LogExports } from './log-export.ts';
import { isEnd, mergedPage, NO_REJECTIONS, NO_VERIFICATIONS, pageById } from './log-page.ts';
import type { LogEntry, LoggedRequest, LogResult, LogSearch } from './log-rows.ts';

export type { LogCursor } from './log-page.ts';
export type { LogEntry, LoggedRequest };

/** The log: verifications, and requests that were rejected. All methods throw ApiError. */
export interface LogService extends LogExports {
  /** Newest first; pass `next` as the next `before`. */
  search(account: AccountId, search: LogSearch): Promise<LogResult>;
  get(account: AccountId, id: string): Promise<LogEntry>;
  getRejected(account: AccountId, id: number): Promise<LoggedRequest>;
  /** Returns how many records of the address were deleted. Counters and charges are kept. */
  erase(account: AccountId, email: string, by: Actor): Promise<number>;
}

export function createLogService(
  store: Pick<Store, 'verifications' | 'rejectedRequests' | 'keys' | 'accounts' | 'lists'>,
  serverRetentionDays: number,
): LogService {
  /** Of API keys, by ID. */
  async function keyNames(account: AccountId, rows: number): Promise<(id: string) => { id: string; name: string }> {
    const keys = rows === 0 ? [] : await store.keys.list(account);
    const names = new Map(keys.map(({ id, name }) => [id, name]));
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

  async function search(account: AccountId, search: LogSearch): Promise<LogResult> {
    const { status } = search;
    const before = search.before ?? { seq: null, rejected: null };
    const wanted = isEnd(before).rejected ? null : rejectionSearch(search);
    const [verifications, rejected, owner] = await Promise.all([
      status === 'rejected' || isEnd(before).seq || REQUEST_ID.test(search.text?.trim() ?? '')
        ? NO_VERIFICATIONS
        : store.verifications.search(account, { ...search, status, before: before.seq }),
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
    search,
    ...createLogExports(search),
    async get(account, id) {
      const row = await store.verifications.get(account, id);
      if (row === null)
        throw new ApiError('not_found', 'There is no such verification; it may have expired or been erased.');
      const [entry] = await withNames(account, [row], await keyNames(account, 1));
      return entry!;
    },
    async getRejected(account, id) {
      const row = await store.rejectedRequests.get(account, id);
      if (row === null) throw new ApiError('not_found', 'There is no such request; it may have expired.');
      return withKey(row, await keyNames(account, 1));
    },
    erase: (account, email, by) => store.verifications.erase(account, email, by),
  };
}

/** Of our own making; clients may choose others. */
const REQUEST_ID = /^req_\w{22}$/;

/** What a search of the log asks of rejected requests; null where it is about verifications. */
function rejectionSearch(search: LogSearch): RejectionSearch | null {
  const { email, id, reason, keyId, status, limit, before, from = null, to = null } = search;
  const { level = null, outcome = null, operator = null, origin = null } = search;
  const ofVerifications = [email === '' ? null : email, id, reason, level, outcome, operator];
  if (ofVerifications.some((value) => value !== null) || origin === 'list') return null;
  if (status !== null && status !== 'rejected') return null;
  const text = search.text?.trim() ?? '';
  const ip = canonicalIp(text);
  const asked =
    text === '' ? {} : ip !== null ? { clientIp: ip } : isErrorCode(text) ? { code: text } : { requestId: text };
  return { before: before?.rejected ?? null, limit, keyId, origin, from, to, ...asked };
}
