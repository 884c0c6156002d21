import type { StorageDriver } from '../driver.ts';
import type { Jobs } from './queue.ts';

/** The queue, with a transaction of its own for each change. */
export function jobs(driver: StorageDriver): Jobs {
  const { jobs: queue } = driver;
  return {
    ...queue,
    add: (job) => driver.transaction((trx) => queue.add(trx, job)),
    done: (claim, againMs) => driver.transaction((trx) => queue.done(trx, claim, againMs)),
  };
}
