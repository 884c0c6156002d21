/** Events of webhooks, written in the transaction that they report. */

import type { Insertable, Transaction } from 'kysely';
import { toIso } from '../../kernel/clock.ts';
import { subscribes, type WebhookEventData, type WebhookEventType } from '../../kernel/facts/events.ts';
import { WEBHOOK_BODY_BYTES } from '../../kernel/facts/limits.ts';
import { newId } from '../../kernel/ids.ts';
import type { Scope } from '../charge/shared-hold.ts';
import type { Tables } from '../tables.ts';
import { storable } from '../text.ts';

interface NewEvent {
  readonly event_id: string;
  readonly event: WebhookEventType;
  readonly body: string;
}

/** The event as it is sent (Standard Webhooks, "Payload structure"). */
export function newEvent<T extends WebhookEventType>(type: T, data: WebhookEventData[T], now: number): NewEvent {
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
  { driver, trx, now }: Scope,
  account: string,
  type: T,
  data: WebhookEventData[T],
): Promise<void> {
  const enabled = trx.selectFrom('webhooks').select(['id', 'events']).where('account_id', '=', account);
  const webhooks = await enabled.where('enabled', '=', 1).orderBy('id').execute();
  const told = webhooks.filter(({ events }) => subscribes(JSON.parse(events), type));
  if (told.length === 0) return;
  const event = newEvent(type, data, now);
  const rows = told.map((webhook) => pendingRow(account, webhook.id, event, now));
  await trx.insertInto('webhook_deliveries').values(rows).execute();
  for (const { id } of told) await addDeliveryJob(driver, trx, account, id);
}

export const pendingRow = (
  account: string,
  webhook: string,
  { event_id, event, body }: NewEvent,
  now: number,
): Insertable<Tables['webhook_deliveries']> => ({
  id: newId('dlv', now),
  account_id: account,
  webhook_id: webhook,
  ...{ event_id, event, body },
  status: 'pending',
  next_attempt_at: now,
  created_at: now,
  finished_at: null,
});

/** One that is open already sends this as well; at the latest, `wake` finds what it missed. */
export const addDeliveryJob = (driver: Scope['driver'], trx: Transaction<Tables>, account: string, webhook: string) =>
  driver.jobs.add(trx, { kind: 'webhook_delivery', payload: { webhook }, key: webhook, account });
