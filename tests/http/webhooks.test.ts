import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { Compile } from 'typebox/compile';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WEBHOOK_EVENTS } from '../../src/contract/webhooks.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { WEBHOOK_RETRY_SECONDS } from '../../src/kernel/facts/lifetimes.ts';
import { VERSION } from '../../src/kernel/version.ts';
import { createKey } from '../../src/service/keys.ts';
import { type Receiver, startReceiver } from '../lab/receiver.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';
import { ENGINE } from '../lab/stores.ts';

const SOON = { timeout: 30_000 };
let lab: Lab;
let member: Member;
const receivers: Receiver[] = [];
/** As PostgreSQL has a clock of its own, only tests on SQLite move it. */
let passedMs = 0;
const clock = { now: () => systemClock.now() + passedMs, elapsed: () => systemClock.elapsed() + passedMs };

beforeAll(async () => {
  lab = await startLab({}, { clock });
  member = await lab.member();
});
afterAll(() => lab.close());
afterEach(async () => {
  for (const { id } of (await member.call('GET', '/v1/webhooks')).json.webhooks)
    await member.call('DELETE', `/v1/webhooks/${id}`);
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
});

async function receiver(respond?: Parameters<Receiver['respond']>[0]): Promise<Receiver> {
  const started = await startReceiver(respond === undefined ? {} : { respond });
  receivers.push(started);
  return started;
}
/** The reply to the creation: a webhook with its secret. */
async function create(url: string, events = ['*']) {
  const { status, json, headers } = await member.call('POST', '/v1/webhooks', { url, events });
  expect(status, JSON.stringify(json)).toBe(201);
  expect(headers.get('location')).toBe(`/v1/webhooks/${json.id}`);
  return json;
}
const newKey = (name = 'fresh', of = lab) => createKey(of.store, member.account.id, { name, allowIps: [] });
const deliveries = async (id: string, query = '') =>
  (await member.call('GET', `/v1/webhooks/${id}/deliveries${query}`)).json.deliveries;
const statusOf = (reply: { status: number; json: { code?: string } }) => [reply.status, reply.json.code];

