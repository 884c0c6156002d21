import type { Transaction, Updateable } from 'kysely';
import { MINUTE_MS } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import { HOOKS_MAX } from '../kernel/facts/limits.ts';
import { termsOf } from '../kernel/facts/plans.ts';
import { newId } from '../kernel/ids.ts';
import { lockAccount, lockExistingAccount } from './account-rows.ts';
import { rateLimitOf } from './charge/window.ts';
import type { StorageDriver } from './driver.ts';
import { changesBetween, writeAudit } from './people/audit-log.ts';
import { accountId, countOf, earlierSecretUntil, storable, storableOrNull } from './rows.ts';
import type { AccountId, Hook, HookSettings, Store } from './store.ts';
import type { Row, Tables } from './tables.ts';

/** How often the last use of a hook is written, so that most calls only read. */
const USE_RECORDED_EVERY_MS = MINUTE_MS;

/** `now`: an old secret whose time is over is not mentioned. */
const toHook = (row: Row<'hooks'>, now: number): Hook => ({
  id: row.id,
  accountId: accountId(row.account_id),
  kind: row.kind,
  name: row.name,
  policy: row.policy,
  scope: row.scope,
  timeoutMs: row.timeout_ms,
  rateLimit: row.rate_limit,
  hasSecret: row.secret !== null,
  previousSecretUntil: earlierSecretUntil(row, now),
  createdAt: row.created_at,
  lastUsedAt: row.last_used_at,
});

type SecretColumns = Pick<Row<'hooks'>, 'secret' | 'previous_secret' | 'previous_until'>;

/** The secrets with which a hook, or a connection with a provider, may be called: the newest first. */
export function secretsOf(row: SecretColumns, now: number): string[] {
  const earlier = earlierSecretUntil(row, now) === null ? null : row.previous_secret;
  return row.secret === null ? [] : [row.secret, earlier].filter((secret) => secret !== null);
}

/** With a new secret, the one before is accepted for a while. `grace`: for the audit log. */
export function rolledSecret({ secret: before }: SecretColumns, secret: string, graceMs: number, now: number) {
  const columns = { secret, previous_secret: before, previous_until: before === null ? null : now + graceMs };
  return { columns, grace: before === null ? {} : { grace_seconds: Math.round(graceMs / 1000) } };
}

const hookSettings = (row: Row<'hooks'>): HookSettings => ({
  name: row.name,
  policy: row.policy,
  scope: row.scope,
  timeoutMs: row.timeout_ms,
  rateLimit: row.rate_limit,
});

const hookColumns = ({ name, policy, scope, timeoutMs, rateLimit }: HookSettings) => ({
  name: storable(name),
  policy: storable(policy),
  scope: storableOrNull(scope),
  timeout_ms: timeoutMs,
  rate_limit: rateLimit,
});

export function hooks(driver: StorageDriver): Store['hooks'] {
  const { db } = driver;
  /** Reads it, locked with its account. */
  const mine = async (trx: Transaction<Tables>, account: AccountId, id: string) => {
    if ((await lockAccount(driver, trx, account)) === null) return undefined;
    return trx
      .selectFrom('hooks')
      .selectAll()
      .where('account_id', '=', account)
      .where('id', '=', id)
      .executeTakeFirst();
  };
  const set = (trx: Transaction<Tables>, id: string, change: Updateable<Tables['hooks']>) =>
    trx.updateTable('hooks').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow();
  const notDeleted = () =>
    db
      .selectFrom('hooks as h')
      .innerJoin('accounts as a', 'a.id', 'h.account_id')
      .selectAll('h')
      .where('a.status', '<>', 'deleted');

  return {
    async create(account, { kind, secret, ...settings }, by) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        await lockExistingAccount(driver, trx, account);
        const all = trx.selectFrom('hooks').where('account_id', '=', account);
        if ((await countOf(all)) >= HOOKS_MAX) throw new ApiError('too_many_hooks');
        const row = await trx
          .insertInto('hooks')
          .values({
            id: newId('hook', now),
            account_id: account,
            kind,
            secret,
            created_at: now,
            ...hookColumns(settings),
          })
          .returningAll()
          .executeTakeFirstOrThrow();
        const detail = { hook: row.id, kind, policy: row.policy };
        await writeAudit(trx, account, now, by, { action: 'hook.created', target: row.name, detail });
        return toHook(row, now);
      });
    },

    async list(account) {
      const now = await driver.now();
      const mine = notDeleted().where('h.account_id', '=', account);
      const rows = await mine.orderBy('h.created_at').orderBy('h.id').execute();
      return rows.map((row) => toHook(row, now));
    },

    async get(account, id) {
      const now = await driver.now();
      const row = await notDeleted().where('h.account_id', '=', account).where('h.id', '=', id).executeTakeFirst();
      return row === undefined ? null : toHook(row, now);
    },

    async update(account, id, change, by) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        const before = await mine(trx, account, id);
        if (before === undefined) return null;
        const after = await set(trx, id, hookColumns({ ...hookSettings(before), ...change }));
        const changes = changesBetween(hookColumns(hookSettings(before)), hookColumns(hookSettings(after)));
        const detail = { hook: id, ...changes };
        if (changes !== null)
          await writeAudit(trx, account, now, by, { action: 'hook.changed', target: before.name, detail });
        return toHook(after, now);
      });
    },

    async roll(account, id, secret, graceMs, by) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        const before = await mine(trx, account, id);
        if (before === undefined) return null;
        const { columns, grace } = rolledSecret(before, secret, graceMs, now);
        const after = await set(trx, id, columns);
        const detail = { hook: id, ...grace };
        await writeAudit(trx, account, now, by, { action: 'hook.secret_rolled', target: before.name, detail });
        return toHook(after, now);
      });
    },

    async remove(account, id, by) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        const before = await mine(trx, account, id);
        if (before === undefined) return false;
        await trx.deleteFrom('hooks').where('id', '=', id).execute();
        const detail = { hook: id, kind: before.kind };
        await writeAudit(trx, account, now, by, { action: 'hook.deleted', target: before.name, detail });
        return true;
      });
    },

    async find(id) {
      const now = await driver.now();
      const row = await notDeleted()
        .select(['a.plan', 'a.rate_limit as account_rate_limit', 'a.status', 'a.test_of'])
        .where('h.id', '=', id)
        .executeTakeFirst();
      if (row === undefined) return null;
      const { plan, status, test_of, account_rate_limit: rateLimit } = row;
      return {
        ...toHook(row, now),
        secrets: secretsOf(row, now),
        plan,
        suspended: status !== 'active',
        test: test_of !== null,
        requestsPerWindow: rateLimitOf({ rateLimit }, termsOf(driver.plans, plan)),
      };
    },

    async used(ids) {
      const now = await driver.now();
      await db
        .updateTable('hooks')
        .set({ last_used_at: now })
        .where('id', 'in', ids)
        .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<', now - USE_RECORDED_EVERY_MS)]))
        .execute();
    },
  };
}
