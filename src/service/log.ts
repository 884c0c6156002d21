import { ApiError } from '../kernel/errors.ts';
import { DASHBOARD_KEY } from '../kernel/log-origins.ts';
import type { AccountId, Actor, LoggedVerification, LogSearch, Store } from '../store/store.ts';

/** A verification in the log. */
export type LogEntry = Omit<LoggedVerification, 'seq'> & {
  /** Null: made in the dashboard. */
  readonly key: { readonly id: string; readonly name: string } | null;
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
  store: Pick<Store, 'verifications' | 'keys' | 'accounts'>,
  serverRetentionDays: number,
): LogService {
  /** Adds the API key's name. */
  async function withKeys<T extends Omit<LoggedVerification, 'seq'>>(account: AccountId, rows: readonly T[]) {
    const keys = rows.length === 0 ? [] : await store.keys.list(account);
    const names = new Map(keys.map(({ id, name }) => [id, name]));
    return rows.map((row) => ({
      ...row,
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
      return { entries: await withKeys(account, items), next, searchedTo, retentionDays };
    },
    async get(account, id) {
      const row = await store.verifications.get(account, id);
      if (row === null)
        throw new ApiError('not_found', 'There is no such verification; it may have expired or been erased.');
      const [entry] = await withKeys(account, [row]);
      return entry!;
    },
    erase: (account, email, by) => store.verifications.erase(account, email, by),
  };
}
