import type { Logger } from '../kernel/log.ts';
import type { Purge } from '../service/upkeep.ts';
import type { JobRunner } from './runner.ts';

/** One round, in short transactions: an aborted round keeps its progress, and the next one continues. */
export function purgeJob(purge: Purge, logger: Logger): JobRunner<'purge'> {
  let skipped: string | null = null;
  return async (_job, signal) => {
    const round = await purge(signal);
    if ('skipped' in round) {
      if (round.skipped !== skipped) logger.error({ reason: round.skipped }, 'purged nothing: a clock is wrong');
    } else if (round.full) {
      logger.warn(round.deleted, 'purged as much as one round may; the rest follows');
    } else if (round.total > 0) {
      logger.info(round.deleted, 'purged what is past its retention');
    }
    skipped = 'skipped' in round ? round.skipped : null;
    signal.throwIfAborted();
    return undefined;
  };
}
