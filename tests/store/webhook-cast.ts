/** What the store's tests of webhooks have in common. */

import type { WebhookFormat, WebhookSubscription } from '../../src/kernel/facts/events.ts';
import { newWebhookSecret } from '../../src/kernel/ids.ts';
import type { Account, AttemptOutcome, Store, Webhook } from '../../src/store/store.ts';
import { BY } from './people.ts';

export const create = (
  store: Store,
  { id }: Account,
  events: WebhookSubscription = ['*'],
  url = 'https://example.com/hook',
  format: WebhookFormat = 'events',
) => store.webhooks.create(id, { url, format, events, description: null, secret: newWebhookSecret() }, BY);
export const newKey = (store: Store, { id }: Account, name = 'fresh') =>
  store.keys.create(id, { name, hash: crypto.randomUUID(), lastFour: 'wxyz', allowIps: [] }, BY);
export const listed = async (store: Store, { accountId, id }: Webhook) =>
  (await store.webhooks.deliveries(accountId, id, { offset: 0, limit: 100 }))?.items ?? [];
export const replied = (status: number): AttemptOutcome => ({
  status,
  error: null,
  durationMs: 12,
  response: 'thanks',
});
export const noReply: AttemptOutcome = { status: null, error: 'timeout', durationMs: 15_000, response: null };
