import { AsyncLocalStorage } from 'node:async_hooks';
import type { Kysely, Transaction } from 'kysely';
import type { StorageDriver } from '../driver.ts';
import type { Tables } from '../tables.ts';

/** The database as the sign-in library sees it. */
export interface AuthDatabase {
  readonly db: Kysely<Tables>;
  /**
   * A write transaction to which everything belongs that `work` does on `db`. It must await nothing else of the store:
   * on SQLite that would wait for the end of this transaction.
   */
  transaction<T>(work: (trx: Transaction<Tables>) => Promise<T>): Promise<T>;
}

/** The library is given one Kysely instance at the start, so that instance leads to the transaction of its caller. */
export function authDatabase(driver: StorageDriver): AuthDatabase {
  const current = new AsyncLocalStorage<Transaction<Tables>>();
  const db = new Proxy(driver.db, {
    get(plain, name) {
      const target = current.getStore() ?? plain;
      const value: unknown = Reflect.get(target, name, target);
      // `fn` is a function with methods of its own, which a bound one would not have.
      return typeof value === 'function' && name !== 'fn' ? value.bind(target) : value;
    },
  });
  return { db, transaction: (work) => driver.transaction((trx) => current.run(trx, () => work(trx))) };
}
