import { Refusal } from '../kernel/errors.ts';
import type { AccountId, Actor, LedgerRow, Store, Account as StoredAccount, TrailEntry } from '../store/store.ts';
import type { Acting } from './members.ts';
import { usableName } from './names.ts';

export type { LedgerRow, TrailEntry };

export type Account = Omit<StoredAccount, 'retentionDays'> & {
  /** In force: the account's own, or the server's. */
  readonly retentionDays: number;
};

/** Pages go by id: `before` is the last id of the page before; `next` is null at the end. */
export interface PageAsk {
  readonly before: number | null;
  readonly limit: number;
}
export interface KeysetPage<T> {
  readonly rows: readonly T[];
  readonly next: number | null;
}

/** An account as its own people see and change it. Everything that is refused throws Refusal. */
export interface AccountService {
  /** The longest that verifications can be kept, days. */
  readonly retentionDaysMax: number;
  get(account: AccountId): Promise<Account>;
  change(
    account: AccountId,
    change: { name?: string | undefined; retentionDays?: number | null | undefined },
    by: Actor,
  ): Promise<Account>;
  /** The balance under which its people are told; null: never. */
  setLowBalance(account: AccountId, credits: number | null, by: Actor): Promise<void>;
  /** For good. `name`: the account's own, typed; `password`: of the person who asks. */
  remove(by: Acting, confirmation: { name: string; password: string }, ip: string): Promise<void>;
  ledger(account: AccountId, page: PageAsk): Promise<KeysetPage<LedgerRow>>;
  trail(account: AccountId, page: PageAsk): Promise<KeysetPage<TrailEntry>>;
}

/** Throws Refusal where the password is not the user's, or was tried too often. */
export type ConfirmPassword = (user: string, password: string, ip: string) => Promise<void>;

export function createAccountService(parts: {
  store: Pick<Store, 'accounts' | 'trail'>;
  retentionDaysMax: number;
  confirmPassword: ConfirmPassword;
}): AccountService {
  const { store, retentionDaysMax, confirmPassword } = parts;
  const { accounts } = store;

  const shown = (account: StoredAccount | null): Account => {
    if (account === null) throw new Refusal('not_found');
    return { ...account, retentionDays: Math.min(account.retentionDays ?? retentionDaysMax, retentionDaysMax) };
  };

  return {
    retentionDaysMax,
    get: async (account) => shown(await accounts.get(account)),

    async change(account, { name, retentionDays }, by) {
      if (retentionDays !== undefined && retentionDays !== null && retentionDays > retentionDaysMax) {
        const sentence = `retention_days must be at most ${retentionDaysMax}: the server keeps verifications no longer.`;
        throw new Refusal('retention_too_long', sentence, { field: 'retention_days' });
      }
      const change = {
        ...(name === undefined ? {} : { name: usableName(name) }),
        ...(retentionDays === undefined ? {} : { retentionDays }),
      };
      return shown(await accounts.set(account, change, by));
    },

    async setLowBalance(account, credits, by) {
      shown(await accounts.set(account, { lowBalance: credits }, by));
    },

    async remove(by, { name, password }, ip) {
      const account = shown(await accounts.get(by.account));
      if (name !== account.name)
        throw new Refusal('confirmation_mismatch', 'That is not the name of the account. Nothing was deleted.', {
          field: 'name',
        });
      await confirmPassword(by.user, password, ip);
      if (!(await accounts.remove(by.account))) throw new Refusal('not_found');
    },

    ledger: (account, page) => ledgerOf(store, account, page),
    async trail(account, { before, limit }) {
      return pageOf(await store.trail.list(account, { before, limit: limit + 1 }), limit);
    },
  };
}

/** Newest first. */
export async function ledgerOf(
  store: Pick<Store, 'accounts'>,
  account: AccountId,
  { before, limit }: PageAsk,
): Promise<KeysetPage<LedgerRow>> {
  return pageOf(await store.accounts.ledger(account, limit + 1, before), limit);
}

/** One row more than asked for tells that there is a next page. */
function pageOf<T extends { readonly id: number }>(found: readonly T[], limit: number): KeysetPage<T> {
  const rows = found.slice(0, limit);
  return { rows, next: found.length > limit ? rows.at(-1)!.id : null };
}
