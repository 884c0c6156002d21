/**
 * What alerts are about, and that each cause is reported once: it has a row from the moment at which it is reported
 * until it ends.
 */
import { type Kysely, sql } from 'kysely';
import { DAY_MS, HOUR_MS, MINUTE_MS, monthOf, toIso } from '../kernel/clock.ts';
import {
  type AlertType,
  BUDGET_ALERT_PERCENT,
  type LastingAlertType,
  MAILBOX_CHECK_DAYS,
  REACHED_AGAIN_MINUTES,
  UNUSUAL,
  WEBHOOK_ALERT_MINUTES,
} from '../kernel/facts/alerts.ts';
import type { WebhookEventData } from '../kernel/facts/events.ts';
import { outcomeOf } from '../kernel/facts/outcomes.ts';
import type { Level } from '../kernel/facts/plans.ts';
import type { Reason, Status } from '../kernel/facts/reasons.ts';
import { lockAccount, lockExistingAccount } from './account-rows.ts';
import type { StorageDriver } from './driver.ts';
import { writeAudit } from './people/audit-log.ts';
import type { AlertsOfAccount, MailServersSeen, Store } from './store.ts';
import type { Tables } from './tables.ts';
import { alertMails, emitEvent, shownUrl } from './webhooks.ts';

/** Something that is or may be wrong. `data`: null where it is neither bad enough to report nor good enough to end. */
type Cause<Type extends LastingAlertType = LastingAlertType> = {
  readonly [T in Type]: {
    readonly account: string;
    readonly type: T;
    /** Distinguishes it from others of the type in the account: an id. */
    readonly subject: string;
    readonly data: WebhookEventData[T] | null;
  };
}[Type];

const alertKey = ({ account, type, subject }: { account: string; type: AlertType; subject: string }): string =>
  [account, type, subject].join('\n');

/** Live accounts that are not suspended. */
const active = (db: Kysely<Tables>) =>
  db.selectFrom('accounts').select('accounts.id').where('status', '=', 'active').where('test_of', 'is', null);

async function keyBudgets({ db }: StorageDriver, now: number): Promise<Cause[]> {
  const { start, end } = monthOf(now);
  const rows = await db
    .selectFrom('keys')
    .select(['id', 'account_id', 'name', 'budget', 'budget_spent'])
    .where('budget', '>', 0)
    .where('budget_month', '=', start)
    .where((eb) => eb.or([eb('revoked_at', 'is', null), eb('revoked_at', '>', now)]))
    .where(sql<boolean>`budget_spent * 100 >= budget * ${sql.lit(BUDGET_ALERT_PERCENT.ends)}`)
    .where('account_id', 'in', active(db))
    .execute();
  return rows.map(({ id, account_id: account, name, budget, budget_spent: used }) => {
    const credits = budget ?? 0;
    const data = { key_id: id, name, monthly_credits: credits, used, resets_at: toIso(end) };
    // The next month is another cause.
    const subject = `${id} ${toIso(start).slice(0, 7)}`;
    const isLow = used * 100 >= credits * BUDGET_ALERT_PERCENT.raised;
    return { account, type: 'budget.low' as const, subject, data: isLow ? data : null };
  });
}

async function failingWebhooks({ db }: StorageDriver, now: number): Promise<Cause[]> {
  const rows = await db
    .selectFrom('webhooks')
    .selectAll()
    .where((eb) => eb.or([eb('failing_since', 'is not', null), eb('disabled_reason', 'in', ['gone', 'failing'])]))
    .where('account_id', 'in', active(db))
    .execute();
  return rows.map((row) => {
    const { id, account_id: account, enabled, failing_since: since } = row;
    const isBad = enabled === 1 && since !== null && now - since >= WEBHOOK_ALERT_MINUTES * MINUTE_MS;
    const data = { webhook_id: id, url: shownUrl(row), failing_since: toIso(since ?? now) };
    return { account, type: 'webhook.failing' as const, subject: id, data: isBad ? data : null };
  });
}

/** The hours that are looked at, and those before that say what is usual. */
function alertWindow(now: number) {
  const from = (Math.floor(now / HOUR_MS) - UNUSUAL.hours + 1) * HOUR_MS;
  return { from, usualFrom: from - UNUSUAL.usualDays * 24 * HOUR_MS };
}

/** Returns over how many windows the counters before `from` extend: fewer in a young account, and at least one. */
const windowsBefore = (createdAt: number, from: number, usualFrom: number): number =>
  Math.max(1, (from - Math.max(createdAt, usualFrom)) / (UNUSUAL.hours * HOUR_MS));

