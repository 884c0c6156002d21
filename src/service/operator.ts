import { ageInDays } from '../engine/doctor/service.ts';
import type { WatchedLists } from '../engine/lists/watch.ts';
import type { Clock } from '../kernel/clock.ts';
import { Refusal } from '../kernel/errors.ts';
import type { Plan } from '../kernel/plans.ts';
import type { Account, AccountChange, AccountId, Actor, LedgerRow, Page, Store } from '../store/store.ts';
import { type KeysetPage, ledgerOf, type PageAsk } from './accounts.ts';
import type { Finding } from './doctor.ts';
import { usableName } from './names.ts';

/** An account as those who run the service see it. */
export type OverseenAccount = Account & { readonly members: number; readonly keys: number };

export interface ListsState {
  readonly version: string;
  readonly ageDays: number;
  readonly size: number;
  readonly problem: string | null;
}

/** For the people who run the service. Everything that is refused throws Refusal. */
export interface OperatorService {
  search(input: { query: string | null; page: number; perPage: number }): Promise<Page<OverseenAccount>>;
  create(
    input: { name: string; plan: Plan; credits: number; rateLimit: number | null },
    by: Actor,
  ): Promise<OverseenAccount>;
  get(id: string): Promise<OverseenAccount>;
  change(id: string, change: AccountChange, by: Actor): Promise<OverseenAccount>;
  /** Negative credits are taken back. */
  grant(id: string, credits: number, note: string, by: Actor): Promise<OverseenAccount>;
  ledger(id: string, page: PageAsk): Promise<KeysetPage<LedgerRow>>;
  /** What `mailvet doctor` finds; askers at the same time share one examination. */
  doctor(): Promise<{ findings: readonly Finding[]; tookMs: number }>;
  lists(): ListsState;
  /** Fetches the newest list; askers at the same time share one update. `message`: what became of it. */
  updateLists(): Promise<{ lists: ListsState; message: string }>;
}

export function createOperatorService(parts: {
  store: Pick<Store, 'accounts'>;
  clock: Clock;
  lists: WatchedLists;
  doctor: () => Promise<readonly Finding[]>;
  /** Throws an Error that says why not. */
  fetchLists: () => Promise<string>;
}): OperatorService {
  const { store, clock, lists, doctor, fetchLists } = parts;
  const { accounts } = store;

  async function overseen(id: string): Promise<OverseenAccount> {
    const { items } = await accounts.search({ query: id, offset: 0, limit: PER_LOOKUP });
    const account = items.find((item) => item.id === id);
    if (account === undefined) throw noAccount();
    return account;
  }
  async function idOf(id: string): Promise<AccountId> {
    const account = await accounts.get(id);
    if (account === null) throw noAccount();
    return account.id;
  }
  const state = (): ListsState => {
    const { version, size } = lists.current;
    return { version, ageDays: ageInDays(version, clock.now()), size, problem: lists.problem };
  };
  const examination = shared(async () => {
    const began = clock.elapsed();
    const findings = await doctor();
    return { findings, tookMs: Math.round(clock.elapsed() - began) };
  });
  const update = shared(fetchLists);

  return {
    search: ({ query, page, perPage }) => accounts.search({ query, offset: (page - 1) * perPage, limit: perPage }),

    async create({ name, plan, credits, rateLimit }, by) {
      const input = { name: usableName(name), plan, credits, rateLimit, note: 'Opening balance' };
      return overseen((await accounts.create(input, by)).id);
    },

    get: overseen,

    async change(id, { name, ...change }, by) {
      const account = await idOf(id);
      const usable = { ...change, ...(name === undefined ? {} : { name: usableName(name) }) };
      if ((await accounts.set(account, usable, by)) === null) throw noAccount();
      return overseen(id);
    },

    async grant(id, credits, note, by) {
      const account = await idOf(id);
      if (credits === 0)
        throw new Refusal('invalid_parameter', 'credits must be a whole number, and not 0.', { field: 'credits' });
      if ((await accounts.grant(account, credits, usableNote(note), by)) === null)
        throw new Refusal('balance_too_small', undefined, { field: 'credits' });
      return overseen(id);
    },

    ledger: async (id, page) => ledgerOf(store, await idOf(id), page),
    doctor: examination,
    lists: state,
    async updateLists() {
      const message = await update().catch((error: unknown) => {
        const why = error instanceof Error ? error.message : String(error);
        const sentence = `The lists were not changed: ${why.replace(/\.$/, '')}.`;
        throw new Refusal('lists_not_updated', sentence, {}, error);
      });
      return { lists: state(), message };
    },
  };
}

/** An id is random: what else is found by it is found by chance. */
const PER_LOOKUP = 10;

const noAccount = () => new Refusal('not_found', 'There is no such account.');

const NOTE_MAX = 500;
function usableNote(text: string): string {
  const note = text.trim();
  if (note.length > 0 && note.length <= NOTE_MAX && !/[\p{Cc}\p{Cs}]/u.test(note)) return note;
  const sentence = `note must have 1 to ${NOTE_MAX} characters and no control characters.`;
  throw new Refusal('invalid_parameter', sentence, { field: 'note' });
}

/** While one run is under way, whoever asks waits for it. */
function shared<T>(run: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | null = null;
  return () => {
    current ??= run().finally(() => {
      current = null;
    });
    return current;
  };
}
