import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../kernel/log.ts';
import type { Store } from '../store/store.ts';

const EVERY_MS = 30_000;
const DAY_MS = 86_400_000;

/** What has to be done now and then: holds of the dead go back, what has outlived its retention goes. */
export function startUpkeep(options: { store: Store; clock: Clock; retentionDays: number; logger: Logger }): {
  stop(): Promise<void>;
} {
  const { store, clock, retentionDays, logger } = options;
  let current: Promise<void> = Promise.resolve();
  async function round(): Promise<void> {
    try {
      const released = await store.upkeep.releaseDead();
      if (released > 0) logger.warn({ released }, 'holds of processes that ended were released');
      await store.upkeep.purge(clock.now() - retentionDays * DAY_MS);
    } catch (error) {
      // The next round tries again; until then nothing is lost, holds only stay locked.
      logger.error({ err: error }, 'upkeep failed');
    }
  }
  const timer = setInterval(() => {
    current = current.then(round);
  }, EVERY_MS);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await current;
    },
  };
}
