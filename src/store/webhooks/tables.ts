/** The tables of webhooks. Times in ms. */
import type { Generated } from 'kysely';
import type { DeliveryStatus, DisabledReason, WebhookEventType } from '../../kernel/facts/events.ts';

export interface WebhooksTable {
  id: string;
  account_id: string;
  url: string;
  /** JSON array: types, or `*`. */
  events: string;
  description: string | null;
  secret: string;
  /** Secrets before rotations, the newest first, separated by a space: they sign alongside until then. */
  previous_secret: string | null;
  previous_until: number | null;
  /** 1 or 0. */
  enabled: number;
  disabled_reason: DisabledReason | null;
  disabled_at: number | null;
  /** The first failure since an attempt succeeded, and the last one. */
  failing_since: number | null;
  failed_at: number | null;
  created_at: number;
}
export interface WebhookDeliveriesTable {
  id: string;
  account_id: string;
  webhook_id: string;
  /** The header `webhook-id`: of the event, whatever endpoint, attempt or replay. */
  event_id: string;
  event: WebhookEventType;
  /** As it is signed and sent. */
  body: string;
  status: DeliveryStatus;
  attempt_count: Generated<number>;
  /** JSON array of `DeliveryAttempt`. */
  attempts: Generated<string>;
  /** Null: no more. */
  next_attempt_at: number | null;
  created_at: number;
  finished_at: number | null;
}
