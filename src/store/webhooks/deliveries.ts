/** Deliveries of webhooks: as they are listed, attempted and recorded. */
import type { Kysely, Transaction } from 'kysely';
import type { StorageDriver } from '../driver.ts';
import { lockAccount } from '../lock.ts';
import type { AccountId, Webhooks } from '../store.ts';
import type { Row, Tables } from '../tables.ts';
import { addDeliveryJob, newEvent, pendingRow } from './emit.ts';
import { recordAttempt } from './record.ts';
import { DELIVERY_COLUMNS, secretsOf, toDelivery } from './rows.ts';

type DeliveryMethods = 'deliveries' | 'replay' | 'due' | 'record' | 'finish' | 'prepareTest' | 'recordTest' | 'wake';

/** Webhooks looked at in one step of `wake`. */
const WAKE_BATCH = 200;

export function deliveries(driver: StorageDriver): Pick<Webhooks, DeliveryMethods> {
  const { db } = driver;
  const webhookOf = (from: Pick<typeof db, 'selectFrom'>, account: AccountId, id: string) =>
    from.selectFrom('webhooks').selectAll().where('account_id', '=', account).where('id', '=', id).executeTakeFirst();

  return {
    async deliveries(account, id, { offset, limit }) {
      if ((await webhookOf(db, account, id)) === undefined) return null;
      const mine = db.selectFrom('webhook_deliveries').where('webhook_id', '=', id).where('account_id', '=', account);
      const newest = mine.select(DELIVERY_COLUMNS).orderBy('created_at', 'desc').orderBy('id', 'desc');
      const rows = await newest.offset(offset).limit(limit).execute();
      const { n } = await mine.select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow();
      return { items: rows.map(toDelivery), total: n };
    },

    async replay(account, id) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        if ((await lockAccount(driver, trx, account)) === null) return { outcome: 'not_found' };
        const found = await deliveryOf(trx, id);
        const webhook = found?.account_id === account ? await webhookOf(trx, account, found.webhook_id) : undefined;
        if (found === undefined || webhook === undefined) return { outcome: 'not_found' };
        if (webhook.enabled !== 1) return { outcome: 'disabled' };
        const row = found.status === 'pending' ? await hasten(trx, id, now) : await repeat(trx, found, now);
        await addDeliveryJob(driver, trx, account, webhook.id);
        return { outcome: 'replayed', delivery: toDelivery(row) };
      });
    },

    async due(id, most) {
      const now = await driver.now();
      const webhook = await servedWebhook(db, id);
      if (webhook === undefined) return { due: [], failingForMs: null };
      const inOrder = pendingOf(db, id).select(['id', 'event_id', 'body', 'attempt_count']);
      const due = inOrder.where('next_attempt_at', '<=', now).orderBy('next_attempt_at').orderBy('id').limit(most);
      const [url, secrets] = [webhook.url, secretsOf(webhook, now)];
      return {
        due: (await due.execute()).map((row) => ({
          ...{ id: row.id, url, secrets, body: row.body, at: now },
          ...{ eventId: row.event_id, attemptCount: row.attempt_count },
        })),
        failingForMs: webhook.failing_since === null ? null : Math.max(0, now - webhook.failing_since),
      };
    },

    async finish(job, { pauseMs, soonMs }) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        // As those who emit events have: they find this job open, or it finds what they wrote.
        if (job.account !== null) await driver.lockAccounts(trx, [job.account]);
        const { webhook: id } = job.payload;
        const isServed = (await servedWebhook(trx, id)) !== undefined;
        const first = pendingOf(trx, id).select('next_attempt_at').where('next_attempt_at', 'is not', null);
        const next = isServed ? await first.orderBy('next_attempt_at').limit(1).executeTakeFirst() : undefined;
        const waitMs = next === undefined ? null : Math.max(pauseMs, (next.next_attempt_at ?? now) - now);
        if (waitMs !== null && waitMs <= 0) return false;
        await driver.jobs.done(trx, job, waitMs !== null && waitMs <= Math.max(soonMs, pauseMs) ? waitMs : null);
        return true;
      });
    },

    async record({ id, attemptCount, at }, outcome, mailTo) {
      const now = await driver.now();
      const owner = await db
        .selectFrom('webhook_deliveries')
        .select('account_id')
        .where('id', '=', id)
        .executeTakeFirst();
      if (owner === undefined) return false;
      return driver.transaction(async (trx) => {
        if ((await lockAccount(driver, trx, owner.account_id)) === null) return false;
        const delivery = await deliveryOf(trx, id);
        if (delivery === undefined || delivery.attempt_count !== attemptCount) return false;
        const of = trx.selectFrom('webhooks').selectAll().where('id', '=', delivery.webhook_id);
        const webhook = await of.executeTakeFirst();
        if (webhook === undefined) return false;
        await recordAttempt({ driver, trx, now }, { webhook, delivery }, { at, outcome, retried: true }, mailTo);
        return true;
      });
    },

    async prepareTest(account, id) {
      const now = await driver.now();
      const webhook = await webhookOf(db, account, id);
      if (webhook === undefined) return null;
      const { event_id, body } = newEvent('ping', { webhook_id: id }, now);
      return { webhookId: id, url: webhook.url, secrets: secretsOf(webhook, now), eventId: event_id, body, at: now };
    },

    async recordTest(account, { webhookId, eventId, body, at }, outcome, mailTo) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        if ((await lockAccount(driver, trx, account)) === null) return null;
        const webhook = await webhookOf(trx, account, webhookId);
        if (webhook === undefined) return null;
        const row = pendingRow(account, webhookId, { event_id: eventId, event: 'ping', body }, at);
        const insertion = trx.insertInto('webhook_deliveries').values({ ...row, next_attempt_at: null });
        const delivery = await insertion.returningAll().executeTakeFirstOrThrow();
        await recordAttempt({ driver, trx, now }, { webhook, delivery }, { at, outcome, retried: false }, mailTo);
        return toDelivery((await deliveryOf(trx, delivery.id)) ?? delivery);
      });
    },

    async wake(signal) {
      const now = await driver.now();
      for (let after = ''; !signal?.aborted; ) {
        const rows = await withDue(driver, now, after);
        if (rows.length === 0) return;
        await driver.transaction(async (trx) => {
          for (const { id, account_id } of rows) await addDeliveryJob(driver, trx, account_id, id);
        });
        if (rows.length < WAKE_BATCH) return;
        after = rows.at(-1)?.id ?? '';
      }
    },
  };
}

