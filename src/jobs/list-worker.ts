import type { Logger } from '../kernel/log.ts';
import type { ListService } from '../service/lists/service.ts';
import type { ListWorkService } from '../service/lists/work.ts';
import { every } from './every.ts';

const EVERY_MS = 1_000;

/** Works on lists of addresses until stopped; on those that this process starts, at once. */
export function startListWorker(
  work: ListWorkService,
  lists: Pick<ListService, 'onRunning'>,
  logger: Logger,
): { stop(): Promise<void> } {
  const rounds = every(
    EVERY_MS,
    () => work.round(),
    (error) => logger.error({ err: error }, 'work on lists failed'),
  );
  lists.onRunning(() => rounds.now());
  return {
    async stop() {
      await rounds.stop();
      await work.stop();
    },
  };
}
