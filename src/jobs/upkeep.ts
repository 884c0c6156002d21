import type { Logger } from '../kernel/log.ts';
import { every } from './every.ts';

const EVERY_MS = 30_000;

/** Releases the holds of dead processes every 30 s until stopped. `release` returns the number released. */
export function startUpkeep(
  release: (signal: AbortSignal) => Promise<number>,
  logger: Logger,
): { stop(): Promise<void> } {
  return every(
    EVERY_MS,
    async (signal) => {
      const released = await release(signal);
      if (released > 0) logger.warn({ released }, 'released the holds of dead processes');
    },
    // The next round retries. Until then nothing is lost; credits stay held.
    (error) => logger.error({ err: error }, 'upkeep failed'),
  );
}
