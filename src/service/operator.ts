import { sourceSizes } from '../engine/data/disposable-file.ts';
import type { WatchedDomainData } from '../engine/data/domain-data.ts';
import { UPDATE_SOURCE_ROWS, UPDATE_SOURCES, type UpdateSource } from '../engine/data/update.ts';
import { ageInDays } from '../engine/doctor/diagnose.ts';
import type { Clock } from '../kernel/clock.ts';
import { ApiError, messageOf } from '../kernel/errors.ts';
import { choice } from '../kernel/format.ts';
import { onceAtATime } from '../kernel/once-at-a-time.ts';
import { noAccount } from '../store/filters.ts';
import type {
  Account,
  AccountChange,
  AccountId,
  AccountInput,
  AccountSummary,
  Actor,
  ByPage,
  ExternalGrant,
  GrantOutcome,
  Key,
  OwnedReply,
  Store,
} from '../store/store.ts';
import { auditLogOf, type KeysetQuery, type LedgerRange } from './accounts.ts';
import { auditEntries } from './audit-log.ts';
import type { Examination } from './doctor.ts';
import { keepExamination, lastExamination } from './kept-examination.ts';
import { createKey, type NewKey } from './keys.ts';
import type { MemberService, NewInvitation } from './members.ts';
import { parseAccountName, parseNote } from './names.ts';
import type { UpdateAttempt } from './shared-lists.ts';
import { type UsageWanted, usageOf } from './usage.ts';

export type { AccountSummary, GrantOutcome };

/** An account that a program has created. */
export interface NewAccount {
  readonly account: AccountSummary;
  /** The owner's invitation was sent so; null means that nobody was invited. */
  readonly linkSent: NewInvitation['linkSent'] | null;
}

export interface ListsState {
  readonly version: string;
  readonly ageDays: number;
  readonly size: number;
  readonly problem: string | null;
  /** When the lists were last looked for, ms; null: never. */
  readonly attemptedAt: number | null;
  /** Says why that failed for all of them. */
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
  /** The time is in ISO 8601; null means that the copy came with the package. */
  readonly downloadedAt: string | null;
  /** Why its last good copy stays in use. */
  readonly problem: string | null;
}

