import { DAY_MS } from '../kernel/clock.ts';
import type { PurgeRound, Store } from '../store/store.ts';
import type { WatchedClock } from './store-clock.ts';

interface UpkeepParts {
  readonly store: Pick<Store, 'upkeep'>;
  readonly storeClock: WatchedClock;
  readonly retentionDays: number;
  readonly seenDays: number;
  readonly outcomesDays: number;
}

/** Says what a round deleted, or why it deleted nothing. */
type Purged = Extract<PurgeRound, { paused: false }> | { readonly skipped: string };

/** Deletes rows past their retention; ends early when aborted. */
export type Purge = (signal: AbortSignal) => Promise<Purged>;

export const createPurge =
  ({ store, storeClock, retentionDays, seenDays, outcomesDays }: UpkeepParts): Purge =>
  async (signal) => {
    const skipped = storeClock.problem();
    if (skipped !== null) return { skipped };
    const round = await store.upkeep.purge(retentionDays * DAY_MS, signal, seenDays * DAY_MS, outcomesDays * DAY_MS);
    return round.paused ? { skipped: "the store's clock is doubted" } : round;
  };

/** Deletes a deleted account and its rows; false while something is left. Ends early when aborted. */
export type RemoveAccount = (account: string, signal: AbortSignal) => Promise<boolean>;

export const createAccountRemoval =
  (store: Pick<Store, 'upkeep'>): RemoveAccount =>
  (account, signal) =>
    store.upkeep.removeAccount(account, signal);

/** Deletes a deleted list with its rows and results; false when aborted before the end. */
export type RemoveList = (account: string, list: string, signal: AbortSignal) => Promise<boolean>;

export const createListRemoval =
  (store: Pick<Store, 'lists'>): RemoveList =>
  (account, list, signal) =>
    store.lists.remove(account, list, signal);
