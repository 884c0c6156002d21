import type { Transaction } from 'kysely';
import { ApiError } from '../kernel/errors.ts';
import { OUTCOME_SOURCES_MAX } from '../kernel/facts/limits.ts';
import { newId } from '../kernel/ids.ts';
import { lockAccount, lockExistingAccount } from './account-rows.ts';
import type { StorageDriver } from './driver.ts';
import { rolledSecret, secretsOf } from './hooks.ts';
import { writeAudit } from './people/audit-log.ts';
import { accountId, countOf, earlierSecretUntil, storable } from './rows.ts';
import type { AccountId, OutcomeSource, Store } from './store.ts';
import type { Row, Tables } from './tables.ts';

/** `now`: an old secret whose time is over is not mentioned. */
const toSource = (row: Row<'outcome_sources'>, now: number): OutcomeSource => ({
  id: row.id,
  accountId: accountId(row.account_id),
  provider: row.provider,
  name: row.name,
  hasSecret: row.secret !== null,
  previousSecretUntil: earlierSecretUntil(row, now),
  received: row.received,
  createdAt: row.created_at,
  lastReceivedAt: row.last_received_at,
});

export function outcomeSources(driver: StorageDriver): Store['outcomeSources'] {
  const { db } = driver;
  /** Reads it, locked with its account. */
  const mine = async (trx: Transaction<Tables>, account: AccountId, id: string) => {
    if ((await lockAccount(driver, trx, account)) === null) return undefined;
    return trx
      .selectFrom('outcome_sources')
      .selectAll()
      .where('account_id', '=', account)
      .where('id', '=', id)
      .executeTakeFirst();
  };
  const notDeleted = () =>
    db
      .selectFrom('outcome_sources as s')
      .innerJoin('accounts as a', 'a.id', 's.account_id')
      .selectAll('s')
      .where('a.status', '<>', 'deleted');

  return {
    async create(account, { provider, name, secret }, by) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        await lockExistingAccount(driver, trx, account);
        const all = trx.selectFrom('outcome_sources').where('account_id', '=', account);
        if ((await countOf(all)) >= OUTCOME_SOURCES_MAX) throw new ApiError('too_many_outcome_sources');
        const row = await trx
          .insertInto('outcome_sources')
          .values({
            id: newId('out', now),
            account_id: account,
            provider,
            name: storable(name),
            secret,
            created_at: now,
          })
          .returningAll()
          .executeTakeFirstOrThrow();
        const detail = { source: row.id, provider };
        await writeAudit(trx, account, now, by, { action: 'outcome_source.created', target: row.name, detail });
        return toSource(row, now);
      });
    },

    async list(account) {
      const now = await driver.now();
      const all = notDeleted().where('s.account_id', '=', account);
      const rows = await all.orderBy('s.created_at').orderBy('s.id').execute();
      return rows.map((row) => toSource(row, now));
    },

    async get(account, id) {
      const now = await driver.now();
      const row = await notDeleted().where('s.account_id', '=', account).where('s.id', '=', id).executeTakeFirst();
      return row === undefined ? null : toSource(row, now);
    },

    async roll(account, id, secret, graceMs, by) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        const before = await mine(trx, account, id);
        if (before === undefined) return null;
        const { columns, grace } = rolledSecret(before, secret, graceMs, now);
        const change = trx.updateTable('outcome_sources').set(columns).where('id', '=', id);
        const after = await change.returningAll().executeTakeFirstOrThrow();
        const [target, detail] = [before.name, { source: id, ...grace }];
        await writeAudit(trx, account, now, by, { action: 'outcome_source.secret_rolled', target, detail });
        return toSource(after, now);
      });
    },

    async remove(account, id, by) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        const before = await mine(trx, account, id);
        if (before === undefined) return false;
        await trx.deleteFrom('outcome_sources').where('id', '=', id).execute();
        const detail = { source: id, provider: before.provider };
        await writeAudit(trx, account, now, by, { action: 'outcome_source.deleted', target: before.name, detail });
        return true;
      });
    },

    async find(id) {
      const now = await driver.now();
      const row = await notDeleted()
        .select(['a.plan', 'a.status', 'a.test_of'])
        .where('s.id', '=', id)
        .executeTakeFirst();
      if (row === undefined) return null;
      const { plan, status, test_of: testOf } = row;
      return {
        ...toSource(row, now),
        secrets: secretsOf(row, now),
        plan,
        suspended: status !== 'active',
        test: testOf !== null,
      };
    },
  };
}
