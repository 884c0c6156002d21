import { HOUR_MS } from '../kernel/clock.ts';
import type { Logger } from '../kernel/log.ts';
import type { ListsUpdate } from '../service/disposable-lists-update.ts';
import type { SharedLists } from '../service/shared-lists.ts';
import type { JobRunner } from './runner.ts';

/** A day, less what rounds that begin an hour apart may be off. */
const DAILY_MS = 23.5 * HOUR_MS;

/** Downloads the lists once a day; after a failure, every hour. The lists in use stay good, so the job never fails. */
export const listsRefreshJob =
  (update: Pick<ListsUpdate, 'run'>, shared: SharedLists, logger: Logger): JobRunner<'lists_refresh'> =>
  async (_job, signal) => {
    const last = await shared.lastAttempt();
    const age = last === null ? Number.POSITIVE_INFINITY : (await shared.now()) - last.at;
    // A clock that was set back does not keep the lists from being updated.
    if (last !== null && last.failed === null && age >= 0 && age < DAILY_MS) return undefined;
    try {
      await update.run(signal);
    } catch (error) {
      signal.throwIfAborted();
      logger.warn({ err: error }, 'the disposable lists could not be updated; next attempt in an hour');
    }
    return undefined;
  };
