import * as C from '../../contract/webhooks.ts';
import { toIsoOrNull } from '../../kernel/clock.ts';
import type { DeliveryCounts, Webhook } from '../../service/webhooks/webhooks.ts';
import { ACCOUNT_PATH, type Route, route } from '../route.ts';
import { deliveriesReply, deliveryReply, noChange, webhookDeleted, webhookReply, withSecret } from '../v1/webhooks.ts';

const webhookHere = (webhook: Webhook, counts: DeliveryCounts | undefined): C.WebhookHere => ({
  ...webhookReply(webhook),
  delivered: counts?.delivered ?? 0,
  failed: counts?.failed ?? 0,
  last_delivery_at: toIsoOrNull(counts?.lastAt ?? null),
});

const DASHBOARD_WEBHOOKS_PATH = `${ACCOUNT_PATH}/webhooks` as const;

export const DASHBOARD_WEBHOOK_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: DASHBOARD_WEBHOOKS_PATH,
    access: 'viewer',
    cost: null,
    output: { content: C.WebhooksHere },
    doc: { operationId: 'listWebhooksHere', summary: 'Webhooks, oldest first, with their latest deliveries' },
    serve:
      ({ webhooks }) =>
      async ({ account }) => {
        const [all, counts] = await Promise.all([webhooks.list(account), webhooks.recentCounts(account)]);
        return { body: { webhooks: all.map((webhook) => webhookHere(webhook, counts.get(webhook.id))) } };
      },
  }),
  route({
    method: 'POST',
    path: DASHBOARD_WEBHOOKS_PATH,
    access: 'admin',
    input: { body: C.WebhookRequest },
    output: { status: 201, content: C.WebhookCreatedReply },
    doc: {
      operationId: 'createWebhookHere',
      summary: 'Create a webhook; its secret is shown only once',
      errors: [422],
    },
    serve:
      ({ webhooks }) =>
      async ({ account, actor }, { body: { url, format = 'events', events, description = null } }) => ({
        body: withSecret(await webhooks.create(account, { url, format, events, description }, actor)),
      }),
  }),
  route({
    method: 'GET',
    path: `${DASHBOARD_WEBHOOKS_PATH}/:id`,
    access: 'viewer',
    cost: null,
    output: { content: C.WebhookReply },
    doc: { operationId: 'getWebhookHere', summary: 'A webhook' },
    serve:
      ({ webhooks }) =>
      async ({ account }, { params: { id } }) => ({ body: webhookReply(await webhooks.get(account, id)) }),
  }),
  route({
    method: 'PATCH',
    path: `${DASHBOARD_WEBHOOKS_PATH}/:id`,
    access: 'admin',
    input: { body: C.WebhookChangeRequest },
    output: { content: C.WebhookReply },
    doc: {
      operationId: 'changeWebhookHere',
      summary: 'Change URL, events and description, enable and disable',
      errors: [422],
    },
    serve:
      ({ webhooks }) =>
      async ({ account, actor }, { params: { id }, body }) => {
        if (Object.keys(body).length === 0) throw noChange();
        return { body: webhookReply(await webhooks.change(account, id, body, actor)) };
      },
  }),
  route({
    method: 'DELETE',
    path: `${DASHBOARD_WEBHOOKS_PATH}/:id`,
    access: 'admin',
    output: { content: C.WebhookDeleted },
    doc: { operationId: 'deleteWebhookHere', summary: 'Delete a webhook and its deliveries' },
    serve:
      ({ webhooks }) =>
      async ({ account, actor }, { params: { id } }) => {
        await webhooks.remove(account, id, actor);
        return { body: webhookDeleted(id) };
      },
  }),
  route({
    method: 'POST',
    path: `${DASHBOARD_WEBHOOKS_PATH}/:id/rotate-secret`,
    access: 'admin',
    output: { content: C.WebhookCreatedReply, description: C.SECRET_ROTATED },
    doc: { operationId: 'rotateWebhookSecretHere', summary: 'Replace the secret; shown only once' },
    serve:
      ({ webhooks }) =>
      async ({ account, actor }, { params: { id } }) => ({
        body: withSecret(await webhooks.rotateSecret(account, id, actor)),
      }),
  }),
  route({
    method: 'POST',
    path: `${DASHBOARD_WEBHOOKS_PATH}/:id/test`,
    access: 'admin',
    output: { content: C.DeliveryReply },
    doc: { operationId: 'testWebhookHere', summary: 'Send a ping now', errors: [409] },
    serve:
      ({ webhooks }) =>
      async ({ account }, { params: { id } }) => ({ body: deliveryReply(await webhooks.test(account, id)) }),
  }),
  route({
    method: 'GET',
    path: `${DASHBOARD_WEBHOOKS_PATH}/:id/deliveries`,
    access: 'viewer',
    cost: 'query',
    input: { query: C.DeliveriesHereQuery },
    output: { content: C.DeliveriesReply },
    doc: { operationId: 'listDeliveriesHere', summary: 'Deliveries of a webhook, newest first' },
    serve:
      ({ webhooks }) =>
      async ({ account }, { params: { id }, query: { page, per_page: perPage, status } }) => {
        const { items, total } = await webhooks.deliveries(account, id, { page, perPage, status });
        return { body: deliveriesReply(items, total, page, perPage) };
      },
  }),
  route({
    method: 'GET',
    path: `${ACCOUNT_PATH}/deliveries/:id`,
    access: 'viewer',
    cost: null,
    output: { content: C.DeliveryHere },
    doc: { operationId: 'deliveryHere', summary: 'A delivery, with what is sent' },
    serve:
      ({ webhooks }) =>
      async ({ account }, { params: { id } }) => {
        const { delivery, body, headers } = await webhooks.delivery(account, id);
        return { body: { delivery: deliveryReply(delivery), payload: body, headers } };
      },
  }),
  route({
    method: 'POST',
    path: `${ACCOUNT_PATH}/deliveries/:id/replay`,
    access: 'admin',
    output: { status: 202, content: C.DeliveryReply },
    doc: { operationId: 'replayDeliveryHere', summary: 'Send an event again', errors: [409] },
    serve:
      ({ webhooks }) =>
      async ({ account }, { params: { id } }) => ({ body: deliveryReply(await webhooks.replay(account, id)) }),
  }),
];
