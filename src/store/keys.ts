import type { Insertable, Transaction } from 'kysely';
import { ApiError } from '../kernel/errors.ts';
import { KEYS_MAX } from '../kernel/facts/limits.ts';
import { newId } from '../kernel/ids.ts';
import type { StorageDriver } from './driver.ts';
import { countersOf } from './key-budget.ts';
import { changedKey, keyEvent, limitColumns, limitDetail, refusePastExpiry, toKey } from './key-rows.ts';
import { lockAccount, lockExistingAccount } from './lock.ts';
import { writeAudit } from './people/audit-log.ts';
import { accountId } from './rows.ts';
import type { AccountId, Keys } from './store.ts';
import type { Row, Tables } from './tables.ts';
import { storable } from './text.ts';
import { emitEvent } from './webhooks/emit.ts';

export function keys(driver: StorageDriver): Keys {
  const { db } = driver;
  /** Keys of accounts that are not deleted. */
  const notDeleted = (from: Pick<typeof db, 'selectFrom'> = db) =>
    from
      .selectFrom('keys')
      .selectAll('keys')
      .innerJoin('accounts', 'accounts.id', 'keys.account_id')
      .select('accounts.test_of')
      .where('accounts.status', '<>', 'deleted');
  const mine = async (trx: Transaction<Tables>, account: AccountId, id: string) => {
    await lockAccount(driver, trx, account);
    return notDeleted(trx).where('keys.account_id', '=', account).where('keys.id', '=', id).executeTakeFirst();
  };
  /** Under the lock of its account. Throws ApiError `too_many_keys`. */
  const insert = async (trx: Transaction<Tables>, row: Insertable<Tables['keys']>) => {
    const { n } = await trx
      .selectFrom('keys')
      .where('account_id', '=', row.account_id)
      .where((eb) => eb.or([eb('revoked_at', 'is', null), eb('revoked_at', '>', row.created_at)]))
      .select((eb) => eb.fn.countAll<number>().as('n'))
      .executeTakeFirstOrThrow();
    if (n >= KEYS_MAX) throw new ApiError('too_many_keys');
    return trx.insertInto('keys').values(row).returningAll().executeTakeFirstOrThrow();
  };
  const set = (trx: Transaction<Tables>, id: string, change: Partial<Row<'keys'>>) =>
    trx.updateTable('keys').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow();

  return {
    async create(account, { name, hash, lastFour, allowIps, ...limits }, by) {
      const now = await driver.now();
      refusePastExpiry(limits, null, now);
      return driver.transaction(async (trx) => {
        const { test_of } = await lockExistingAccount(driver, trx, account);
        const inserted = await insert(trx, {
          id: newId('key', now),
          account_id: account,
          name: storable(name),
          hash,
          last_four: lastFour,
          allow_ips: JSON.stringify(allowIps),
          created_at: now,
          ...{ expires_at: null, scopes: null, budget: null },
          ...limitColumns(limits),
        });
        const row = { ...inserted, test_of };
        const detail = { key: row.id, last_four: lastFour, allow_ips: allowIps, ...limitDetail(row) };
        await writeAudit(trx, account, now, by, { action: 'key.created', target: name, detail });
        await emitEvent({ driver, trx, now }, account, 'key.created', keyEvent(row));
        return toKey(row);
      });
    },

    async list(account, { withTest = false } = {}) {
      let query = notDeleted().orderBy('keys.created_at').orderBy('keys.id');
      if (account !== null && withTest)
        query = query.where((eb) => eb.or([eb('keys.account_id', '=', account), eb('accounts.test_of', '=', account)]));
      else if (account !== null) {
        const now = await driver.now();
        const ended = db
          .selectFrom('keys as ended')
          .where('ended.account_id', '=', account)
          .where('ended.revoked_at', '<=', now)
          .orderBy('ended.created_at', 'desc')
          .limit(KEYS_MAX)
          .select('ended.id');
        query = query
          .where('keys.account_id', '=', account)
          .where((eb) =>
            eb.or([eb('keys.revoked_at', 'is', null), eb('keys.revoked_at', '>', now), eb('keys.id', 'in', ended)]),
          );
      }
      return (await query.execute()).map(toKey);
    },

    async get(id) {
      const row = await notDeleted().where('keys.id', '=', id).executeTakeFirst();
      return row === undefined ? null : toKey(row);
    },

    async update(account, id, { name, allowIps, ...limits }, by) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        const before = await mine(trx, account, id);
        if (before === undefined) return null;
        refusePastExpiry(limits, before.expires_at, now);
        const isNewBudget = before.budget === null && typeof limits.budget === 'number';
        const after = await set(trx, id, {
          ...limitColumns(limits),
          ...(isNewBudget ? await countersOf(trx, account, id, now) : {}),
          name: name === undefined ? before.name : storable(name),
          allow_ips: allowIps === undefined ? before.allow_ips : JSON.stringify(allowIps),
        });
        const detail = changedKey(before, after);
        if (detail !== null)
          await writeAudit(trx, account, now, by, { action: 'key.changed', target: before.name, detail });
        return toKey({ ...after, test_of: before.test_of });
      });
    },

    async revoke(id, by) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        const found = await notDeleted(trx).where('keys.id', '=', id).executeTakeFirst();
        const before = found && (await mine(trx, accountId(found.account_id), id));
        if (before === undefined) return null;
        // A rolled key in its grace period ends now.
        if (before.revoked_at !== null && before.revoked_at <= now) return toKey(before);
        const after = { ...(await set(trx, id, { revoked_at: now })), test_of: before.test_of };
        const target = before.name;
        await writeAudit(trx, before.account_id, now, by, { action: 'key.revoked', target, detail: { key: id } });
        await emitEvent({ driver, trx, now }, before.account_id, 'key.revoked', keyEvent(after));
        return toKey(after);
      });
    },

    async roll(account, id, { hash, lastFour, graceMs }, by) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        const before = await mine(trx, account, id);
        if (before === undefined || before.revoked_at !== null) return null;
        const { test_of, name, allow_ips, expires_at, scopes, budget, budget_month, budget_spent } = before;
        const settings = { name, allow_ips, expires_at, scopes, budget, budget_month, budget_spent };
        const own = { id: newId('key', now), hash, last_four: lastFour, created_at: now };
        const old = { ...(await set(trx, id, { revoked_at: now + graceMs })), test_of };
        const fresh = { ...(await insert(trx, { ...own, ...settings, account_id: account })), test_of };
        const detail = { key: id, fresh: fresh.id, grace_seconds: Math.round(graceMs / 1000) };
        await writeAudit(trx, account, now, by, { action: 'key.rolled', target: name, detail });
        await emitEvent({ driver, trx, now }, account, 'key.created', keyEvent(fresh));
        await emitEvent({ driver, trx, now }, account, 'key.revoked', keyEvent(old));
        return { fresh: toKey(fresh), old: toKey(old) };
      });
    },
  };
}
