import type { Logger } from '../kernel/log.ts';
import type { TrafficCounter } from '../service/traffic.ts';
import { every } from './every.ts';

const EVERY_MS = 5_000;

/** Tells the store every 5 s, and at stop, what was counted since. */
export function startTraffic(counter: TrafficCounter, logger: Logger): { stop(): Promise<void> } {
  // Kept, and told with the next.
  const failed = (error: unknown) => logger.warn({ err: error }, 'the counts of requests could not be stored yet');
  const telling = every(EVERY_MS, () => counter.tell(), failed);
  return {
    async stop() {
      await telling.stop();
      await counter.tell().catch((error: unknown) => logger.error({ err: error }, 'counts of requests were lost'));
    },
  };
}
