import type { StorageDriver } from '../driver.ts';
import type { Store } from '../store.ts';
import { ownerOf } from '../test-account.ts';

export function dismissals(driver: StorageDriver): Store['dismissals'] {
  return {
    async list(of, user) {
      const rows = driver.db.selectFrom('dismissals').select('cause').where('account_id', '=', ownerOf(of));
      return new Set((await rows.where('user_id', '=', user).execute()).map(({ cause }) => cause));
    },

    async add(of, user, causes) {
      if (causes.length === 0) return;
      const account = ownerOf(of);
      await driver.transaction(async (trx) => {
        const mine = trx.selectFrom('members').select('user_id').where('account_id', '=', account);
        // The membership may have ended since the guard read it.
        if ((await mine.where('user_id', '=', user).executeTakeFirst()) === undefined) return;
        await trx
          .insertInto('dismissals')
          .values(causes.map((cause) => ({ account_id: account, user_id: user, cause })))
          .onConflict((oc) => oc.doNothing())
          .execute();
      });
    },
  };
}
