import { AsyncLocalStorage } from 'node:async_hooks';
import type { BetterAuthPlugin, DBAdapter } from 'better-auth';
import { notingFailure } from './library-calls.ts';

/** Performs the insertion of a row of this user, and what belongs to it. */
type Around = <T>(insert: () => Promise<T>, user: string) => Promise<T>;

const currentInsert = new AsyncLocalStorage<{ readonly model: 'passkey' | 'session'; readonly around: Around }>();

/**
 * Runs `work`, in which the library inserts a passkey or a session within `around`, so that this alone is in a
 * transaction. The library's whole operation must not be: it compares passwords, and waits for other requests with the
 * same challenge, which may be waiting for the end of the transaction. Throws what `around` throws, which the library
 * would report as a fault of the request.
 */
export async function inserting<T>(model: 'passkey' | 'session', around: Around, work: () => Promise<T>): Promise<T> {
  let failure: { readonly cause: unknown } | null = null;
  const remembering: Around = async (insert, user) => {
    try {
      return await around(insert, user);
    } catch (cause) {
      failure = { cause };
      throw cause;
    }
  };
  const done = currentInsert.run({ model, around: remembering }, work);
  return done.catch((error: unknown) => {
    throw failure === null ? error : failure.cause;
  });
}

/** Every operation of it notes its failure. */
const notingAdapter = (adapter: DBAdapter): DBAdapter =>
  new Proxy(adapter, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...input: unknown[]) => notingFailure(() => Promise.resolve(Reflect.apply(value, target, input)));
    },
  });

const wrapped = (plain: DBAdapter): DBAdapter => {
  const adapter = notingAdapter(plain);
  return {
    ...adapter,
    create(call) {
      const waiting = currentInsert.getStore();
      if (waiting?.model !== call.model) return adapter.create(call);
      const user = 'userId' in call.data ? String(call.data.userId) : '';
      // Only this row: `around` inserts other ones as usual.
      return waiting.around(() => currentInsert.exit(() => adapter.create(call)), user);
    },
  };
};

export const libraryInserts = {
  id: 'mailvet-inserts',
  init: ({ adapter }) => ({ context: { adapter: wrapped(adapter) } }),
} satisfies BetterAuthPlugin;
