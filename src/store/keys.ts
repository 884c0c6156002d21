import type { Transaction } from 'kysely';
import { newId } from '../kernel/ids.ts';
import type { Engine } from './engine.ts';
import { lockAccount, needAccount } from './lock.ts';
import { tell } from './people/trail.ts';
import type { AccountId, Key, Keys } from './store.ts';
import type { Row, Tables } from './tables.ts';
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

/** What the audit log shows of a change: only what is another now. */
function changed(before: Row<'keys'>, after: Row<'keys'>): Record<string, unknown> | null {
  const name = before.name === after.name ? {} : { name: { from: before.name, to: after.name } };
  const ips = { from: JSON.parse(before.allow_ips) as unknown, to: JSON.parse(after.allow_ips) as unknown };
  const detail = { ...name, ...(before.allow_ips === after.allow_ips ? {} : { allow_ips: ips }) };
  return Object.keys(detail).length === 0 ? null : { key: after.id, ...detail };
}

export function keys(engine: Engine): Keys {
  const { db } = engine;
  /** Those of accounts that are there. */
  const known = (from: Pick<typeof db, 'selectFrom'> = db) =>
    from
      .selectFrom('keys')
      .selectAll('keys')
      .innerJoin('accounts', 'accounts.id', 'keys.account_id')
      .where('accounts.status', '<>', 'deleted');
  const mine = async (trx: Transaction<Tables>, account: AccountId, id: string): Promise<Row<'keys'> | undefined> => {
    await lockAccount(engine, trx, account);
    return known(trx).where('keys.account_id', '=', account).where('keys.id', '=', id).executeTakeFirst();
  };
  const insert = (trx: Transaction<Tables>, row: Omit<Row<'keys'>, 'revoked_at' | 'last_used_at' | 'last_used_ip'>) =>
    trx.insertInto('keys').values(row).returningAll().executeTakeFirstOrThrow();
  const set = (trx: Transaction<Tables>, id: string, change: Partial<Row<'keys'>>) =>
    trx.updateTable('keys').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow();

  return {
    async create(account, { name, hash, lastFour, allowIps }, by) {
      const now = await engine.now();
      return engine.transaction(async (trx) => {
        await needAccount(engine, trx, account);
        const row = await insert(trx, {
          id: newId('key', now),
          account_id: account,
          name: storable(name),
          hash,
          last_four: lastFour,
          allow_ips: JSON.stringify(allowIps),
          created_at: now,
        });
        const detail = { key: row.id, last_four: lastFour, allow_ips: allowIps };
        await tell(trx, account, now, by, { action: 'key.created', target: name, detail });
        return toKey(row);
      });
    },

    async list(account) {
      let query = known().orderBy('keys.created_at').orderBy('keys.id');
      if (account !== null) query = query.where('keys.account_id', '=', account);
      return (await query.execute()).map(toKey);
    },

    async get(id) {
      const row = await known().where('keys.id', '=', id).executeTakeFirst();
      return row === undefined ? null : toKey(row);
    },

    async update(account, id, { name, allowIps }, by) {
      const now = await engine.now();
      return engine.transaction(async (trx) => {
        const before = await mine(trx, account, id);
        if (before === undefined) return null;
        const after = await set(trx, id, {
          name: name === undefined ? before.name : storable(name),
          allow_ips: allowIps === undefined ? before.allow_ips : JSON.stringify(allowIps),
        });
        const detail = changed(before, after);
        if (detail !== null) await tell(trx, account, now, by, { action: 'key.changed', target: before.name, detail });
        return toKey(after);
      });
    },

    async revoke(id, by) {
      const now = await engine.now();
      return engine.transaction(async (trx) => {
        const found = await known(trx).where('keys.id', '=', id).executeTakeFirst();
        const before = found && (await mine(trx, found.account_id as AccountId, id));
        if (before === undefined) return null;
        // One that was rolled ends now instead of later.
        if (before.revoked_at !== null && before.revoked_at <= now) return toKey(before);
        const after = await set(trx, id, { revoked_at: now });
        const target = before.name;
        await tell(trx, before.account_id, now, by, { action: 'key.revoked', target, detail: { key: id } });
        return toKey(after);
      });
    },

    async roll(account, id, { hash, lastFour, graceMs }, by) {
      const now = await engine.now();
      return engine.transaction(async (trx) => {
        const before = await mine(trx, account, id);
        if (before === undefined || before.revoked_at !== null) return null;
        const { name, allow_ips } = before;
        const own = { id: newId('key', now), hash, last_four: lastFour, created_at: now };
        const fresh = await insert(trx, { ...own, account_id: account, name, allow_ips });
        const old = await set(trx, id, { revoked_at: now + graceMs });
        const detail = { key: id, fresh: fresh.id, grace_seconds: Math.round(graceMs / 1000) };
        await tell(trx, account, now, by, { action: 'key.rolled', target: name, detail });
        return { fresh: toKey(fresh), old: toKey(old) };
      });
    },
  };
}
