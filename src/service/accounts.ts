import type { AuditSubject } from '../kernel/audit-actions.ts';
import type { Clock } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import { andRest, EXPORT_ROWS } from '../store/batches.ts';
import type {
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
  /** This is the account's own retention, or the server's. */
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

/** An account, for its members. All methods throw ApiError. */
interface AccountService {
  /** The retention may have at most this many days. */
  readonly retentionDaysMax: number;
  get(account: AccountId): Promise<AccountDetail>;
  storage(account: AccountId): Promise<AccountStorage>;
  change(
    account: AccountId,
    change: {
      name?: string | undefined;
      retentionDays?: number | null | undefined;
      trustBouncesDays?: number | null | undefined;
      /** Stays false in a session that began without a second factor. */
      secondFactorRequired?: boolean | undefined;
    },
    by: Actor,
    session: Pick<SignedIn, 'withSecondFactor'>,
  ): Promise<AccountDetail>;
  /** The balance below which owners and admins are notified; null: never. */
  setLowBalance(account: AccountId, credits: number | null, by: Actor): Promise<void>;
  /** Irreversible. `name`: the account's name, typed to confirm; `confirm` throws unless the user is there. */
  remove(account: AccountId, name: string, confirm: () => Promise<void>): Promise<void>;
  ledger(account: AccountId, page: LedgerRange): Promise<LedgerPage>;
  /** Days come back from today. */
  ledgerDays(account: AccountId, days: number): ReturnType<typeof ledgerDaysOf>;
  /** Yields every row in batches, newest first, for an export. */
  allLedgerRows(account: AccountId): AsyncGenerator<LedgerPage['rows']>;
  auditLog(account: AccountId, query: AuditQuery): Promise<KeysetPage<AuditEntry>>;
  /** Entries come in batches. */
  allAuditEntries(account: AccountId, about: AuditSubject | null): AsyncGenerator<readonly AuditEntry[]>;
}

export function createAccountService(parts: {
  store: Pick<Store, 'accounts' | 'auditLog' | 'usage'>;
  clock: Clock;
  retentionDaysMax: number;
}): AccountService {
  const { store, clock, retentionDaysMax } = parts;
  const { accounts } = store;

  const shown = (account: StoredAccount | null): AccountDetail => {
    if (account === null) throw new ApiError('not_found');
    return { ...account, retentionDays: Math.min(account.retentionDays ?? retentionDaysMax, retentionDaysMax) };
  };

  return {
    retentionDaysMax,
    get: async (account) => shown(await accounts.get(account)),
    storage: (account) => store.usage.storage(account),

    async change(account, { name, retentionDays, trustBouncesDays, secondFactorRequired }, by, { withSecondFactor }) {
      if (secondFactorRequired === true && !withSecondFactor)
        throw new ApiError('second_factor_missing', undefined, { field: 'second_factor_required' });
      if (retentionDays !== undefined && retentionDays !== null && retentionDays > retentionDaysMax) {
        const message = `retention_days must be at most ${retentionDaysMax}, the server's limit.`;
        throw new ApiError('retention_too_long', message, { field: 'retention_days' });
      }
      const change = {
        ...(name === undefined ? {} : { name: parseAccountName(name) }),
        ...(retentionDays === undefined ? {} : { retentionDays }),
        ...(trustBouncesDays === undefined ? {} : { trustBouncesDays }),
        ...(secondFactorRequired === undefined ? {} : { secondFactorRequired }),
      };
      return shown(await accounts.set(account, change, by));
    },

    async setLowBalance(account, credits, by) {
      shown(await accounts.set(account, { lowBalance: credits }, by));
    },

    async remove(account, name, confirm) {
      if (name !== shown(await accounts.get(account)).name)
        throw new ApiError('confirmation_mismatch', 'The name does not match the account. Nothing was deleted.', {
          field: 'name',
        });
      await confirm();
      if (!(await accounts.remove(account))) throw new ApiError('not_found');
    },

    ledger: (account, { before, limit }) => accounts.ledger(account, limit, before),
    ledgerDays: (account, days) => ledgerDaysOf(store, clock, account, days),
    async *allLedgerRows(account) {
      for (let before: string | null = null, ended = false; !ended; ) {
        const from = before;
        const page: LedgerPage = await andRest(() => accounts.ledger(account, EXPORT_ROWS, from));
        if (page.rows.length > 0) yield page.rows;
        before = page.next;
        ended = before === null;
      }
    },
    auditLog: (account, query) => auditLogOf(store, account, query),
    allAuditEntries: (account, about) => auditEntries(store.auditLog, account, about),
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