/** The webhook if it is enabled and its account active. */
const servedWebhook = (from: Kysely<Tables>, id: string) =>
  from
    .selectFrom('webhooks as w')
    .innerJoin('accounts as a', 'a.id', 'w.account_id')
    .selectAll('w')
    .where('w.id', '=', id)
    .where('w.enabled', '=', 1)
    .where('a.status', '=', 'active')
    .executeTakeFirst();

const pendingOf = (from: Kysely<Tables>, webhook: string) =>
  from.selectFrom('webhook_deliveries').where('webhook_id', '=', webhook).where('status', '=', 'pending');

const deliveryOf = (trx: Transaction<Tables>, id: string) =>
  trx.selectFrom('webhook_deliveries').selectAll().where('id', '=', id).executeTakeFirst();

const hasten = (trx: Transaction<Tables>, id: string, now: number) =>
  trx
    .updateTable('webhook_deliveries')
    .set({ next_attempt_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();

const repeat = (trx: Transaction<Tables>, earlier: Row<'webhook_deliveries'>, now: number) =>
  trx
    .insertInto('webhook_deliveries')
    .values(pendingRow(earlier.account_id, earlier.webhook_id, earlier, now))
    .returningAll()
    .executeTakeFirstOrThrow();

/** Webhooks with something due, by id. */
const withDue = ({ db }: StorageDriver, now: number, after: string) =>
  db
    .selectFrom('webhooks as w')
    .innerJoin('accounts as a', 'a.id', 'w.account_id')
    .select(['w.id', 'w.account_id'])
    .where('w.id', '>', after)
    .where('w.enabled', '=', 1)
    .where('a.status', '=', 'active')
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('webhook_deliveries as d')
          .select('d.id')
          .whereRef('d.webhook_id', '=', 'w.id')
          .where('d.status', '=', 'pending')
          .where('d.next_attempt_at', '<=', now),
      ),
    )
    .orderBy('w.id')
    .limit(WAKE_BATCH)
    .execute();
