import type { Insertable, Kysely, Transaction, Updateable } from 'kysely';
import { type AlertWords, alertWords } from '../kernel/alert-words.ts';
import { DAY_MS, toIso } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import { isAlertType, MAILED_BY_DEFAULT } from '../kernel/facts/alerts.ts';
import {
  type DisabledReason,
  delivers,
  type OperatorEventType,
  subscribes,
  type WebhookEventData,
  type WebhookEventType,
} from '../kernel/facts/events.ts';
import { WEBHOOK_FAILING_DAYS, WEBHOOK_RETRY_SECONDS } from '../kernel/facts/lifetimes.ts';
import { WEBHOOK_BODY_BYTES, WEBHOOK_PREVIOUS_SECRETS_MAX, WEBHOOKS_MAX } from '../kernel/facts/limits.ts';
import { newId } from '../kernel/ids.ts';
import { lockAccount, lockExistingAccount } from './account-rows.ts';
import type { Scope } from './charge/shared-hold.ts';
import type { StorageDriver } from './driver.ts';
import { changesBetween, writeAudit } from './people/audit-log.ts';
import { adminsOf, mailAdmins } from './people/members.ts';
import { accountId, countOf, earlierSecretUntil, storable, storableOrNull } from './rows.ts';
import type {
  AccountId,
  Actor,
  AlertSettings,
  AttemptOutcome,
  Delivery,
  DeliveryAttempt,
  Dispatch,
  Store,
  Webhook,
  WebhookDisabledMail,
} from './store.ts';
import type { Row, Tables } from './tables.ts';

// Events of webhooks are written in the transaction that they report.

interface NewEvent {
  readonly event_id: string;
  readonly event: WebhookEventType;
  readonly body: string;
}

/** The event as it is sent (Standard Webhooks, "Payload structure"). */
function newEvent<T extends WebhookEventType>(type: T, data: WebhookEventData[T], now: number): NewEvent {
  // What the databases could not keep unchanged is replaced before the text is signed.
  const body = storable(JSON.stringify({ type, timestamp: toIso(now), data }));
  const bytes = Buffer.byteLength(body);
  if (bytes > WEBHOOK_BODY_BYTES) throw new RangeError(`The event ${type} has ${bytes} bytes.`);
  return { event_id: newId('msg', now), event: type, body };
}

/**
 * Tells the account's webhooks that subscribe to events of this type: their deliveries, and the jobs that send them,
 * commit with the caller's transaction, which has locked the account: a job that ends meanwhile would miss the event,
 * until `wake` finds it. Where there are none, nothing is written.
 */
export async function emitEvent<T extends WebhookEventType>(
  scope: Scope,
  account: string,
  type: T,
  data: WebhookEventData[T],
): Promise<void> {
  const { driver, trx, now } = scope;
  await mailAlert(scope, account, alertWords(type, data));
  const enabled = trx.selectFrom('webhooks').select(['id', 'events', 'format']).where('account_id', '=', account);
  const webhooks = await enabled.where('enabled', '=', 1).orderBy('id').execute();
  const subscribed = webhooks.filter((webhook) => receives(webhook, type));
  if (subscribed.length === 0) return;
  const event = newEvent(type, data, now);
  const rows = subscribed.map((webhook) => pendingRow(account, webhook.id, event, now));
  await trx.insertInto('webhook_deliveries').values(rows).execute();
  for (const { id } of subscribed) await addDeliveryJob(driver, trx, account, id);
}

/**
 * Tells the webhooks of the accounts that operators have chosen, but for those of the account itself. These accounts
 * are not locked, so as not to have every grant wait for them: a delivery whose job ends meanwhile is found by `wake`.
 */
