import { AsyncLocalStorage } from 'node:async_hooks';
import type { BetterAuthPlugin, DBAdapter } from 'better-auth';

/** Performs an insertion, and what belongs to it. */
type Around = <T>(insert: () => Promise<T>) => Promise<T>;

const current = new AsyncLocalStorage<Around>();

/**
 * Runs `work`, in which the library inserts a passkey within `around`, so that this alone is in a transaction. The
 * library's whole operation must not be: it waits for other requests with the same challenge, which may be waiting for
 * the end of the transaction.
 */
export const insertingPasskey = <T>(around: Around, work: () => Promise<T>): Promise<T> => current.run(around, work);

const wrapped = (adapter: DBAdapter): DBAdapter => ({
  ...adapter,
  create(call) {
    const around = call.model === 'passkey' ? current.getStore() : undefined;
    return around === undefined ? adapter.create(call) : around(() => adapter.create(call));
  },
});

export const passkeyInserts = {
  id: 'mailvet-passkey-inserts',
  init: ({ adapter }) => ({ context: { adapter: wrapped(adapter) } }),
} satisfies BetterAuthPlugin;
