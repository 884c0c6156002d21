import type { ListTransactions } from '../driver.ts';
import { whenFree } from './busy.ts';
import { writeOutcomes } from './outcomes-message.ts';
import type { Thread } from './thread-client.ts';
import type { ListScope } from './thread-messages.ts';
import type { WriteMutex } from './write-mutex.ts';

interface Parts {
  readonly writer: Thread;
  readonly mutex: WriteMutex;
  readonly scope: () => ListScope;
}

/** Transactions of lists, each one message to the thread of the writer (thread-lists.ts). */
export function threadedLists({ writer, mutex, scope }: Parts): ListTransactions {
  const inTurn = <T>(call: () => Promise<T>): Promise<T> => mutex.run(() => whenFree(call));
  return {
    append: (account, list, blocks) => inTurn(() => writer.call('listAppend', scope(), account, list, blocks)),
    claim: (claim) => inTurn(() => writer.call('listClaim', scope(), claim)),
    claimWaiting: (claim) => inTurn(() => writer.call('listClaimWaiting', scope(), claim)),
    record(account, list, outcomes) {
      const values = writeOutcomes(outcomes);
      return inTurn(() => writer.call('listRecord', scope(), account, list, values));
    },
  };
}
