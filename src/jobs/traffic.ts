import type { Logger } from '../kernel/log.ts';
import type { TrafficCounter } from '../service/traffic.ts';
import { every } from './every.ts';

const EVERY_MS = 5_000;

/** Writes the request counts to the store every 5 s, and at stop. */
export function startTraffic(counter: TrafficCounter, logger: Logger): { stop(): Promise<void> } {
  // Nothing is lost: the next flush includes them.
  const failed = (error: unknown) => logger.warn({ err: error }, 'request counts could not be stored; will retry');
  const flushing = every(EVERY_MS, () => counter.flush(), failed);
  return {
    async stop() {
      await flushing.stop();
      await counter.flush().catch((error: unknown) => logger.error({ err: error }, 'request counts were lost'));
    },
  };
}
