import { DAY_MS, MINUTE_MS } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import { OPERATOR_KEY_DAYS, OPERATOR_KEYS_MAX } from '../kernel/facts/limits.ts';
import { OPERATOR_SCOPES } from '../kernel/facts/scopes.ts';
import { newId } from '../kernel/ids.ts';
import type { StorageDriver } from './driver.ts';
import { writeAudit } from './people/audit-log.ts';
import { countOf, storable } from './rows.ts';
import type { OperatorKey, Store } from './store.ts';
import type { Row } from './tables.ts';

const toOperatorKey = (row: Row<'operator_keys'>): OperatorKey => {
  const named = row.scopes.split(' ');
  return {
    id: row.id,
    name: row.name,
    lastFour: row.last_four,
    allowIps: JSON.parse(row.allow_ips),
    scopes: OPERATOR_SCOPES.filter((scope) => named.includes(scope)),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
    lastUsedIp: row.last_used_ip,
  };
};

function checkOperatorKeyExpiry(expiresAt: number, now: number): void {
  if (expiresAt > now && expiresAt <= now + OPERATOR_KEY_DAYS.max * DAY_MS) return;
  const message = `expires_at must be in the future, and at most ${OPERATOR_KEY_DAYS.max} days from now.`;
  throw new ApiError('invalid_parameter', message, { field: 'expires_at' });
}

export function operatorKeys(driver: StorageDriver): Store['operatorKeys'] {
  const { db } = driver;
  return {
    async create({ name, hash, lastFour, allowIps, scopes, expiresAt }, by) {
      if (allowIps.length === 0 || scopes.length === 0)
        throw new RangeError('An operator key needs an allowlist and a scope.');
      const now = await driver.now();
      checkOperatorKeyExpiry(expiresAt, now);
      return driver.transaction(async (trx) => {
        await driver.advisoryLock(trx, 'operator keys');
        const valid = trx.selectFrom('operator_keys').where('revoked_at', 'is', null).where('expires_at', '>', now);
        if ((await countOf(valid)) >= OPERATOR_KEYS_MAX)
          throw new ApiError('too_many_keys', `There can be at most ${OPERATOR_KEYS_MAX} operator keys.`);
        const values = { id: newId('opk', now), name: storable(name), hash, last_four: lastFour, created_at: now };
        const limits = { allow_ips: JSON.stringify(allowIps), scopes: scopes.join(' '), expires_at: expiresAt };
        const row = await trx
          .insertInto('operator_keys')
          .values({ ...values, ...limits })
          .returningAll()
          .executeTakeFirstOrThrow();
        const detail = { key: row.id, last_four: lastFour, allow_ips: allowIps, scopes, expires_at: expiresAt };
        await writeAudit(trx, null, now, by, { action: 'operator_key.created', target: name, detail });
        return toOperatorKey(row);
      });
    },

    async list() {
      const newestFirst = db
        .selectFrom('operator_keys')
        .selectAll()
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc');
      return (await newestFirst.execute()).map(toOperatorKey);
    },

    async find(hash) {
      const now = await driver.now();
      const row = await db.selectFrom('operator_keys').selectAll().where('hash', '=', hash).executeTakeFirst();
      return row === undefined ? null : { key: toOperatorKey(row), now };
    },

    async recordUse(id, ip) {
      const now = await driver.now();
      await db
        .updateTable('operator_keys')
        .set({ last_used_at: now, last_used_ip: ip })
        .where('id', '=', id)
        .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<', now - MINUTE_MS)]))
        .execute();
    },

    async revoke(id, by) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        const mine = trx.updateTable('operator_keys').set({ revoked_at: now }).where('id', '=', id);
        const revoked = await mine.where('revoked_at', 'is', null).returningAll().executeTakeFirst();
        if (revoked === undefined) {
          const row = await trx.selectFrom('operator_keys').selectAll().where('id', '=', id).executeTakeFirst();
          return row === undefined ? null : toOperatorKey(row);
        }
        const target = revoked.name;
        await writeAudit(trx, null, now, by, { action: 'operator_key.revoked', target, detail: { key: id } });
        return toOperatorKey(revoked);
      });
    },
  };
}