async function rejections({ db, scans }: StorageDriver, now: number): Promise<Cause[]> {
  const { from, usualFrom } = alertWindow(now);
  const { floor, factor, endsBelow } = UNUSUAL.rejections;
  const sum = sql<number>`CAST(sum(count) AS BIGINT)`;
  const many = await scans
    .selectFrom('traffic_hours')
    .innerJoin('accounts', 'accounts.id', 'traffic_hours.account_id')
    .select(['account_id', 'created_at', sum.as('rejected')])
    .where('hour', '>=', from)
    .where('metric', '=', 'status')
    .where('account_id', 'in', active(db))
    .groupBy(['account_id', 'created_at'])
    .having(sum, '>=', floor / 2)
    .execute();
  const causes: Cause[] = [];
  for (const { account_id: account, created_at, rejected } of many) {
    const before = await scans
      .selectFrom('traffic_hours')
      .select(sql<number>`CAST(coalesce(sum(count), 0) AS BIGINT)`.as('rejected'))
      .where('account_id', '=', account)
      .where('hour', '>=', usualFrom)
      .where('hour', '<', from)
      .where('metric', '=', 'status')
      .executeTakeFirstOrThrow();
    const usual = before.rejected / windowsBefore(created_at, from, usualFrom);
    if (rejected < usual * endsBelow) continue;
    const data = { rejected, usual: Math.round(usual), since: toIso(from) };
    const isBad = rejected >= floor && rejected >= usual * factor;
    causes.push({ account, type: 'rejections.high', subject: '', data: isBad ? data : null });
  }
  return causes;
}

interface Counted {
  /** Verifications but those that did not look further than at the domain, and found it good. */
  asked: number;
  unknown: number;
}

/** Sums the counters of an account from the hour `from` to before the hour `to`. */
async function countedIn(db: Kysely<Tables>, account: string, from: number, to: number): Promise<Counted> {
  const rows = await db
    .selectFrom('usage_hours')
    .select(['validation_type', 'status', 'reason', sql<number>`CAST(sum(requests) AS BIGINT)`.as('requests')])
    .where('account_id', '=', account)
    .where('hour', '>=', from)
    .where('hour', '<', to)
    .groupBy(['validation_type', 'status', 'reason'])
    .execute();
  const counted: Counted = { asked: 0, unknown: 0 };
  for (const { validation_type: level, status, reason, requests } of rows)
    addCounted(counted, level, status, reason, requests);
  return counted;
}

function addCounted(counted: Counted, level: Level, status: Status, reason: string, requests: number): void {
  const outcome = outcomeOf(level, status, reason === '' ? null : reason);
  if (outcome === 'not_checked') return;
  counted.asked += requests;
  if (outcome === 'unknown') counted.unknown += requests;
}

const unknownShare = ({ asked, unknown }: Counted): number => (asked === 0 ? 0 : unknown / asked);

async function unknowns({ db, scans }: StorageDriver, now: number): Promise<Cause[]> {
  const { from, usualFrom } = alertWindow(now);
  const { floor, share: least, factor, endsBelow } = UNUSUAL.unknowns;
  const used = await active(scans)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('usage_hours').select('hour').whereRef('account_id', '=', 'accounts.id').where('hour', '>=', from),
      ),
    )
    .execute();
  const causes: Cause[] = [];
  for (const { id: account } of used) {
    const lately = await countedIn(db, account, from, now + HOUR_MS);
    if (lately.unknown < floor / 2) continue;
    const [share, usual] = [unknownShare(lately), unknownShare(await countedIn(scans, account, usualFrom, from))];
    if (share < usual * endsBelow) continue;
    const isBad = lately.unknown >= floor && share >= least && share >= usual * factor;
    const data = { unknown: lately.unknown, share, usual_share: usual, since: toIso(from) };
    causes.push({ account, type: 'unknowns.high', subject: '', data: isBad ? data : null });
  }
  return causes;
}

/** What verifications end with while mail servers cannot be reached, or refuse this service; charged as mx. */
const OUTAGE_REASONS: readonly Reason[] = ['smtp_unreachable', 'smtp_timeout', 'smtp_blocked'];

/** Accounts that have had a mailbox checked lately, and those that operators have chosen. */
const concernedBy = (db: Kysely<Tables>, now: number) =>
  active(db).where((eb) =>
    eb.or([
      eb('operator_events', '=', 1),
      eb.exists(
        eb
          .selectFrom('usage_hours')
          .select('hour')
          .whereRef('account_id', '=', 'accounts.id')
          .where('hour', '>=', now - MAILBOX_CHECK_DAYS * DAY_MS)
          .where((of) => of.or([of('validation_type', '=', 'smtp'), of('reason', 'in', OUTAGE_REASONS)])),
      ),
    ]),
  );

/**
 * `seen`: by this node. What another living node has found goes on until that node finds otherwise; what a dead one
 * has found ends where this one has reached mail servers for long enough.
 */
