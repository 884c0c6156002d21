import { ApiError, isErrorCode } from '../kernel/errors.ts';
import type { Status } from '../kernel/facts/reasons.ts';
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
    const { status, alone } = statusOf(search);
    const before = search.before ?? { seq: null, rejected: null };
    const wanted = isEnd(before).rejected ? null : rejectionSearch(search);
    const [verifications, rejected, owner] = await Promise.all([
      alone === 'rejected' || isEnd(before).seq || REQUEST_ID.test(search.text?.trim() ?? '')
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

/** The status that verifications are searched for, and the kind of rows that can match at all, if only one can. */
function statusOf({ status, not = [] }: LogSearch): {
  status: Status | null;
  alone: 'verifications' | 'rejected' | null;
} {
  const isNot = not.includes('status');
  if (status === null) return { status, alone: null };
  if (status === 'rejected') return { status: null, alone: isNot ? 'verifications' : 'rejected' };
  return { status, alone: isNot ? null : 'verifications' };
}

/** What a search of the log asks of rejected requests; null where it is about verifications. */
function rejectionSearch(search: LogSearch): RejectionSearch | null {
  const { email, id, keyId, limit, before, from = null, to = null, not = [] } = search;
  const { reason, level = null, outcome = null, operator = null } = search;
  if ((email !== null && email !== '') || id !== null) return null;
  // They have none of these, so not the one that is asked for.
  const ofVerifications = [
    ['reason', reason],
    ['level', level],
    ['deliverability', outcome],
    ['operator', operator],
  ] as const;
  if (ofVerifications.some(([name, value]) => value !== null && !not.includes(name))) return null;
  if (search.origin === 'list' && !not.includes('origin')) return null;
  if (statusOf(search).alone === 'verifications') return null;
  const origin = search.origin === 'list' ? null : search.origin;
  const negated = (['key', 'origin'] as const).filter((name) => not.includes(name));
  const text = search.text?.trim() ?? '';
  const ip = canonicalIp(text);
  const asked =
    text === '' ? {} : ip !== null ? { clientIp: ip } : isErrorCode(text) ? { code: text } : { requestId: text };
  return { before: before?.rejected ?? null, limit, keyId, origin: origin ?? null, not: negated, from, to, ...asked };
}
