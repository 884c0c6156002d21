import type { Logger } from '../kernel/log.ts';
import { every } from './every.ts';

const EVERY_MS = 30_000;

/** Does a round of upkeep every 30 s until stopped. */
export function startUpkeep(round: () => Promise<{ released: number }>, logger: Logger): { stop(): Promise<void> } {
  return every(
    EVERY_MS,
    async () => {
      const { released } = await round();
      if (released > 0) logger.warn({ released }, 'holds of processes that ended were released');
    },
    // The next round tries again; until then nothing is lost, holds only stay locked.
    (error) => logger.error({ err: error }, 'upkeep failed'),
  );
}
