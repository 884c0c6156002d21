import { Refusal } from '../kernel/errors.ts';
import type { AccountId, Actor, LoggedVerification, LogSearch, Store } from '../store/store.ts';

/** The key id under which verifications of signed-in people are charged. */
export const DASHBOARD_KEY = 'dashboard';

/** A verification as the log shows it. */
export type Logged = Omit<LoggedVerification, 'seq'> & {
  /** Null: verified in the dashboard. */
  readonly key: { readonly id: string; readonly name: string } | null;
};

/** What was verified. Everything that is refused throws Refusal. */
export interface LogService {
  /** Newest first; `next` goes into the next `before`. */
  search(
    account: AccountId,
    search: LogSearch,
  ): Promise<{ entries: Logged[]; next: number | null; searchedTo: number | null; retentionDays: number }>;
  get(account: AccountId, id: string): Promise<Logged>;
  /** How many records of an address were deleted; counters and charges stay. */
  erase(account: AccountId, email: string, by: Actor): Promise<number>;
}

export function createLogService(
  store: Pick<Store, 'verifications' | 'keys' | 'accounts'>,
  serverRetentionDays: number,
): LogService {
  /** Adds the key by its name. */
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
        throw new Refusal('not_found', 'There is no such verification here; it may be past its time or erased.');
      const [entry] = await withKeys(account, [row]);
      return entry!;
    },
    erase: (account, email, by) => store.verifications.erase(account, email, by),
  };
}
