import type { Logger } from '../kernel/log.ts';
import type { SharedLists } from '../service/shared-lists.ts';
import { every } from './every.ts';

const EXCHANGE_MS = 5_000;

/**
 * Keeps this node's copy of the lists the newest one of all nodes, from the start on. Not a job: every process does it.
 */
export function startListsExchange(shared: SharedLists, logger: Logger): { stop(): Promise<void> } {
  let failing = false;
  async function round(): Promise<void> {
    await shared.exchange();
    if (failing) logger.info('the lists are exchanged with other nodes again');
    failing = false;
  }
  function failed(error: unknown): void {
    if (!failing) logger.warn({ err: error }, 'the lists could not be exchanged with other nodes; will retry');
    failing = true;
  }
  const first = round().catch(failed);
  const rounds = every(EXCHANGE_MS, round, failed);
  return {
    async stop() {
      await Promise.all([first, rounds.stop()]);
    },
  };
}
