import type { Purge } from '../service/upkeep.ts';
import type { JobRunner } from './runner.ts';

/** One round, in short transactions: an aborted round keeps its progress, and the next one continues. */
export const purgeJob =
  (purge: Purge): JobRunner<'purge'> =>
  async (_job, signal) => {
    await purge(signal);
    signal.throwIfAborted();
    return undefined;
  };
