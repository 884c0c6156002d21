import type { Transaction } from 'kysely';
import { ApiError } from '../../kernel/errors.ts';
import { SAVED_VIEWS_MAX } from '../../kernel/facts/limits.ts';
import { newId } from '../../kernel/ids.ts';
import { lockExistingAccount } from '../account-rows.ts';
import type { StorageDriver } from '../driver.ts';
import { storable } from '../rows.ts';
import type { SavedViews, ViewOwner } from '../store.ts';
import type { Tables } from '../tables.ts';
import { liveIdOf } from '../test-account.ts';

const COLUMNS = ['id', 'name', 'search'] as const;

/** The account that the owner is a member of. */
const memberOf = ({ account }: ViewOwner): string => liveIdOf(account) ?? account;

export function savedViews(driver: StorageDriver): SavedViews {
  /** Under the lock of the account, as members change. */
  const change = <T>(owner: ViewOwner, work: (trx: Transaction<Tables>) => Promise<T>): Promise<T> =>
    driver.transaction(async (trx) => {
      await lockExistingAccount(driver, trx, memberOf(owner));
      return work(trx);
    });

  async function assertFree(trx: Transaction<Tables>, owner: ViewOwner, page: string, name: string): Promise<void> {
    const same = trx.selectFrom('saved_views').select('id').where('page', '=', page).where('name', '=', name);
    const mine = same.where('account_id', '=', memberOf(owner)).where('user_id', '=', owner.user);
    if ((await mine.executeTakeFirst()) !== undefined) throw new ApiError('view_exists', undefined, { field: 'name' });
  }

  return {
    list(owner, page) {
      const rows = driver.db.selectFrom('saved_views').select(COLUMNS).where('page', '=', page);
      const mine = rows.where('account_id', '=', memberOf(owner)).where('user_id', '=', owner.user);
      return mine.orderBy('name').orderBy('id').execute();
    },

    async add(owner, page, { name, search }) {
      const row = { id: newId('view', await driver.now()), name: storable(name), search: storable(search) };
      await change(owner, async (trx) => {
        const ids = { account_id: memberOf(owner), user_id: owner.user };
        const member = trx.selectFrom('members').select('role').where('account_id', '=', ids.account_id);
        if ((await member.where('user_id', '=', ids.user_id).executeTakeFirst()) === undefined)
          throw new ApiError('not_found');
        const all = trx.selectFrom('saved_views').where('account_id', '=', ids.account_id);
        const { n } = await all
          .where('user_id', '=', ids.user_id)
          .select((eb) => eb.fn.countAll<number>().as('n'))
          .executeTakeFirstOrThrow();
        if (n >= SAVED_VIEWS_MAX) throw new ApiError('too_many_views');
        await assertFree(trx, owner, page, row.name);
        await trx
          .insertInto('saved_views')
          .values({ ...row, ...ids, page })
          .execute();
      });
      return row;
    },

    rename: (owner, id, name) =>
      change(owner, async (trx) => {
        const of = trx.selectFrom('saved_views').selectAll().where('id', '=', id).where('user_id', '=', owner.user);
        const before = await of.where('account_id', '=', memberOf(owner)).executeTakeFirst();
        if (before === undefined) return null;
        const { search, page } = before;
        if (storable(name) === before.name) return { id, name: before.name, search };
        await assertFree(trx, owner, page, storable(name));
        await trx
          .updateTable('saved_views')
          .set({ name: storable(name) })
          .where('id', '=', id)
          .execute();
        return { id, name: storable(name), search };
      }),

    async remove(owner, id) {
      const one = driver.db.deleteFrom('saved_views').where('id', '=', id).where('user_id', '=', owner.user);
      const { numDeletedRows } = await one.where('account_id', '=', memberOf(owner)).executeTakeFirst();
      return numDeletedRows === 1n;
    },
  };
}
