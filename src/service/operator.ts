import { sourceSizes } from '../engine/data/disposable-file.ts';
import type { WatchedDomainData } from '../engine/data/domain-data.ts';
import { UPDATE_SOURCE_ROWS, UPDATE_SOURCES, type UpdateSource } from '../engine/data/update.ts';
import { ageInDays } from '../engine/doctor/diagnose.ts';
import type { Clock } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import type { Plan } from '../kernel/facts/plans.ts';
import type { AccountChange, AccountId, AccountSummary, Actor, LedgerPage, Page, Store } from '../store/store.ts';
import { type AuditEntry, auditLogOf, type KeysetPage, type KeysetQuery, type LedgerQuery } from './accounts.ts';
import { auditEntries } from './audit-log.ts';
import type { Examination } from './doctor.ts';
import type { MemberService } from './members.ts';
import { parseAccountName, parseNote } from './names.ts';
import type { UpdateAttempt } from './shared-lists.ts';

export type { AccountSummary };

export interface ListsState {
  readonly version: string;
  readonly ageDays: number;
  readonly size: number;
  readonly problem: string | null;
  /** When the lists were last looked for, ms; null: never. */
  readonly attemptedAt: number | null;
  /** Why that failed for all of them. */
  readonly failed: string | null;
  readonly sources: readonly ListSource[];
}

/** A list that is part of the disposable list. */
interface ListSource {
  readonly name: UpdateSource;
  readonly weight: string;
  readonly license: string;
  /** Null: it is not downloaded. */
  readonly url: string | null;
  readonly domains: number;
  /** ISO; null: its copy came with the package. */
  readonly downloadedAt: string | null;
  /** Why its last good copy stays in use. */
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
  /** Invites the owner of an account without members. */
  inviteOwner(id: string, email: string, by: Actor): ReturnType<MemberService['invite']>;
  /** Negative credits are deducted. */
  grant(id: string, credits: number, note: string, by: Actor): Promise<AccountSummary>;
  ledger(id: string, page: LedgerQuery): Promise<LedgerPage>;
  /** Sign-ins and security of all users; nothing that happens in an account. */
  userEvents(page: KeysetQuery): Promise<KeysetPage<AuditEntry>>;
  /** In batches. */
  allUserEvents(): AsyncGenerator<readonly AuditEntry[]>;
  /** The findings of `mailvet doctor`; concurrent calls share one run. */
  doctor(): Promise<Examination & { tookMs: number }>;
  lists(): Promise<ListsState>;
  /** Fetches the newest list; concurrent calls share one update. `message`: its outcome. */
  updateLists(): Promise<{ lists: ListsState; message: string }>;
}

export function createOperatorService(parts: {
  store: Pick<Store, 'accounts' | 'auditLog'>;
  clock: Clock;
  lists: WatchedDomainData;
  invite: MemberService['invite'];
  doctor: () => Promise<Examination>;
  /** Throws an Error with a message for users. */
  requestListsUpdate: () => Promise<string>;
  lastAttempt: () => Promise<UpdateAttempt | null>;
  sourceUrls: Readonly<Record<UpdateSource, string | null>>;
}): OperatorService {
  const { store, clock, lists, invite, doctor, requestListsUpdate, lastAttempt, sourceUrls } = parts;
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
  const state = async (): Promise<ListsState> => {
    const attempt = await lastAttempt();
    const { version, size } = lists.current;
    const { file } = lists;
    const sizes = sourceSizes(file);
    const sources = UPDATE_SOURCES.map((name): ListSource => {
      const { letter, weight, license } = UPDATE_SOURCE_ROWS[name];
      const downloadedAt = file.fetched.get(letter) ?? null;
      const problem = attempt?.problems[name] ?? null;
      return { name, weight, license, url: sourceUrls[name], domains: sizes.get(letter) ?? 0, downloadedAt, problem };
    });
    const { at: attemptedAt = null, failed = null } = attempt ?? {};
    const age = ageInDays(version, clock.now());
    return { version, ageDays: age, size, problem: lists.problem, attemptedAt, failed, sources };
  };
  const runDoctor = singleFlight(async () => {
    const began = clock.elapsed();
    const examined = await doctor();
    return { ...examined, tookMs: Math.round(clock.elapsed() - began) };
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

    async inviteOwner(id, email, actor) {
      const { id: account, members } = await summaryOf(id);
      if (members > 0) throw new ApiError('account_has_members');
      return invite({ account, user: actor.id ?? '', role: 'owner', actor }, { email, role: 'owner' });
    },

    async grant(id, credits, note, by) {
      const account = await idOf(id);
      if (credits === 0)
        throw new ApiError('invalid_parameter', 'credits must be a whole number, and not 0.', { field: 'credits' });
      if ((await accounts.grant(account, credits, parseNote(note), by)) === null)
        throw new ApiError('balance_too_small', undefined, { field: 'credits' });
      return summaryOf(id);
    },

    ledger: async (id, { before, limit }) => accounts.ledger(await idOf(id), limit, before),
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
      return { lists: await state(), message };
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