export async function emitOperatorEvent<T extends OperatorEventType>(
  { driver, trx, now }: Scope,
  about: string,
  type: T,
  data: WebhookEventData[T],
): Promise<void> {
  const webhooks = await trx
    .selectFrom('webhooks')
    .innerJoin('accounts', 'accounts.id', 'webhooks.account_id')
    .select(['webhooks.id', 'webhooks.account_id', 'webhooks.events', 'webhooks.format'])
    .where('accounts.operator_events', '=', 1)
    .where('accounts.status', '=', 'active')
    .where('accounts.id', '<>', about)
    .where('webhooks.enabled', '=', 1)
    .orderBy('webhooks.id')
    .execute();
  const called = webhooks.filter((webhook) => receives(webhook, type));
  if (called.length === 0) return;
  const event = newEvent(type, data, now);
  const rows = called.map(({ id, account_id }) => pendingRow(account_id, id, event, now));
  await trx.insertInto('webhook_deliveries').values(rows).execute();
  for (const { id, account_id } of called) await addDeliveryJob(driver, trx, account_id, id);
}

/** A chat gets those that there are words for. */
const receives = ({ events, format }: Pick<Row<'webhooks'>, 'events' | 'format'>, type: WebhookEventType): boolean =>
  subscribes(JSON.parse(events), type) && (format === 'events' || isAlertType(type));

/** What the account has chosen of alerts by mail. */
export async function alertMails(db: Kysely<Tables>, account: string): Promise<AlertSettings> {
  const row = await db.selectFrom('alert_settings').selectAll().where('account_id', '=', account).executeTakeFirst();
  if (row === undefined) return { mails: MAILED_BY_DEFAULT, paused: false };
  const mails: string[] = JSON.parse(row.mails);
  return { mails: mails.filter(isAlertType), paused: row.paused === 1 };
}

/** To owners and admins, unless they have paused such mails, or their account is suspended. */
async function mailAlert({ driver, trx }: Scope, account: string, words: AlertWords | null): Promise<void> {
  if (words === null || !driver.sendsMail) return;
  const live = trx.selectFrom('accounts').select('name').where('id', '=', account).where('status', '=', 'active');
  const of = await live.where('test_of', 'is', null).executeTakeFirst();
  const { mails, paused } = await alertMails(trx, account);
  if (of === undefined || paused || !mails.includes(words.type)) return;
  for (const to of await adminsOf(trx, account)) {
    const payload = { to, account: of.name, ...words };
    await driver.jobs.add(trx, { kind: 'alert_mail', payload, account });
  }
}

/** What an event for operators says of its account. */
export const accountEvent = ({ id, name, external_id }: Pick<Row<'accounts'>, 'id' | 'name' | 'external_id'>) => ({
  id,
  name,
  external_id,
});

const pendingRow = (
  account: string,
  webhook: string,
  { event_id, event, body }: NewEvent,
  now: number,
): Insertable<Tables['webhook_deliveries']> => ({
  id: newId('dlv', now),
  account_id: account,
  webhook_id: webhook,
  event_id,
  event,
  body,
  status: 'pending',
  next_attempt_at: now,
  created_at: now,
  finished_at: null,
});

/** One that is open already sends this as well; at the latest, `wake` finds what it missed. */
const addDeliveryJob = (driver: Scope['driver'], trx: Transaction<Tables>, account: string, webhook: string) =>
  driver.jobs.add(trx, { kind: 'webhook_delivery', payload: { webhook }, key: webhook, account });

// Deliveries of webhooks: as they are listed, attempted and recorded.

// Webhooks and deliveries as rows.

/** `now`: an old secret whose time is over is not mentioned. */
const toWebhook = (row: Row<'webhooks'>, now: number): Webhook => ({
  id: row.id,
  accountId: accountId(row.account_id),
  url: row.format === 'slack' ? shownUrl(row) : row.url,
  format: row.format,
  events: JSON.parse(row.events),
  description: row.description,
  enabled: row.enabled === 1,
  disabledReason: row.disabled_reason,
  disabledAt: row.disabled_at,
  failingSince: row.failing_since,
  previousSecretUntil: earlierSecretUntil(row, now),
  createdAt: row.created_at,
});

/** The secrets that sign, the newest first. */
const signingSecrets = (row: Row<'webhooks'>, now: number): string[] =>
  row.previous_secret !== null && earlierSecretUntil(row, now) !== null
    ? [row.secret, ...row.previous_secret.split(BETWEEN_SECRETS)]
    : [row.secret];

