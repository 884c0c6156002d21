import type { BulkTransactions } from '../driver.ts';
import { outageError } from '../outages.ts';
import { whenFree } from './busy.ts';
import { isOutage } from './failure.ts';
import { writeOutcomes } from './outcomes-message.ts';
import type { Thread } from './thread-client.ts';
import type { BulkScope } from './thread-messages.ts';
import type { WriteMutex } from './write-mutex.ts';

interface Parts {
  readonly writer: Thread;
  readonly mutex: WriteMutex;
  readonly scope: () => BulkScope;
}

/** Transactions of lists, imports and purges, each one message to the thread of the writer (thread-bulk.ts). */
export function threadedBulk({ writer, mutex, scope }: Parts): BulkTransactions {
  const exclusive = <T>(call: () => Promise<T>): Promise<T> =>
    mutex
      .run(() => whenFree(call))
      .catch((error: unknown) => {
        throw outageError(error, isOutage);
      });
  return {
    append: (account, list, blocks) => exclusive(() => writer.call('listAppend', scope(), account, list, blocks)),
    claim: (claim) => exclusive(() => writer.call('listClaim', scope(), claim)),
    claimWaiting: (claim) => exclusive(() => writer.call('listClaimWaiting', scope(), claim)),
    record(account, list, outcomes) {
      const values = writeOutcomes(outcomes);
      return exclusive(() => writer.call('listRecord', scope(), account, list, values));
    },
    addFilters: (account, inputs, by) => exclusive(() => writer.call('filtersAdd', scope(), account, inputs, by)),
    deleteVerifications: (some) => exclusive(() => writer.call('verificationsDelete', scope(), some)),
  };
}