describe('a webhook', () => {
  it('gets each event once, signed as the Standard Webhooks specification says', async () => {
    const { url, received } = await receiver();
    const { id, secret, ...webhook } = await create(`${url}/hook`, ['key.created', 'key.revoked']);
    expect(secret).toMatch(/^whsec_[0-9A-Za-z+/]{43}=$/);
    expect(webhook).toMatchObject({ url: `${url}/hook`, events: ['key.created', 'key.revoked'], enabled: true });
    const { key, value } = await newKey();
    await expect.poll(() => received.length, SOON).toBe(1);
    await lab.store.keys.revoke(key.id);
    await expect.poll(() => received.length, SOON).toBe(2);
    const events = received.map(({ body, headers }) => new Webhook(secret).verify(body, headers));
    expect(events).toMatchObject([
      { type: 'key.created', data: { id: key.id, name: 'fresh', revoked_at: null } },
      { type: 'key.revoked', data: { id: key.id, revoked_at: expect.any(String) } },
    ]);
    for (const [i, type] of (['key.created', 'key.revoked'] as const).entries())
      expect(Compile(WEBHOOK_EVENTS[type].body).Errors(events[i])).toEqual([]);
    expect(received[0]!.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': `Mailvet/${VERSION}`,
    });
    expect(received[0]!.body).not.toContain(value);
    await expect
      .poll(async () => (await deliveries(id)).map((one: { status: string }) => one.status), SOON)
      .toEqual(['delivered', 'delivered']);
    const [last] = await deliveries(id, '?per_page=1');
    expect(last).toMatchObject({
      webhook_id: id,
      event: 'key.revoked',
      event_id: received[1]!.headers['webhook-id'],
      attempts: [{ status: 200, error: null, response: 'thanks' }],
      next_attempt_at: null,
    });
    for (const path of ['', `/${id}`, `/${id}/deliveries`])
      expect((await member.call('GET', `/v1/webhooks${path}`)).text).not.toContain('whsec_');
  });

  it('is attempted again after a failure, with the same id and a new signature; and replayed with that id', async () => {
    const { url, received, respond } = await receiver((reply) => reply.writeHead(500).end('not now'));
    const { id, secret } = await create(url, ['key.created']);
    await newKey();
    await expect.poll(() => received.length, SOON).toBe(1);
    respond((reply) => reply.end());
    await expect.poll(() => received.length, SOON).toBe(2);
    const poll = async () => (await deliveries(id))[0];
    await expect.poll(poll, SOON).toMatchObject({
      status: 'delivered',
      attempts: [{ status: 500, response: 'not now' }, { status: 200 }],
    });
    const [first, second] = received;
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
    expect(second!.headers['webhook-timestamp']).not.toBe(first!.headers['webhook-timestamp']);
    expect(second!.body).toBe(first!.body);
    const earlier = await poll();
    const replay = await member.call('POST', `/v1/deliveries/${earlier.id}/replay`);
    expect([replay.status, replay.json.status, replay.json.event_id]).toEqual([202, 'pending', earlier.event_id]);
    await expect.poll(() => received.length, SOON).toBe(3);
    const third = received[2]!;
    expect([third.headers['webhook-id'], third.body]).toEqual([earlier.event_id, first!.body]);
    for (const { body, headers } of received) new Webhook(secret).verify(body, headers);
  });

  it('is signed with the secrets before rotations too', async () => {
    const { url, received } = await receiver();
    const { id, secret } = await create(url);
    const between = (await member.call('POST', `/v1/webhooks/${id}/rotate-secret`)).json.secret;
    const rotated = await member.call('POST', `/v1/webhooks/${id}/rotate-secret`);
    expect(rotated.status).toBe(200);
    expect(rotated.json.secret).not.toBe(secret);
    expect(Date.parse(rotated.json.previous_secret_until) - clock.now()).toBeGreaterThan(23 * 3600_000);
    await member.call('POST', `/v1/webhooks/${id}/test`);
    const { body, headers } = received[0]!;
    for (const one of [secret, between, rotated.json.secret]) new Webhook(one).verify(body, headers);
    expect(() => new Webhook('whsec_AAAA').verify(body, headers)).toThrow();
  });

  it('is tested with a ping, whose outcome is the reply', async () => {
    const inside = await receiver();
    const { url, received, respond } = await receiver();
    const { id } = await create(url, ['list.completed']);
    const test = async () => (await member.call('POST', `/v1/webhooks/${id}/test`)).json;
    expect(await test()).toMatchObject({ event: 'ping', status: 'delivered', attempts: [{ status: 200 }] });
    expect(JSON.parse(received[0]!.body)).toMatchObject({ type: 'ping', data: { webhook_id: id } });
    respond((reply) => reply.writeHead(307, { location: inside.url }).end());
    expect(await test()).toMatchObject({ status: 'failed', next_attempt_at: null, attempts: [{ status: 307 }] });
    respond((reply) => reply.destroy());
    expect(await test()).toMatchObject({ status: 'failed', attempts: [{ status: null, error: 'connection_failed' }] });
    expect(inside.received).toEqual([]);
    expect(await deliveries(id)).toHaveLength(3);
  });

  it('allows a few tests at a time', async () => {
    const open: (() => void)[] = [];
    const { url } = await receiver((reply) => open.push(() => reply.end()));
    const { id } = await create(url);
    const test = () => member.call('POST', `/v1/webhooks/${id}/test`);
    const running = [test(), test()];
    await expect.poll(() => open.length, SOON).toBe(2);
    expect(statusOf(await test())).toEqual([409, 'test_in_progress']);
    for (const end of open.splice(0)) end();
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200]);
  });

  it('does not wait for another one that hangs', async () => {
    const hanging = await receiver(() => undefined);
    const { url, received } = await receiver();
    await create(hanging.url);
    await create(url);
    for (let n = 0; n < 5; n++) await newKey(`key ${n}`);
    await expect.poll(() => received.length, SOON).toBe(5);
    // A place of its own, and no more than it may have.
    expect(hanging.received.length).toBeLessThanOrEqual(4);
  });

  it('is disabled by 410, and gets nothing until it is enabled', async () => {
    const { url, received, respond } = await receiver((reply) => reply.writeHead(410).end());
    const { id } = await create(url);
    await newKey();
    const get = async () => (await member.call('GET', `/v1/webhooks/${id}`)).json;
    await expect.poll(get, SOON).toMatchObject({ enabled: false, disabled_reason: 'gone' });
    await newKey();
    const [delivery] = await deliveries(id);
    expect(statusOf(await member.call('POST', `/v1/deliveries/${delivery.id}/replay`))).toEqual([
      409,
      'webhook_disabled',
    ]);
    respond((reply) => reply.end());
    expect((await member.call('PATCH', `/v1/webhooks/${id}`, { enabled: true })).json).toMatchObject({
      enabled: true,
      disabled_reason: null,
    });
    await newKey();
    await expect.poll(() => received.length, SOON).toBe(2);
  });

  it.runIf(ENGINE === 'sqlite')('is attempted for days, until the delivery has failed', async () => {
    const { url, received } = await receiver((reply) => reply.writeHead(500).end());
    const { id } = await create(url, ['key.created']);
    await newKey();
    for (let attempt = 1; attempt <= WEBHOOK_RETRY_SECONDS.length + 1; attempt++) {
      await expect.poll(() => received.length, SOON).toBe(attempt);
      await expect.poll(async () => (await deliveries(id))[0].attempts.length, SOON).toBe(attempt);
      passedMs += (WEBHOOK_RETRY_SECONDS[attempt - 1] ?? 0) * 1000;
    }
    expect((await deliveries(id))[0]).toMatchObject({ status: 'failed', next_attempt_at: null });
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  it('gets each event from one of several nodes', async () => {
    const other = await startLab({ MAILVET_DATABASE_URL: lab.databaseUrl }, { clock });
    try {
      const { url, received } = await receiver();
      await create(url);
      await Promise.all(Array.from({ length: 20 }, (_, n) => newKey(`key ${n}`, n % 2 === 0 ? lab : other)));
      await expect.poll(() => received.length, SOON).toBe(20);
      await sleep(2_000);
      expect(received).toHaveLength(20);
      expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(20);
    } finally {
      await other.close();
    }
  });

  it('is nobody else’s', async () => {
    const { url } = await receiver();
    const { id } = await create(url);
    await member.call('POST', `/v1/webhooks/${id}/test`);
    const [delivery] = await deliveries(id);
    const stranger = await lab.member();
    for (const [method, path, body] of [
      ['GET', `/v1/webhooks/${id}`],
      ['PATCH', `/v1/webhooks/${id}`, { enabled: false }],
      ['DELETE', `/v1/webhooks/${id}`],
      ['POST', `/v1/webhooks/${id}/rotate-secret`],
      ['POST', `/v1/webhooks/${id}/test`],
      ['GET', `/v1/webhooks/${id}/deliveries`],
      ['POST', `/v1/deliveries/${delivery.id}/replay`],
    ] as const)
      expect(statusOf(await stranger.call(method, path, body)), path).toEqual([404, 'not_found']);
    expect((await stranger.call('GET', '/v1/webhooks')).json).toEqual({ webhooks: [], warnings: [] });
    expect((await member.call('GET', `/v1/webhooks/${id}`)).json).toMatchObject({ enabled: true });
  });

  it('is changed field by field, and a wrong field is named', async () => {
    const { url } = await receiver();
    const { id } = await create(url);
    const patch = (body: object) => member.call('PATCH', `/v1/webhooks/${id}`, body);
    const { json } = await patch({ description: 'Billing', events: ['ping', 'ping'] });
    expect(json).toMatchObject({ url: `${url}/`, description: 'Billing', events: ['ping'], enabled: true });
    expect((await patch({ description: null })).json.description).toBeNull();
    expect(statusOf(await patch({}))).toEqual([400, 'missing_parameter']);
    for (const [field, value] of [
      ['url', ''],
      ['url', `https://example.com/${'x'.repeat(2000)}`],
      ['events', []],
      ['events', ['nothing']],
      ['description', 'x'.repeat(201)],
      ['enabled', 'yes'],
    ] as const)
      expect((await patch({ [field]: value })).json, field).toMatchObject({ code: 'invalid_parameter', field });
    for (const wrong of ['nonsense', 'ftp://example.com', 'https://jane:secret@example.com'])
      expect((await patch({ url: wrong })).json).toMatchObject({ code: 'invalid_webhook_url', field: 'url' });
    expect((await member.call('DELETE', `/v1/webhooks/${id}`)).status).toBe(200);
    expect((await member.call('GET', `/v1/webhooks/${id}`)).status).toBe(404);
  });
});

