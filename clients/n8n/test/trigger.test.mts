/** The trigger with the service: its registration, and what it takes of deliveries and of others' requests. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { execute, hook, type Json, receive, type Trigger } from './host.mts';
import { stage } from './stage.mts';

const { prepared } = stage();

/** n8n's URL of a trigger: what arrives goes to the node. */
async function listening(trigger: Trigger, requests: Json[]): Promise<string> {
  const answer = async (request: IncomingMessage, reply: ServerResponse) => {
    const body = await buffer(request);
    const got = await receive(trigger.kept, request.headers, body);
    requests.push({ headers: request.headers, body, ...got });
    reply.writeHead(got.status).end(JSON.stringify(got.said));
  };
  const server = createServer((request, reply) => void answer(request, reply));
  after(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook/abc/webhook`;
}

async function activated(events: readonly string[] = ['ping']) {
  const { url, key } = await prepared('webhooks');
  const requests: Json[] = [];
  const trigger = { url: '', credentials: { url, apiKey: key }, events, kept: {} as Json };
  trigger.url = await listening(trigger, requests);
  const call = async (method: string, path: string): Promise<Json> =>
    (await fetch(`${url}/v1/${path}`, { method, headers: { authorization: `Bearer ${key}` } })).json();
  assert.equal(await hook('checkExists', trigger), false);
  assert.equal(await hook('create', trigger), true);
  const ping = () => call('POST', `webhooks/${trigger.kept.webhookId}/test`);
  return { trigger, requests, ping, call, webhooks: async () => (await call('GET', 'webhooks')).webhooks };
}

test('registers itself once, and again with other events or without its secret', async () => {
  const { trigger, webhooks } = await activated();
  const [made] = await webhooks();
  assert.deepEqual([made.id, made.url, made.events], [trigger.kept.webhookId, trigger.url, ['ping']]);
  assert.match(trigger.kept.secret, /^whsec_/);
  assert.equal(await hook('checkExists', trigger), true);
  const others: Trigger = { ...trigger, events: ['ping', 'list.completed'] };
  assert.equal(await hook('checkExists', others), false);
  await hook('create', others);
  assert.deepEqual(
    (await webhooks()).map(({ events }: Json) => [...events].sort()),
    [['list.completed', 'ping']],
  );
  const imported = { ...others, kept: {} as Json };
  assert.equal(await hook('checkExists', imported), false);
  await hook('create', imported);
  assert.deepEqual(
    (await webhooks()).map(({ id }: Json) => id),
    [imported.kept.webhookId],
  );
});

test('removes its webhook, also one that is gone, and forgets the secret', async () => {
  const { trigger, webhooks } = await activated();
  const kept = { ...trigger.kept };
  assert.equal(await hook('delete', trigger), true);
  assert.deepEqual([await webhooks(), trigger.kept], [[], {}]);
  assert.equal(await hook('delete', { ...trigger, kept }), true);
});

test('starts the workflow with a delivery of the service, once, and not with what others send', async () => {
  const { trigger, requests, ping, call } = await activated();
  const delivered = await ping();
  assert.equal(delivered.status, 'delivered');
  assert.equal(requests.length, 1);
  const [{ headers, body, items }] = requests;
  assert.deepEqual([items.length, items[0].json.type], [1, 'ping']);
  assert.equal(items[0].json.data.webhook_id, trigger.kept.webhookId);

  const replayed = await receive(trigger.kept, headers, body);
  assert.deepEqual([replayed.items, replayed.status], [null, 200]);
  await call('POST', `deliveries/${delivered.id}/replay`);

  const kept = { secret: trigger.kept.secret };
  const forged = async (more: Json, sent: Buffer = body, of: Json = kept) => {
    const got = await receive(of, { ...headers, ...more }, sent);
    assert.deepEqual([got.items, got.status], [null, 400]);
    return got.said.error;
  };
  assert.match(await forged({}, Buffer.concat([body, Buffer.from(' ')])), /^No signature fits/);
  assert.match(await forged({ 'webhook-id': 'evt_other' }), /^No signature fits/);
  assert.match(
    await forged({}, body, { secret: `whsec_${Buffer.alloc(32).toString('base64')}` }),
    /^No signature fits/,
  );
  assert.match(await forged({}, body, {}), /no secret/);
  assert.match(await forged({ 'webhook-signature': undefined }), /webhook-signature is missing/);
  // None of them is remembered as taken.
  const fresh = await receive(kept, headers, body);
  assert.equal(fresh.items[0].json.type, 'ping');
});

test('starts the workflow when a list is finished, with the list', async () => {
  const { trigger, requests } = await activated(['list.completed']);
  const type = 'n8n-nodes-mailvet.mailvet';
  const parameters = { resource: 'list', operation: 'upload' };
  const items = [{ json: { email: 'a@null-mx.com' } }];
  const [{ json: list }] = await execute({ type, parameters, credentials: trigger.credentials, items });
  while (requests.length === 0) await setTimeout(50);
  assert.deepEqual([requests[0].items[0].json.type, requests[0].items[0].json.data.id], ['list.completed', list.id]);
});

test('takes either signature while a secret is rotated, and rejects what is late', async () => {
  const payload = Buffer.from(
    '{"type":"ping","timestamp":"2026-11-22T10:00:00.000Z","data":{"webhook_id":"whk_1","name":"Zoë"}}',
  );
  const secret = `whsec_${Buffer.from('a secret of the cases, 32 bytes!').toString('base64')}`;
  const { both } = await prepared('webhook-genuine');
  const taken = await receive({ secret }, both, payload);
  assert.equal(taken.items?.[0].json.data.name, 'Zoë');
  const { headers } = await prepared('webhook-late');
  const late = await receive({ secret }, headers, payload);
  assert.match(late.said.error, /too old or too new/);
});
