import * as C from '../../contract/webhooks.ts';
import { toIso, toIsoOrNull } from '../../kernel/clock.ts';
import type { Delivery, Webhook, WebhookWithSecret } from '../../service/webhooks/webhooks.ts';
import { linkHeader, nothingToChange, paginationOf } from '../reply.ts';

import { type Route, route } from '../route.ts';

const WEBHOOKS_PATH = '/v1/webhooks';

export const webhookReply = (w: Webhook): C.WebhookReply => ({
  id: w.id,
  url: w.url,
  format: w.format,
  events: [...w.events],
  description: w.description,
  enabled: w.enabled,
  disabled_reason: w.disabledReason,
  disabled_at: toIsoOrNull(w.disabledAt),
  failing_since: toIsoOrNull(w.failingSince),
  previous_secret_until: toIsoOrNull(w.previousSecretUntil),
  created_at: toIso(w.createdAt),
});
export const withSecret = ({ webhook, secret }: WebhookWithSecret) => ({ ...webhookReply(webhook), secret });

export const deliveryReply = (d: Delivery): C.DeliveryReply => ({
  id: d.id,
  webhook_id: d.webhookId,
  event_id: d.eventId,
  event: d.event,
  status: d.status,
  attempts: d.attempts.map(({ at, status, error, durationMs, response }) => ({
    at: toIso(at),
    status,
    error,
    duration_ms: durationMs,
    response,
  })),
  next_attempt_at: toIsoOrNull(d.nextAttemptAt),
  created_at: toIso(d.createdAt),
  finished_at: toIsoOrNull(d.finishedAt),
});

export const deliveriesReply = (items: readonly Delivery[], total: number, page: number, perPage: number) => ({
  deliveries: items.map(deliveryReply),
  pagination: paginationOf(total, page, perPage),
});

export const webhookDeleted = (id: string) => ({ status: 'success', message: `Webhook ${id} was deleted.` });
export const noChange = () => nothingToChange('url, events, description or enabled');

