import type { Transaction, Updateable } from 'kysely';
import { ApiError } from '../../kernel/errors.ts';
import { WEBHOOK_PREVIOUS_SECRETS_MAX, WEBHOOKS_MAX } from '../../kernel/facts/limits.ts';
import { newId } from '../../kernel/ids.ts';
import type { StorageDriver } from '../driver.ts';
import { lockAccount, lockExistingAccount } from '../lock.ts';
import { writeAudit } from '../people/audit-log.ts';
import type { AccountId, Webhooks } from '../store.ts';
import type { Row, Tables } from '../tables.ts';
import { storable, storableOrNull } from '../text.ts';
import { deliveries } from './deliveries.ts';
import { disable } from './record.ts';
import { BETWEEN_SECRETS, secretsOf, toWebhook, withoutQuery } from './rows.ts';

export function webhooks(driver: StorageDriver): Webhooks {
  const { db } = driver;
  /** Locked with its account. */
  const mine = async (trx: Transaction<Tables>, account: AccountId, id: string) => {
    if ((await lockAccount(driver, trx, account)) === null) return undefined;
    return trx
      .selectFrom('webhooks')
      .selectAll()
      .where('account_id', '=', account)
      .where('id', '=', id)
      .executeTakeFirst();
  };
  const set = (trx: Transaction<Tables>, id: string, change: Updateable<Tables['webhooks']>) =>
    trx.updateTable('webhooks').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow();
  const notDeleted = (account: AccountId) =>
    db
      .selectFrom('webhooks as w')
      .innerJoin('accounts as a', 'a.id', 'w.account_id')
      .selectAll('w')
      .where('w.account_id', '=', account)
      .where('a.status', '<>', 'deleted');

  return {
    ...deliveries(driver),

    async create(account, { url, events, description, secret }, by) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        await lockExistingAccount(driver, trx, account);
        const all = trx.selectFrom('webhooks').where('account_id', '=', account);
        const { n } = await all.select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow();
        if (n >= WEBHOOKS_MAX) throw new ApiError('too_many_webhooks');
        const row = await trx
          .insertInto('webhooks')
          .values({
            id: newId('whk', now),
            account_id: account,
            url: storable(url),
            events: JSON.stringify(events),
            description: storableOrNull(description),
            secret,
            enabled: 1,
            created_at: now,
          })
          .returningAll()
          .executeTakeFirstOrThrow();
        const detail = { webhook: row.id, events };
        await writeAudit(trx, account, now, by, { action: 'webhook.created', target: withoutQuery(row.url), detail });
        return toWebhook(row, now);
      });
    },

    async list(account) {
      const now = await driver.now();
      const rows = await notDeleted(account).orderBy('w.created_at').orderBy('w.id').execute();
      return rows.map((row) => toWebhook(row, now));
    },

    async get(account, id) {
      const now = await driver.now();
      const row = await notDeleted(account).where('w.id', '=', id).executeTakeFirst();
      return row === undefined ? null : toWebhook(row, now);
    },

    async update(account, id, { url, events, description, enabled }, by) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        const before = await mine(trx, account, id);
        if (before === undefined) return null;
        if (enabled === false && before.enabled === 1) await disable({ driver, trx, now }, id, 'manual');
        const after = await set(trx, id, {
          url: url === undefined ? before.url : storable(url),
          events: events === undefined ? before.events : JSON.stringify(events),
          description: description === undefined ? before.description : storableOrNull(description),
          // What failed was the endpoint as it was.
          ...(enabled === true || (url !== undefined && url !== before.url) ? UNTRIED : {}),
          ...(enabled === true ? ENABLED : {}),
        });
        const detail = changed(before, after);
        const target = withoutQuery(before.url);
        if (detail !== null) await writeAudit(trx, account, now, by, { action: 'webhook.changed', target, detail });
        return toWebhook(after, now);
      });
    },

    async rotate(account, id, secret, overlapMs, by) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        const before = await mine(trx, account, id);
        if (before === undefined) return null;
        // Whoever rotates again within that time, or repeats the request, may still have a receiver with an older one.
        const earlier = secretsOf(before, now).slice(0, WEBHOOK_PREVIOUS_SECRETS_MAX);
        const previous = { previous_secret: earlier.join(BETWEEN_SECRETS), previous_until: now + overlapMs };
        const after = await set(trx, id, { secret, ...previous });
        const target = withoutQuery(before.url);
        await writeAudit(trx, account, now, by, { action: 'webhook.secret_rotated', target, detail: { webhook: id } });
        return toWebhook(after, now);
      });
    },

    async remove(account, id, by) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        const before = await mine(trx, account, id);
        if (before === undefined) return false;
        await trx.deleteFrom('webhook_deliveries').where('webhook_id', '=', id).execute();
        await trx.deleteFrom('webhooks').where('id', '=', id).execute();
        const target = withoutQuery(before.url);
        await writeAudit(trx, account, now, by, { action: 'webhook.deleted', target, detail: { webhook: id } });
        return true;
      });
    },
  };
}

const ENABLED = { enabled: 1, disabled_reason: null, disabled_at: null } as const;
const UNTRIED = { failing_since: null, failed_at: null } as const;

/** For the audit log: what changed. */
function changed(before: Row<'webhooks'>, after: Row<'webhooks'>): Record<string, unknown> | null {
  const fields = {
    url: ({ url }: Row<'webhooks'>) => url,
    events: ({ events }: Row<'webhooks'>): unknown => JSON.parse(events),
    description: ({ description }: Row<'webhooks'>) => description,
    enabled: ({ enabled }: Row<'webhooks'>) => enabled === 1,
  };
  const detail = Object.entries(fields).flatMap(([name, read]) => {
    const [from, to] = [read(before), read(after)];
    if (JSON.stringify(from) === JSON.stringify(to)) return [];
    const hidden = typeof from === 'string' && typeof to === 'string' && name === 'url';
    return [[name, hidden ? { from: withoutQuery(from), to: withoutQuery(to) } : { from, to }] as const];
  });
  return detail.length === 0 ? null : { webhook: after.id, ...Object.fromEntries(detail) };
}
