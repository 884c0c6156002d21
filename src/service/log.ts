import { ApiError } from '../kernel/errors.ts';
import { DASHBOARD_KEY } from '../kernel/log-origins.ts';
import type { AccountId, Actor, LoggedVerification, LogSearch, Store } from '../store/store.ts';

/** A verification in the log. */
export type LogEntry = Omit<LoggedVerification, 'seq' | 'list'> & {
  /** Null: made in the dashboard. */
  readonly key: { readonly id: string; readonly name: string } | null;
  /** Whose result it is; null: of none, or the list was deleted. */
  readonly list: { readonly id: string; readonly name: string } | null;
};

/** The verification log. All methods throw ApiError. */
export interface LogService {
  /** Newest first; pass `next` as the next `before`. */
  search(
    account: AccountId,
    search: LogSearch,
  ): Promise<{ entries: LogEntry[]; next: number | null; searchedTo: number | null; retentionDays: number }>;
  get(account: AccountId, id: string): Promise<LogEntry>;
  /** Returns how many records of the address were deleted. Counters and charges are kept. */
  erase(account: AccountId, email: string, by: Actor): Promise<number>;
}

export function createLogService(
  store: Pick<Store, 'verifications' | 'keys' | 'accounts' | 'lists'>,
  serverRetentionDays: number,
): LogService {
  /** Adds the names of API key and list. */
  async function withNames<T extends Omit<LoggedVerification, 'seq'>>(account: AccountId, rows: readonly T[]) {
    const keys = rows.length === 0 ? [] : await store.keys.list(account);
    const names = new Map(keys.map(({ id, name }) => [id, name]));
    const lists = await store.lists.names(account, [...new Set(rows.flatMap(({ list }) => list ?? []))]);
    const listOf = (id: string | null) => {
      const name = id === null ? undefined : lists.get(id);
      return id === null || name === undefined ? null : { id, name };
    };
    return rows.map((row) => ({
      ...row,
      list: listOf(row.list),
      key: row.keyId === DASHBOARD_KEY ? null : { id: row.keyId, name: names.get(row.keyId) ?? row.keyId },
    }));
  }

  return {
    async search(account, search) {
      const [{ items, next, searchedTo }, found] = await Promise.all([
        store.verifications.search(account, search),
        store.accounts.get(account),
      ]);
      const retentionDays = Math.min(found?.retentionDays ?? serverRetentionDays, serverRetentionDays);
      return { entries: await withNames(account, items), next, searchedTo, retentionDays };
    },
    async get(account, id) {
      const row = await store.verifications.get(account, id);
      if (row === null)
        throw new ApiError('not_found', 'There is no such verification; it may have expired or been erased.');
      const [entry] = await withNames(account, [row]);
      return entry!;
    },
    erase: (account, email, by) => store.verifications.erase(account, email, by),
  };
}
