import type { ListsUpdate } from '../service/disposable-lists-update.ts';
import type { JobRunner } from './runner.ts';

/** Downloads the latest disposable list for all nodes. */
export const listsUpdateJob =
  (update: Pick<ListsUpdate, 'run'>): JobRunner<'lists_update'> =>
  async (_job, signal) => {
    await update.run(signal);
    return undefined;
  };