async function mailServers({ db, scans }: StorageDriver, now: number, seen: MailServersSeen | null): Promise<Cause[]> {
  if (seen === null) return [];
  const open = await db
    .selectFrom('alert_causes')
    .select(['account_id', 'node'])
    .where('type', '=', UNREACHABLE_ALERT)
    .where('account_id', 'in', active(db))
    .execute();
  const { state, since, node } = seen;
  const cause = (account: string, data: Cause<typeof UNREACHABLE_ALERT>['data']): Cause => ({
    account,
    type: UNREACHABLE_ALERT,
    subject: '',
    data,
  });
  if (state !== 'ok') {
    const concerned = (await concernedBy(scans, now).execute()).map(({ id }) => id);
    // Those that were notified stay so, also if they check no mailboxes meanwhile.
    const accounts = new Set([...concerned, ...open.map(({ account_id }) => account_id)]);
    return [...accounts].map((account) => cause(account, { state, since: toIso(since) }));
  }
  const living = new Set((await db.selectFrom('nodes').select('id').execute()).map(({ id }) => id));
  const isLately = now - since < REACHED_AGAIN_MINUTES * MINUTE_MS;
  const isAnothers = (finder: string | null) => finder !== null && finder !== node && living.has(finder);
  return open
    .filter(({ node: finder }) => isLately || isAnothers(finder))
    .map(({ account_id }) => cause(account_id, null));
}
const UNREACHABLE_ALERT = 'smtp.unreachable';

/** Reports what is new in an account, and ends what is over. */
function settleAlerts(
  driver: StorageDriver,
  account: string,
  causes: readonly Cause[],
  node: string | null,
): Promise<void> {
  return driver.transaction(async (trx) => {
    const row = await lockAccount(driver, trx, account);
    if (row === null || row.status !== 'active') return;
    const now = await driver.now(trx);
    const mine = trx.selectFrom('alert_causes').select(['type', 'subject']).where('account_id', '=', account);
    const open = new Set((await mine.execute()).map(({ type, subject }) => alertKey({ account, type, subject })));
    for (const cause of causes) {
      if (cause.data === null || open.has(alertKey(cause))) continue;
      const { type, subject } = cause;
      await trx.insertInto('alert_causes').values({ account_id: account, type, subject, since: now, node }).execute();
      await emitEvent({ driver, trx, now }, account, type, cause.data);
    }
    const going = new Set(causes.map(alertKey));
    for (const key of open) {
      if (going.has(key)) continue;
      const [, type = '', subject = ''] = key.split('\n');
      const over = trx.deleteFrom('alert_causes').where('account_id', '=', account).where('subject', '=', subject);
      await over.where(sql<boolean>`type = ${type}`).execute();
    }
  });
}

export function alerts(driver: StorageDriver): Store['alerts'] {
  const { db } = driver;
  return {
    async isSet(account) {
      const chosen = db.selectFrom('alert_settings').select('account_id').where('account_id', '=', account);
      const chats = db.selectFrom('webhooks').select('account_id').where('account_id', '=', account);
      const [choice, chat] = await Promise.all([
        chosen.executeTakeFirst(),
        chats.where('format', '=', 'slack').where('enabled', '=', 1).executeTakeFirst(),
      ]);
      return choice !== undefined || chat !== undefined;
    },

    async settings(account) {
      const open = db.selectFrom('alert_causes').select(['type', 'subject', 'since']).where('account_id', '=', account);
      const low = db.selectFrom('accounts').select('low_balance_told_at as since').where('id', '=', account);
      const { mails, paused } = await alertMails(db, account);
      const causes = await open.orderBy('since', 'desc').orderBy('subject').execute();
      const lasting: AlertsOfAccount['open'] = [
        ...(await low.execute()).flatMap(({ since }) =>
          since === null ? [] : [{ type: 'credits.low' as const, subject: '', since }],
        ),
        ...causes,
      ];
      return { mails, paused, open: lasting.toSorted((a, b) => b.since - a.since) };
    },

    async change(account, { mails, paused }, by) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        const { name } = await lockExistingAccount(driver, trx, account);
        const before = await alertMails(trx, account);
        const after = { mails: mails ?? before.mails, paused: paused ?? before.paused };
        const row = { mails: JSON.stringify(after.mails), paused: after.paused ? 1 : 0 };
        await trx
          .insertInto('alert_settings')
          .values({ account_id: account, ...row })
          .onConflict((oc) => oc.column('account_id').doUpdateSet(row))
          .execute();
        await writeAudit(trx, account, now, by, { action: 'alerts.changed', target: name, detail: after });
      });
    },

    async evaluate(seen, signal) {
      const now = await driver.now();
      const sought = [keyBudgets, failingWebhooks, rejections, unknowns];
      const causes = (await mailServers(driver, now, seen)).concat(
        ...(await Promise.all(sought.map((seek) => seek(driver, now)))),
      );
      const open = await db
        .selectFrom('alert_causes')
        .select(['account_id as account', 'type', 'subject'])
        .where('account_id', 'in', active(db))
        .execute();
      const going = new Set(causes.map(alertKey));
      const known = new Set(open.map(alertKey));
      const changed = new Set([
        ...causes.filter((cause) => cause.data !== null && !known.has(alertKey(cause))).map(({ account }) => account),
        ...open.filter((cause) => !going.has(alertKey(cause))).map(({ account }) => account),
      ]);
      const byAccount = Map.groupBy(causes, ({ account }) => account);
      for (const account of changed) {
        if (signal?.aborted) return;
        await settleAlerts(driver, account, byAccount.get(account) ?? [], seen?.node ?? null);
      }
    },
  };
}
