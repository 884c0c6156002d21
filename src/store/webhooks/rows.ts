/** Webhooks and deliveries as rows. */
import { accountId } from '../rows.ts';
import type { Delivery, Webhook } from '../store.ts';
import type { Row } from '../tables.ts';

/** `now`: an old secret whose time is over is not mentioned. */
export const toWebhook = (row: Row<'webhooks'>, now: number): Webhook => ({
  id: row.id,
  accountId: accountId(row.account_id),
  url: row.url,
  events: JSON.parse(row.events),
  description: row.description,
  enabled: row.enabled === 1,
  disabledReason: row.disabled_reason,
  disabledAt: row.disabled_at,
  failingSince: row.failing_since,
  previousSecretUntil: row.previous_until !== null && row.previous_until > now ? row.previous_until : null,
  createdAt: row.created_at,
});

/** The secrets that sign, the newest first. */
export const secretsOf = (row: Row<'webhooks'>, now: number): string[] =>
  row.previous_secret !== null && row.previous_until !== null && row.previous_until > now
    ? [row.secret, ...row.previous_secret.split(BETWEEN_SECRETS)]
    : [row.secret];

/** In `previous_secret`. */
export const BETWEEN_SECRETS = ' ';

type DeliveryRow = Omit<Row<'webhook_deliveries'>, 'body' | 'account_id'>;

export const toDelivery = (row: DeliveryRow): Delivery => ({
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
export const DELIVERY_COLUMNS = [
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

/** For the audit log and mails: a query may hold what authenticates the sender. */
export function withoutQuery(url: string): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}
