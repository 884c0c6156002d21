import { newId } from '../kernel/ids.ts';
import type { Engine } from './engine.ts';
import type { AccountId, Key, Keys } from './store.ts';
import type { Row } from './tables.ts';
import { storable } from './text.ts';

const toKey = (row: Row<'keys'>): Key => ({
  id: row.id,
  accountId: row.account_id as AccountId,
  name: row.name,
  lastFour: row.last_four,
  allowIps: JSON.parse(row.allow_ips) as string[],
  createdAt: row.created_at,
  revokedAt: row.revoked_at,
  lastUsedAt: row.last_used_at,
  lastUsedIp: row.last_used_ip,
});

export function keys(engine: Engine): Keys {
  const { db } = engine;
  const find = async (id: string): Promise<Key | null> => {
    const row = await db.selectFrom('keys').selectAll().where('id', '=', id).executeTakeFirst();
    return row === undefined ? null : toKey(row);
  };

  return {
    async create(account, { name, hash, lastFour, allowIps }) {
      const now = await engine.now();
      const row = await db
        .insertInto('keys')
        .values({
          id: newId('key', now),
          account_id: account,
          name: storable(name),
          hash,
          last_four: lastFour,
          allow_ips: JSON.stringify(allowIps),
          created_at: now,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      return toKey(row);
    },

    async list(account) {
      let query = db.selectFrom('keys').selectAll().orderBy('created_at').orderBy('id');
      if (account !== null) query = query.where('account_id', '=', account);
      return (await query.execute()).map(toKey);
    },

    get: find,

    async update(account, id, { name, allowIps }) {
      const change = {
        ...(name === undefined ? {} : { name: storable(name) }),
        ...(allowIps === undefined ? {} : { allow_ips: JSON.stringify(allowIps) }),
      };
      const mine = db.selectFrom('keys').selectAll().where('account_id', '=', account).where('id', '=', id);
      const row =
        Object.keys(change).length === 0
          ? await mine.executeTakeFirst()
          : await db
              .updateTable('keys')
              .set(change)
              .where('account_id', '=', account)
              .where('id', '=', id)
              .returningAll()
              .executeTakeFirst();
      return row === undefined ? null : toKey(row);
    },

    async revoke(id) {
      const now = await engine.now();
      const revoked = db.updateTable('keys').set({ revoked_at: now });
      await revoked.where('id', '=', id).where('revoked_at', 'is', null).execute();
      return find(id);
    },
  };
}