describe('where private networks are not allowed', () => {
  let open: Lab;
  let owner: Member;
  beforeAll(async () => {
    const net = {
      'hooks.test': { A: ['93.184.215.14'] },
      'inside.test': { A: ['10.0.0.1'], AAAA: ['::1'] },
    };
    open = await startLab({ MAILVET_ALLOW_PRIVATE_NETWORKS: 'false' }, { net, clock });
    owner = await open.member();
  });
  afterAll(() => open.close());
  const add = (url: string) => owner.call('POST', '/v1/webhooks', { url, events: ['*'] });

  it.each([
    'http://hooks.test/',
    'https://127.0.0.1/',
    'https://0x7f.1/',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://169.254.169.254/latest/meta-data',
    'https://inside.test/',
    'https://missing.test/',
    'https://localhost/',
  ])('a webhook cannot go to %s', async (url) => {
    const { status, json } = await add(url);
    expect([status, json.code, json.field]).toEqual([422, 'invalid_webhook_url', 'url']);
  });

  it('one whose name turned private since gets nothing', async () => {
    const { port, received } = await receiver();
    const { json } = await add(`https://hooks.test:${port}/`);
    expect(json.enabled).toBe(true);
    open.dns.set('hooks.test', { A: ['127.0.0.1'] });
    passedMs += 3600_000;
    const test = await owner.call('POST', `/v1/webhooks/${json.id}/test`);
    expect(test.json).toMatchObject({ status: 'failed', attempts: [{ status: null, error: 'unknown_host' }] });
    expect(received).toEqual([]);
  });
});