/** Accounts, doctor and lists, for operators. All methods throw ApiError. */
export function createOperatorService(parts: {
  store: Pick<Store, 'accounts' | 'auditLog' | 'keys' | 'usage' | 'plans' | 'sharedFiles'>;
  clock: Clock;
  lists: WatchedDomainData;
  members: Pick<MemberService, 'invite' | 'ownerOfNew'>;
  doctor: () => Promise<Examination>;
  /** Throws an Error with a message for users. */
  requestListsUpdate: () => Promise<string>;
  lastAttempt: () => Promise<UpdateAttempt | null>;
  sourceUrls: Readonly<Record<UpdateSource, string | null>>;
}) {
  const { store, clock, lists, members, doctor, requestListsUpdate, lastAttempt, sourceUrls } = parts;
  const { accounts, plans } = store;

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
  function refuseUnknownPlan(plan: string): void {
    if (plans.has(plan)) return;
    throw new ApiError('invalid_parameter', `plan must be ${choice([...plans.keys()])}.`, { field: 'plan' });
  }
  const runDoctor = onceAtATime(async () => {
    const began = clock.elapsed();
    const found = await doctor();
    const examined = { ...found, tookMs: Math.round(clock.elapsed() - began), at: clock.now() };
    await keepExamination(store, examined);
    return examined;
  });
  const update = onceAtATime(requestListsUpdate);

  return {
    search: ({ page, perPage, ...search }: ByPage<Parameters<typeof accounts.search>[0]>) =>
      accounts.search({ ...search, offset: (page - 1) * perPage, limit: perPage }),

    async create({ name, ...terms }: Pick<AccountInput, 'name' | 'plan' | 'credits' | 'rateLimit'>, by: Actor) {
      refuseUnknownPlan(terms.plan);
      const input = { ...terms, name: parseAccountName(name), note: 'Opening balance' };
      return summaryOf((await accounts.create(input, by)).id);
    },

    get: summaryOf,
    plans: [...plans.values()],

    async change(id: string, { name, ...change }: AccountChange, by: Actor) {
      const account = await idOf(id);
      if (change.plan !== undefined) refuseUnknownPlan(change.plan);
      const valid = { ...change, ...(name === undefined ? {} : { name: parseAccountName(name) }) };
      if ((await accounts.set(account, valid, by)) === null) throw noAccount();
      return summaryOf(id);
    },

    /** Invites the owner of an account without members. */
    async inviteOwner(id: string, email: string, actor: Actor) {
      const { id: account, members: present } = await summaryOf(id);
      if (present > 0) throw new ApiError('account_has_members');
      return members.invite({ account, user: actor.id ?? '', role: 'owner', actor }, { email, role: 'owner' });
    },

    /** Negative credits are deducted. */
    async grant(id: string, credits: number, note: string, by: Actor) {
      const account = await idOf(id);
      refuseNone(credits);
      if ((await accounts.grant(account, credits, parseNote(note), by)) === null)
        throw new ApiError('balance_too_small', undefined, { field: 'credits' });
      return summaryOf(id);
    },

    /** For a program: with the owner's invitation, and the reply, in one transaction. Throws `external_id_taken`. */
    async createManaged(
      { owner, ...input }: AccountInput & { readonly owner: string | null },
      by: Actor,
      stored: OwnedReply<NewAccount> | null,
    ) {
      refuseUnknownPlan(input.plan);
      const valid = { ...input, name: parseAccountName(input.name), note: 'Opening balance' };
      const invited = owner === null ? null : await members.ownerOfNew(owner, by);
      const made = (account: Account): NewAccount => ({
        account: { ...account, members: 0, keys: 0, spent: 0, usedAt: null },
        linkSent: invited?.linkSent ?? null,
      });
      const account = await accounts.create(valid, by, {
        invitation: invited?.invitation ?? null,
        stored: stored && { ...stored, replyTo: (created) => stored.replyTo(made(created)) },
      });
      return made(account);
    },

    /** Deletes the account; see `Accounts.remove`. */
    async remove(id: string, by: Actor) {
      if (!(await accounts.remove(await idOf(id), by))) throw noAccount();
    },

    /** See `Accounts.grantOnce`. */
    async grantOnce(
      id: string,
      { externalId, credits, note }: Omit<ExternalGrant, 'createdAt'>,
      by: Actor,
      stored: OwnedReply<GrantOutcome> | null,
    ) {
      const account = await idOf(id);
      refuseNone(credits);
      return accounts.grantOnce(account, { externalId, credits, note: parseNote(note) }, by, stored);
    },

    async createKey(
      id: string,
      { settings, test }: { readonly settings: NewKey; readonly test: boolean },
      by: Actor,
      stored: OwnedReply<Key> | null,
    ) {
      const live = await idOf(id);
      const account = test ? (await accounts.testAccount(live)).id : live;
      return createKey(store, account, settings, by, stored);
    },

    /** The key may belong to the account or to its test account. */
    async revokeKey(id: string, key: string, by: Actor) {
      const account = await idOf(id);
      const found = await store.keys.get(key);
      const isOwn = found !== null && (found.testOf ?? found.accountId) === account;
      const revoked = isOwn ? await store.keys.revoke(key, by) : null;
      if (revoked === null) throw new ApiError('not_found', 'There is no such key in this account.');
      return revoked;
    },

    /** As the account sees it. */
    async usage(id: string, query: UsageWanted) {
      const account = await summaryOf(id);
      const window = await accounts.window(account.id);
      if (window === null) throw noAccount();
      const caller = { accountId: account.id, keyId: '', plan: account.plan, test: false };
      return usageOf(store, clock, caller, window, query);
    },

    ledger: async (id: string, { before, limit }: LedgerRange) => accounts.ledger(await idOf(id), limit, before),
    /** Sign-ins and security of all users; nothing that happens in an account. */
    userEvents: (page: KeysetQuery) => auditLogOf(store, 'all', { ...page, about: 'user' }),
    /** Events come in batches. */
    allUserEvents: () => auditEntries(store.auditLog, 'all', 'user'),
    /** Returns the id of a live account. */
    idOf,
    /** Returns the findings of `mailvet doctor`; concurrent calls share one run. */
    doctor: runDoctor,
    /** Returns those of the last run, on any node; null: there was none yet. */
    lastExamination: () => lastExamination(store),
    lists: state,
    /** Fetches the newest list; concurrent calls share one update. `message`: its outcome. */
    async updateLists() {
      const message = await update().catch((error: unknown) => {
        const message = `The lists were not updated: ${messageOf(error).replace(/\.$/, '')}.`;
        throw new ApiError('lists_not_updated', message, {}, error);
      });
      return { lists: await state(), message };
    },
  };
}

function refuseNone(credits: number): void {
  if (credits === 0)
    throw new ApiError('invalid_parameter', 'credits must be a whole number, and not 0.', { field: 'credits' });
}
