import { type Clock, DAY_MS } from '../kernel/clock.ts';
import type { Store } from '../store/store.ts';

interface Parts {
  readonly store: Pick<Store, 'upkeep'>;
  readonly clock: Clock;
  readonly retentionDays: number;
}

/** Deletes rows past their retention; ends early when aborted. */
export type Purge = (signal: AbortSignal) => Promise<void>;

export const createPurge =
  ({ store, clock, retentionDays }: Parts): Purge =>
  async (signal) => {
    await store.upkeep.purge(clock.now() - retentionDays * DAY_MS, signal);
  };

/** Deletes a deleted account and its rows; false while something is left. Ends early when aborted. */
export type RemoveAccount = (account: string, signal: AbortSignal) => Promise<boolean>;

export const createAccountRemoval =
  (store: Pick<Store, 'upkeep'>): RemoveAccount =>
  (account, signal) =>
    store.upkeep.removeAccount(account, signal);
