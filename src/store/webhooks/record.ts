/** What follows from an attempt to deliver. */
import type { Updateable } from 'kysely';
import { DAY_MS } from '../../kernel/clock.ts';
import { type DisabledReason, delivers } from '../../kernel/facts/events.ts';
import { WEBHOOK_FAILING_DAYS, WEBHOOK_RETRY_SECONDS } from '../../kernel/facts/lifetimes.ts';
import type { Scope } from '../charge/shared-hold.ts';
import { mailAdmins } from '../people/admin-mail.ts';
import { writeAudit } from '../people/audit-log.ts';
import type { Actor, AttemptOutcome, DeliveryAttempt, WebhookDisabledMail } from '../store.ts';
import type { Row, Tables } from '../tables.ts';
import { storableOrNull } from '../text.ts';
import { withoutQuery } from './rows.ts';

const SERVICE: Actor = { kind: 'service', id: null, name: 'Mailvet', ip: null };

/** Two failures further apart than the longest pause between retries say nothing about the time between them. */
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
export async function recordAttempt(
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
    await disable(scope, webhook.id, reason);
    await announce(scope, webhook, reason, mailTo);
  }
}

type Health = { readonly failing_since: number | null; readonly failed_at: number | null };

function failing({ failing_since, failed_at }: Health, at: number): Health {
  const goesOn = failing_since !== null && failed_at !== null && at - failed_at <= SILENCE_MS;
  return { failing_since: goesOn ? failing_since : at, failed_at: at };
}

function disabling(outcome: AttemptOutcome, since: number, at: number): Exclude<DisabledReason, 'manual'> | null {
  if (outcome.status === GONE) return 'gone';
  return at - since >= WEBHOOK_FAILING_DAYS * DAY_MS ? 'failing' : null;
}

/** From now on it gets nothing; what is pending has failed. */
export async function disable({ trx, now }: Scope, webhook: string, reason: DisabledReason): Promise<void> {
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
  const target = withoutQuery(webhook.url);
  const detail = { webhook: webhook.id, reason };
  await writeAudit(trx, webhook.account_id, now, SERVICE, { action: 'webhook.disabled', target, detail });
  const of = trx.selectFrom('accounts').select('name').where('id', '=', webhook.account_id);
  const { name: account } = await of.executeTakeFirstOrThrow();
  await mailAdmins(driver, trx, webhook.account_id, (to) => mailTo({ account, webhook: target, reason }, to));
}
