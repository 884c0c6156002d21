import { ageInDays } from '../engine/doctor/service.ts';
import type { WatchedLists } from '../engine/lists/watch.ts';
import type { Clock } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import type { Plan } from '../kernel/plans.ts';
import type { AccountChange, AccountId, AccountSummary, Actor, LedgerPage, Page, Store } from '../store/store.ts';
import {
  type AuditEntry,
  auditLogOf,
  type KeysetPage,
  type KeysetQuery,
  type LedgerQuery,
  ledgerOf,
} from './accounts.ts';
import { auditEntries } from './audit-log.ts';
import type { Finding } from './doctor.ts';
import { parseAccountName, parseNote } from './names.ts';

export type { AccountSummary };

export interface ListsState {
  readonly version: string;
  readonly ageDays: number;
  readonly size: number;
  readonly problem: string | null;
}

/** Accounts, doctor and lists, for operators. All methods throw ApiError. */
export interface OperatorService {
  search(input: { query: string | null; page: number; perPage: number }): Promise<Page<AccountSummary>>;
  create(
    input: { name: string; plan: Plan; credits: number; rateLimit: number | null },
    by: Actor,
  ): Promise<AccountSummary>;
  get(id: string): Promise<AccountSummary>;
  change(id: string, change: AccountChange, by: Actor): Promise<AccountSummary>;
  /** Negative credits are deducted. */
  grant(id: string, credits: number, note: string, by: Actor): Promise<AccountSummary>;
  ledger(id: string, page: LedgerQuery): Promise<LedgerPage>;
  /** Sign-ins and security of all users; nothing that happens in an account. */
  userEvents(page: KeysetQuery): Promise<KeysetPage<AuditEntry>>;
  /** In batches. */
  allUserEvents(): AsyncGenerator<readonly AuditEntry[]>;
  /** The findings of `mailvet doctor`; concurrent calls share one run. */
  doctor(): Promise<{ findings: readonly Finding[]; tookMs: number }>;
  lists(): ListsState;
  /** Fetches the newest list; concurrent calls share one update. `message`: its outcome. */
  updateLists(): Promise<{ lists: ListsState; message: string }>;
}

export function createOperatorService(parts: {
  store: Pick<Store, 'accounts' | 'auditLog'>;
  clock: Clock;
  lists: WatchedLists;
  doctor: () => Promise<readonly Finding[]>;
  /** Throws an Error with a message for users. */
  requestListsUpdate: () => Promise<string>;
}): OperatorService {
  const { store, clock, lists, doctor, requestListsUpdate } = parts;
  const { accounts } = store;

  async function summaryOf(id: string): Promise<AccountSummary> {
    const account = await accounts.summary(id);
    if (account === null) throw noAccount();
    return account;
  }
  async function idOf(id: string): Promise<AccountId> {
    const account = await accounts.get(id);
    if (account === null || account.testOf !== null) throw noAccount();
    return account.id;
  }
  const state = (): ListsState => {
    const { version, size } = lists.current;
    return { version, ageDays: ageInDays(version, clock.now()), size, problem: lists.problem };
  };
  const runDoctor = singleFlight(async () => {
    const began = clock.elapsed();
    const findings = await doctor();
    return { findings, tookMs: Math.round(clock.elapsed() - began) };
  });
  const update = singleFlight(requestListsUpdate);

  return {
    search: ({ query, page, perPage }) => accounts.search({ query, offset: (page - 1) * perPage, limit: perPage }),

    async create({ name, plan, credits, rateLimit }, by) {
      const input = { name: parseAccountName(name), plan, credits, rateLimit, note: 'Opening balance' };
      return summaryOf((await accounts.create(input, by)).id);
    },

    get: summaryOf,

    async change(id, { name, ...change }, by) {
      const account = await idOf(id);
      const valid = { ...change, ...(name === undefined ? {} : { name: parseAccountName(name) }) };
      if ((await accounts.set(account, valid, by)) === null) throw noAccount();
      return summaryOf(id);
    },

    async grant(id, credits, note, by) {
      const account = await idOf(id);
      if (credits === 0)
        throw new ApiError('invalid_parameter', 'credits must be a whole number, and not 0.', { field: 'credits' });
      if ((await accounts.grant(account, credits, parseNote(note), by)) === null)
        throw new ApiError('balance_too_small', undefined, { field: 'credits' });
      return summaryOf(id);
    },

    ledger: async (id, page) => ledgerOf(store, await idOf(id), page),
    userEvents: (page) => auditLogOf(store, 'all', { ...page, about: 'user' }),
    allUserEvents: () => auditEntries(store.auditLog, 'all', 'user'),
    doctor: runDoctor,
    lists: state,
    async updateLists() {
      const message = await update().catch((error: unknown) => {
        const why = error instanceof Error ? error.message : String(error);
        const message = `The lists were not updated: ${why.replace(/\.$/, '')}.`;
        throw new ApiError('lists_not_updated', message, {}, error);
      });
      return { lists: state(), message };
    },
  };
}

const noAccount = () => new ApiError('not_found', 'There is no such account.');

/** Concurrent calls share one run. */
function singleFlight<T>(run: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | null = null;
  return () => {
    current ??= run().finally(() => {
      current = null;
    });
    return current;
  };
}
