import type { RemoveAccount } from '../service/upkeep.ts';
import type { JobRunner } from './runner.ts';

/** While the account holds credits: what is being verified is settled or released first. */
const WAIT_MS = 30_000;

/** A job for each account, so that one that cannot be removed keeps no other from it. */
export const accountRemovalJob =
  (remove: RemoveAccount): JobRunner<'account_removal'> =>
  async ({ account }, signal) => {
    if (account === null || (await remove(account, signal))) return undefined;
    signal.throwIfAborted();
    return { againMs: WAIT_MS };
  };