/** It separates them in `previous_secret`. */
const BETWEEN_SECRETS = ' ';

type DeliveryRow = Omit<Row<'webhook_deliveries'>, 'body' | 'account_id'>;

const toDelivery = (row: DeliveryRow): Delivery => ({
  id: row.id,
  webhookId: row.webhook_id,
  eventId: row.event_id,
  event: row.event,
  status: row.status,
  attempts: JSON.parse(row.attempts),
  nextAttemptAt: row.next_attempt_at,
  createdAt: row.created_at,
  finishedAt: row.finished_at,
});

/** The columns of a delivery as it is listed. */
const DELIVERY_COLUMNS = [
  'id',
  'webhook_id',
  'event_id',
  'event',
  'status',
  'attempt_count',
  'attempts',
  'next_attempt_at',
  'created_at',
  'finished_at',
] as const;

/**
 * The audit log and mails show this: a query may hold what authenticates the sender. Whoever knows the path of a chat
 * may write to it: only its end is shown, to tell it from others.
 */
export function shownUrl({ url, format }: Pick<Row<'webhooks'>, 'url' | 'format'>): string {
  if (format === 'slack') return `${new URL(url).origin}/…${url.slice(-4)}`;
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

// What follows from an attempt to deliver.

const SERVICE: Actor = { kind: 'service', id: null, name: 'Mailvet', ip: null };

/**
 * Two failures that are further apart than the longest pause between retries say nothing about the time between them.
 */
const SILENCE_MS = 2 * Math.max(...WEBHOOK_RETRY_SECONDS) * 1000;

/** Gone (RFC 9110 §15.5.11): the receiver does not want any more. */
const GONE = 410;

interface AttemptAt {
  readonly at: number;
  readonly outcome: AttemptOutcome;
  /** Whether a failure is followed by further attempts. */
  readonly retried: boolean;
}

/**
 * Records an attempt at a delivery, in a transaction that has locked the account. Attempts are judged by `at`, when
 * they began.
 */
async function recordAttempt(
  scope: Scope,
  { webhook, delivery }: { webhook: Row<'webhooks'>; delivery: Row<'webhook_deliveries'> },
  { at, outcome, retried }: AttemptAt,
  mailTo: WebhookDisabledMail,
): Promise<void> {
  const { trx, now } = scope;
  const good = delivers(outcome.status);
  const health = good ? { failing_since: null, failed_at: null } : failing(webhook, at);
  const reason = good ? null : disabling(outcome, health.failing_since ?? at, at);
  const enabled = webhook.enabled === 1 && reason === null;
  const pauseSeconds = WEBHOOK_RETRY_SECONDS[delivery.attempt_count];
  // One whose webhook was disabled meanwhile is not pending any more.
  const again = !good && enabled && retried && delivery.status === 'pending' && pauseSeconds !== undefined;
  const earlier: DeliveryAttempt[] = JSON.parse(delivery.attempts);
  const attempt: DeliveryAttempt = { at, ...outcome, response: storableOrNull(outcome.response) };
  await trx
    .updateTable('webhook_deliveries')
    .set({
      attempt_count: delivery.attempt_count + 1,
      attempts: JSON.stringify([...earlier, attempt]),
      status: good ? 'delivered' : again ? 'pending' : 'failed',
      next_attempt_at: again ? now + pauseSeconds * 1000 : null,
      finished_at: again ? null : now,
    })
    .where('id', '=', delivery.id)
    .execute();
  if (webhook.failing_since !== health.failing_since || webhook.failed_at !== health.failed_at)
    await trx.updateTable('webhooks').set(health).where('id', '=', webhook.id).execute();
  if (reason !== null && webhook.enabled === 1) {
    await disableWebhook(scope, webhook.id, reason);
    await announce(scope, webhook, reason, mailTo);
  }
}

type EndpointHealth = { readonly failing_since: number | null; readonly failed_at: number | null };

function failing({ failing_since, failed_at }: EndpointHealth, at: number): EndpointHealth {
  const goesOn = failing_since !== null && failed_at !== null && at - failed_at <= SILENCE_MS;
  return { failing_since: goesOn ? failing_since : at, failed_at: at };
}

function disabling(outcome: AttemptOutcome, since: number, at: number): Exclude<DisabledReason, 'manual'> | null {
  if (outcome.status === GONE) return 'gone';
  return at - since >= WEBHOOK_FAILING_DAYS * DAY_MS ? 'failing' : null;
}

/** From now on it gets nothing; what is pending has failed. */
async function disableWebhook({ trx, now }: Scope, webhook: string, reason: DisabledReason): Promise<void> {
  const change: Updateable<Tables['webhooks']> = { enabled: 0, disabled_reason: reason, disabled_at: now };
  await trx.updateTable('webhooks').set(change).where('id', '=', webhook).execute();
  await trx
    .updateTable('webhook_deliveries')
    .set({ status: 'failed', next_attempt_at: null, finished_at: now })
    .where('webhook_id', '=', webhook)
    .where('status', '=', 'pending')
    .execute();
}

async function announce(
  { driver, trx, now }: Scope,
  webhook: Row<'webhooks'>,
  reason: Exclude<DisabledReason, 'manual'>,
  mailTo: WebhookDisabledMail,
): Promise<void> {
  const target = shownUrl(webhook);
  const detail = { webhook: webhook.id, reason };
  await writeAudit(trx, webhook.account_id, now, SERVICE, { action: 'webhook.disabled', target, detail });
  const of = trx.selectFrom('accounts').select('name').where('id', '=', webhook.account_id);
  const { name: account } = await of.executeTakeFirstOrThrow();
  await mailAdmins(driver, trx, webhook.account_id, (to) => mailTo({ account, webhook: target, reason }, to));
}

type DeliveryMethods =
  | 'deliveries'
  | 'deliveryCounts'
  | 'delivery'
  | 'replay'
  | 'due'
  | 'record'
  | 'finish'
  | 'prepareTest'
  | 'recordTest'
  | 'wake';

/** One step of `wake` looks at this many webhooks. */
const WAKE_BATCH = 200;

function deliveryMethods(driver: StorageDriver): Pick<Store['webhooks'], DeliveryMethods> {
  const { db } = driver;
  const webhookOf = (from: Pick<typeof db, 'selectFrom'>, account: AccountId, id: string) =>
    from.selectFrom('webhooks').selectAll().where('account_id', '=', account).where('id', '=', id).executeTakeFirst();

  return {
    async deliveries(account, id, { offset, limit, status }) {
      if ((await webhookOf(db, account, id)) === undefined) return null;
      const all = db.selectFrom('webhook_deliveries').where('webhook_id', '=', id).where('account_id', '=', account);
      const mine = status === undefined ? all : all.where('status', '=', status);
      const newest = mine.select(DELIVERY_COLUMNS).orderBy('created_at', 'desc').orderBy('id', 'desc');
      const rows = await newest.offset(offset).limit(limit).execute();
      return { items: rows.map(toDelivery), total: await countOf(mine) };
    },

    async deliveryCounts(account, since) {
      const rows = await db
        .selectFrom('webhook_deliveries')
        .where('account_id', '=', account)
        .where('created_at', '>=', since)
        .groupBy('webhook_id')
        .select(({ fn, eb }) => [
          'webhook_id',
          fn.countAll<number>().filterWhere('status', '=', 'delivered').as('delivered'),
          fn.countAll<number>().filterWhere('status', '=', 'failed').as('failed'),
          eb.fn.max('created_at').as('last_at'),
        ])
        .execute();
      return rows.map((row) => ({
        webhookId: row.webhook_id,
        delivered: row.delivered,
        failed: row.failed,
        lastAt: row.last_at,
      }));
    },

    async delivery(account, id) {
      const mine = db.selectFrom('webhook_deliveries').where('id', '=', id).where('account_id', '=', account);
      const row = await mine.select(DELIVERY_COLUMNS).select('body').executeTakeFirst();
      if (row === undefined) return null;
      const sent = await dispatchOf(db, row.webhook_id);
      return sent === undefined ? null : { delivery: toDelivery(row), body: row.body, ...sent };
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
      const [url, secrets] = [webhook.url, signingSecrets(webhook, now)];
      const of = await dispatchOf(db, id);
      if (of === undefined) return { due: [], failingForMs: null };
      return {
        due: (await due.execute()).map((row) => ({
          id: row.id,
          url,
          secrets,
          body: row.body,
          at: now,
          ...of,
          eventId: row.event_id,
          attemptCount: row.attempt_count,
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
      const of = await dispatchOf(db, id);
      if (of === undefined) return null;
      const { url } = webhook;
      return { webhookId: id, url, secrets: signingSecrets(webhook, now), eventId: event_id, body, at: now, ...of };
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

/** Returns in which form it is sent to a webhook, and whose that is. */
async function dispatchOf(
  from: Kysely<Tables>,
  webhook: string,
): Promise<Pick<Dispatch, 'format' | 'account'> | undefined> {
  const of = from.selectFrom('webhooks').innerJoin('accounts', 'accounts.id', 'webhooks.account_id');
  const row = await of
    .select(['webhooks.format', 'accounts.id', 'accounts.name'])
    .where('webhooks.id', '=', webhook)
    .executeTakeFirst();
  return row && { format: row.format, account: { id: row.id, name: row.name } };
}

/** Returns the webhook if it is enabled and its account active. */
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

/** Finds webhooks with something due, by id. */
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

export function webhooks(driver: StorageDriver): Store['webhooks'] {
  const { db } = driver;
  /** Reads it, locked with its account. */
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
    ...deliveryMethods(driver),

    async create(account, { url, format, events, description, secret }, by) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        await lockExistingAccount(driver, trx, account);
        const all = trx.selectFrom('webhooks').where('account_id', '=', account);
        if ((await countOf(all)) >= WEBHOOKS_MAX) throw new ApiError('too_many_webhooks');
        const row = await trx
          .insertInto('webhooks')
          .values({
            id: newId('whk', now),
            account_id: account,
            url: storable(url),
            format,
            events: JSON.stringify(events),
            description: storableOrNull(description),
            secret,
            enabled: 1,
            created_at: now,
          })
          .returningAll()
          .executeTakeFirstOrThrow();
        const detail = { webhook: row.id, events };
        await writeAudit(trx, account, now, by, { action: 'webhook.created', target: shownUrl(row), detail });
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
        if (enabled === false && before.enabled === 1) await disableWebhook({ driver, trx, now }, id, 'manual');
        const after = await set(trx, id, {
          url: url === undefined ? before.url : storable(url),
          events: events === undefined ? before.events : JSON.stringify(events),
          description: description === undefined ? before.description : storableOrNull(description),
          // What failed was the endpoint as it was.
          ...(enabled === true || (url !== undefined && url !== before.url) ? UNTRIED : {}),
          ...(enabled === true ? ENABLED : {}),
        });
        const detail = changedFields(before, after);
        const target = shownUrl(before);
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
        const earlier = signingSecrets(before, now).slice(0, WEBHOOK_PREVIOUS_SECRETS_MAX);
        const previous = { previous_secret: earlier.join(BETWEEN_SECRETS), previous_until: now + overlapMs };
        const after = await set(trx, id, { secret, ...previous });
        const target = shownUrl(before);
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
        const target = shownUrl(before);
        await writeAudit(trx, account, now, by, { action: 'webhook.deleted', target, detail: { webhook: id } });
        return true;
      });
    },
  };
}

const ENABLED = { enabled: 1, disabled_reason: null, disabled_at: null } as const;
const UNTRIED = { failing_since: null, failed_at: null } as const;

/** Tells the audit log what changed. */
function changedFields(before: Row<'webhooks'>, after: Row<'webhooks'>): Record<string, unknown> | null {
  const fields = ({ url, events, description, enabled }: Row<'webhooks'>) => ({
    url,
    events: JSON.parse(events),
    description,
    enabled: enabled === 1,
  });
  const changes = changesBetween(fields(before), fields(after));
  if (changes?.url !== undefined) changes.url = { from: shownUrl(before), to: shownUrl(after) };
  return changes && { webhook: after.id, ...changes };
}
