import type { RemoveList } from '../service/upkeep.ts';
import type { JobRunner } from './runner.ts';

/** A job for each list that was deleted or has expired. */
export const listRemovalJob =
  (remove: RemoveList): JobRunner<'list_removal'> =>
  async ({ account, payload }, signal) => {
    if (account !== null) await remove(account, payload.list, signal);
    signal.throwIfAborted();
    return undefined;
  };
