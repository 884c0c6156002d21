import type { Transaction } from 'kysely';
import { ApiError } from '../../kernel/errors.ts';
import { SAVED_VIEWS_MAX } from '../../kernel/facts/limits.ts';
import { newId } from '../../kernel/ids.ts';
import { lockExistingAccount } from '../account-rows.ts';
import type { StorageDriver } from '../driver.ts';
import { countOf, storable } from '../rows.ts';
import type { AccountId, SavedViews } from '../store.ts';
import type { Tables } from '../tables.ts';
import { liveIdOf } from '../test-account.ts';

const VIEW_COLUMNS = ['id', 'name', 'search'] as const;

export function savedViews(driver: StorageDriver): SavedViews {
  /** Under the lock of the account, whose views those of its test account are. */
  const change = <T>(of: AccountId, work: (trx: Transaction<Tables>, account: string) => Promise<T>): Promise<T> =>
    driver.transaction(async (trx) => {
      const account = liveIdOf(of) ?? of;
      await lockExistingAccount(driver, trx, account);
      return work(trx, account);
    });

  async function assertFree(trx: Transaction<Tables>, account: string, page: string, name: string): Promise<void> {
    const same = trx.selectFrom('shared_views').select('id').where('page', '=', page).where('name', '=', name);
    if ((await same.where('account_id', '=', account).executeTakeFirst()) !== undefined)
      throw new ApiError('view_exists', undefined, { field: 'name' });
  }

  return {
    list(of, page) {
      const rows = driver.db.selectFrom('shared_views').select(VIEW_COLUMNS).where('page', '=', page);
      const mine = rows.where('account_id', '=', liveIdOf(of) ?? of);
      return mine.orderBy('name').orderBy('id').execute();
    },

    async add(of, page, { name, search }) {
      const row = { id: newId('view', await driver.now()), name: storable(name), search: storable(search) };
      await change(of, async (trx, account) => {
        const all = trx.selectFrom('shared_views').where('account_id', '=', account);
        if ((await countOf(all)) >= SAVED_VIEWS_MAX) throw new ApiError('too_many_views');
        await assertFree(trx, account, page, row.name);
        await trx
          .insertInto('shared_views')
          .values({ ...row, account_id: account, page })
          .execute();
      });
      return row;
    },

    rename: (of, id, name) =>
      change(of, async (trx, account) => {
        const one = trx.selectFrom('shared_views').selectAll().where('id', '=', id);
        const before = await one.where('account_id', '=', account).executeTakeFirst();
        if (before === undefined) return null;
        const { search, page } = before;
        if (storable(name) === before.name) return { id, name: before.name, search };
        await assertFree(trx, account, page, storable(name));
        await trx
          .updateTable('shared_views')
          .set({ name: storable(name) })
          .where('id', '=', id)
          .execute();
        return { id, name: storable(name), search };
      }),

    async remove(of, id) {
      const one = driver.db.deleteFrom('shared_views').where('id', '=', id);
      const { numDeletedRows } = await one.where('account_id', '=', liveIdOf(of) ?? of).executeTakeFirst();
      return numDeletedRows === 1n;
    },
  };
}
