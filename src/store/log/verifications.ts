import type { StorageDriver } from '../driver.ts';
import type { Verifications } from '../store.ts';
import { erase } from './erase.ts';
import { toVerification } from './row.ts';
import { search } from './search.ts';

export function verifications(driver: StorageDriver): Verifications {
  return {
    async get(account, id) {
      const mine = driver.db.selectFrom('verifications').selectAll().where('account_id', '=', account);
      const row = await mine.where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : toVerification(row);
    },

    async list(account, { offset, limit }) {
      const mine = driver.db.selectFrom('verifications').where('account_id', '=', account);
      const total = await mine.select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow();
      const rows = await mine.selectAll().orderBy('seq', 'desc').offset(offset).limit(limit).execute();
      return { items: rows.map(toVerification), total: total.n };
    },

    search: (account, wanted) => search(driver, account, wanted),
    erase: (account, email, by) => erase(driver, account, email, by),
  };
}
