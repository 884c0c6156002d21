import type { Logger } from '../kernel/log.ts';
import { every } from './every.ts';

interface Flushed {
  /** For the log. */
  readonly what: string;
  readonly everyMs: number;
  /** If the store fails, nothing is lost: the next call writes everything. */
  readonly flush: () => Promise<void>;
}

/** Writes what is kept in memory to the store regularly, and at stop. */
export function startFlushing({ what, everyMs, flush }: Flushed, logger: Logger): { stop(): Promise<void> } {
  const failed = (error: unknown) => logger.warn({ err: error }, `${what} could not be stored; will retry`);
  const flushing = every(everyMs, flush, failed);
  return {
    async stop() {
      await flushing.stop();
      await flush().catch((error: unknown) => logger.error({ err: error }, `${what} were lost`));
    },
  };
}
