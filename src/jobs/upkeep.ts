import type { Logger } from '../kernel/log.ts';

const EVERY_MS = 30_000;

/** Does a round of upkeep every 30 s, never two at once, until stopped. */
export function startUpkeep(round: () => Promise<{ released: number }>, logger: Logger): { stop(): Promise<void> } {
  let current: Promise<void> = Promise.resolve();
  async function once(): Promise<void> {
    try {
      const { released } = await round();
      if (released > 0) logger.warn({ released }, 'holds of processes that ended were released');
    } catch (error) {
      // The next round tries again; until then nothing is lost, holds only stay locked.
      logger.error({ err: error }, 'upkeep failed');
    }
  }
  const timer = setInterval(() => {
    current = current.then(once);
  }, EVERY_MS);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await current;
    },
  };
}
