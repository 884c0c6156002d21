import type { AuditSubject } from '../kernel/audit-actions.ts';
import type { Clock } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import { given } from '../kernel/facts/given.ts';
import { andRest, EXPORT_ROWS } from '../store/batches.ts';
import type {
  AccountChange,
  AccountId,
  AccountStorage,
  Actor,
  AuditEntry,
  AuditQuery,
  LedgerPage,
  Store,
  Account as StoredAccount,
} from '../store/store.ts';
import { auditEntries } from './audit-log.ts';
import { ledgerDaysOf } from './balance.ts';
import { parseAccountName } from './names.ts';
import type { SignedIn } from './sign-in/session.ts';

export type { AccountStorage, AuditEntry, LedgerPage };

export type AccountDetail = Omit<StoredAccount, 'retentionDays'> & {
  /** The account's own retention applies, or else the server's. */
  readonly retentionDays: number;
};

/** Keyset pagination, newest first: `before` is the last ID of the previous page, `next` is null on the last page. */
export interface KeysetQuery {
  readonly before: number | null;
  readonly limit: number;
}
export interface LedgerRange {
  readonly before: string | null;
  readonly limit: number;
}
export interface KeysetPage<T> {
  readonly rows: readonly T[];
  readonly next: number | null;
}

type ChangedSettings = 'name' | 'retentionDays' | 'trustBouncesDays' | 'secondFactorRequired';
type Settings = { readonly [S in ChangedSettings]?: AccountChange[S] | undefined };

/** An account, for its members. All methods throw ApiError. */
export function createAccountService(parts: {
  store: Pick<Store, 'accounts' | 'auditLog' | 'usage'>;
  clock: Clock;
  retentionDaysMax: number;
}) {
  const { store, clock, retentionDaysMax } = parts;
  const { accounts } = store;

  const shown = (account: StoredAccount | null): AccountDetail => {
    if (account === null) throw new ApiError('not_found');
    return { ...account, retentionDays: Math.min(account.retentionDays ?? retentionDaysMax, retentionDaysMax) };
  };

  return {
    /** The retention may have at most this many days. */
    retentionDaysMax,
    get: async (account: AccountId) => shown(await accounts.get(account)),
    storage: (account: AccountId) => store.usage.storage(account),

    /** The second factor is not required from within a session that began without one. */
    async change(
      account: AccountId,
      { name, retentionDays, trustBouncesDays, secondFactorRequired }: Settings,
      by: Actor,
      { withSecondFactor }: Pick<SignedIn, 'withSecondFactor'>,
    ) {
      if (secondFactorRequired === true && !withSecondFactor)
        throw new ApiError('second_factor_missing', undefined, { field: 'second_factor_required' });
      if (retentionDays !== undefined && retentionDays !== null && retentionDays > retentionDaysMax) {
        const message = `retention_days must be at most ${retentionDaysMax}, the server's limit.`;
        throw new ApiError('retention_too_long', message, { field: 'retention_days' });
      }
      const parsed = name === undefined ? undefined : parseAccountName(name);
      const change = given({ name: parsed, retentionDays, trustBouncesDays, secondFactorRequired });
      return shown(await accounts.set(account, change, by));
    },

    /** The balance below which owners and admins are notified; null: never. */
    async setLowBalance(account: AccountId, credits: number | null, by: Actor) {
      shown(await accounts.set(account, { lowBalance: credits }, by));
    },

    /** Irreversible. `name`: the account's name, typed to confirm; `confirm` throws unless the user is there. */
    async remove(account: AccountId, name: string, confirm: () => Promise<void>) {
      if (name !== shown(await accounts.get(account)).name)
        throw new ApiError('confirmation_mismatch', 'The name does not match the account. Nothing was deleted.', {
          field: 'name',
        });
      await confirm();
      if (!(await accounts.remove(account))) throw new ApiError('not_found');
    },

    ledger: (account: AccountId, { before, limit }: LedgerRange) => accounts.ledger(account, limit, before),
    /** Days come back from today. */
    ledgerDays: (account: AccountId, days: number) => ledgerDaysOf(store, clock, account, days),
    /** Yields every row in batches, newest first, for an export. */
    async *allLedgerRows(account: AccountId) {
      for (let before: string | null = null, ended = false; !ended; ) {
        const from = before;
        const page: LedgerPage = await andRest(() => accounts.ledger(account, EXPORT_ROWS, from));
        if (page.rows.length > 0) yield page.rows;
        before = page.next;
        ended = before === null;
      }
    },
    auditLog: (account: AccountId, query: AuditQuery) => auditLogOf(store, account, query),
    /** Entries come in batches. */
    allAuditEntries: (account: AccountId, about: AuditSubject | null) => auditEntries(store.auditLog, account, about),
  };
}

/** Entries come newest first. */
export async function auditLogOf(
  store: Pick<Store, 'auditLog'>,
  of: AccountId | 'all',
  query: AuditQuery,
): Promise<KeysetPage<AuditEntry>> {
  return keysetPage(await store.auditLog.list(of, { ...query, limit: query.limit + 1 }), query.limit);
}

/** The extra row shows that there is a next page. */
function keysetPage<T extends { readonly id: number }>(found: readonly T[], limit: number): KeysetPage<T> {
  const rows = found.slice(0, limit);
  return { rows, next: found.length > limit ? rows.at(-1)!.id : null };
}
