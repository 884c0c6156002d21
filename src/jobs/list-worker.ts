import type { Logger } from '../kernel/log.ts';
import type { ListWorkService } from '../service/lists/work.ts';
import { every } from './every.ts';

const EVERY_MS = 1_000;

/** Works on lists of addresses until stopped. */
export function startListWorker(work: ListWorkService, logger: Logger): { stop(): Promise<void> } {
  const rounds = every(
    EVERY_MS,
    () => work.round(),
    (error) => logger.error({ err: error }, 'work on lists failed'),
  );
  return {
    async stop() {
      await rounds.stop();
      await work.stop();
    },
  };
}