export const WEBHOOK_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: WEBHOOKS_PATH,
    access: 'api-key:webhooks',
    input: { body: C.WebhookRequest },
    output: {
      status: 201,
      content: C.WebhookMadeReply,
      description: 'The webhook, with its secret.',
      headers: { Location: 'Path of the webhook.' },
    },
    doc: {
      operationId: 'createWebhook',
      tag: 'Webhooks',
      summary: 'Create a webhook',
      errors: ['invalid_webhook_url', 'too_many_webhooks'],
    },
    serve:
      ({ webhooks }) =>
      async ({ caller, ip }, { body: { url, format = 'events', events, description = null } }) => {
        const made = await webhooks.create(caller.accountId, { url, format, events, description }, { caller, ip });
        return { body: withSecret(made), headers: { location: `${WEBHOOKS_PATH}/${made.webhook.id}` } };
      },
  }),
  route({
    method: 'GET',
    path: WEBHOOKS_PATH,
    access: 'api-key:webhooks',
    cost: null,
    output: { content: C.WebhookListReply, description: 'All webhooks of the account.' },
    doc: { operationId: 'listWebhooks', tag: 'Webhooks', summary: 'List webhooks, oldest first' },
    serve:
      ({ webhooks }) =>
      async ({ caller }) => ({ body: { webhooks: (await webhooks.list(caller.accountId)).map(webhookReply) } }),
  }),
  route({
    method: 'GET',
    path: `${WEBHOOKS_PATH}/:id`,
    access: 'api-key:webhooks',
    cost: null,
    output: { content: C.WebhookDetailsReply, description: 'The webhook.' },
    doc: { operationId: 'getWebhook', tag: 'Webhooks', summary: 'Get a webhook' },
    serve:
      ({ webhooks }) =>
      async ({ caller }, { params: { id } }) => ({ body: webhookReply(await webhooks.get(caller.accountId, id)) }),
  }),
  route({
    method: 'PATCH',
    path: `${WEBHOOKS_PATH}/:id`,
    access: 'api-key:webhooks',
    input: { body: C.WebhookChangeRequest },
    output: { content: C.WebhookDetailsReply, description: 'The webhook as it is now.' },
    doc: {
      operationId: 'changeWebhook',
      tag: 'Webhooks',
      summary: 'Change a webhook',
      errors: ['invalid_webhook_url'],
    },
    serve:
      ({ webhooks }) =>
      async ({ caller, ip }, { params: { id }, body }) => {
        if (Object.keys(body).length === 0) throw noChange();
        return { body: webhookReply(await webhooks.change(caller.accountId, id, body, { caller, ip })) };
      },
  }),
  route({
    method: 'DELETE',
    path: `${WEBHOOKS_PATH}/:id`,
    access: 'api-key:webhooks',
    output: { content: C.WebhookDeletedReply, description: 'Deleted, with its deliveries.' },
    doc: { operationId: 'deleteWebhook', tag: 'Webhooks', summary: 'Delete a webhook' },
    serve:
      ({ webhooks }) =>
      async ({ caller, ip }, { params: { id } }) => {
        await webhooks.remove(caller.accountId, id, { caller, ip });
        return { body: webhookDeleted(id) };
      },
  }),
  route({
    method: 'POST',
    path: `${WEBHOOKS_PATH}/:id/rotate-secret`,
    access: 'api-key:webhooks',
    output: { content: C.WebhookMadeReply, description: C.SECRET_ROTATED },
    doc: { operationId: 'rotateWebhookSecret', tag: 'Webhooks', summary: 'Replace the secret of a webhook' },
    serve:
      ({ webhooks }) =>
      async ({ caller, ip }, { params: { id } }) => ({
        body: withSecret(await webhooks.rotateSecret(caller.accountId, id, { caller, ip })),
      }),
  }),
  route({
    method: 'POST',
    path: `${WEBHOOKS_PATH}/:id/test`,
    access: 'api-key:webhooks',
    output: {
      content: C.DeliveryDetailsReply,
      description: 'The delivery of the ping; its status says whether it arrived.',
    },
    doc: {
      operationId: 'testWebhook',
      tag: 'Webhooks',
      summary: 'Send a ping now',
      errors: ['webhook_disabled', 'test_in_progress'],
    },
    serve:
      ({ webhooks }) =>
      async ({ caller }, { params: { id } }) => ({ body: deliveryReply(await webhooks.test(caller.accountId, id)) }),
  }),
  route({
    method: 'GET',
    path: `${WEBHOOKS_PATH}/:id/deliveries`,
    access: 'api-key:webhooks',
    cost: 'query',
    input: { query: C.DeliveriesQuery },
    output: {
      content: C.DeliveryPageReply,
      description: 'One page of deliveries.',
      headers: { Link: 'first, prev, next and last page (RFC 8288).' },
    },
    doc: { operationId: 'listDeliveries', tag: 'Webhooks', summary: 'List deliveries of a webhook, newest first' },
    serve:
      ({ webhooks }) =>
      async ({ caller, request }, { params: { id }, query: { page, per_page: perPage } }) => {
        const { items, total } = await webhooks.deliveries(caller.accountId, id, { page, perPage });
        return {
          body: deliveriesReply(items, total, page, perPage),
          headers: linkHeader(request.url, total, page, perPage),
        };
      },
  }),
  route({
    method: 'POST',
    path: '/v1/deliveries/:id/replay',
    access: 'api-key:webhooks',
    output: {
      status: 202,
      content: C.DeliveryDetailsReply,
      description: 'The delivery that is attempted: a new one, or the same where it was still pending.',
    },
    doc: {
      operationId: 'replayDelivery',
      tag: 'Webhooks',
      summary: 'Send an event again',
      errors: ['webhook_disabled'],
    },
    serve:
      ({ webhooks }) =>
      async ({ caller }, { params: { id } }) => ({ body: deliveryReply(await webhooks.replay(caller.accountId, id)) }),
  }),
];
