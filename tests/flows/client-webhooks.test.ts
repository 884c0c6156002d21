import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMailvet, verifyWebhook, WebhookVerificationError } from '../../sdk/src/index.ts';
import { newWebhookSecret } from '../../src/kernel/ids.ts';
import { type Receiver, startReceiver } from '../lab/receiver.ts';
import { type Lab, startLab } from '../lab/service.ts';

describe('verifyWebhook', () => {
  const secret = newWebhookSecret();
  const body = JSON.stringify({ type: 'ping', timestamp: '2026-11-22T10:00:00.000Z', data: { name: 'Zoë' } });
  /** As the reference implementation signs. */
  const headersOf = (at = new Date(), by = secret) => ({
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(by).sign('msg_1', at, body),
  });

  it('returns the event of a request that the reference implementation signed', async () => {
    const event = JSON.parse(body);
    const bytes = new TextEncoder().encode(body);
    expect(await verifyWebhook(body, headersOf(), secret)).toEqual(event);
    expect(await verifyWebhook(bytes, new Headers(headersOf()), secret)).toEqual(event);
    expect(await verifyWebhook(bytes.buffer, headersOf(), [newWebhookSecret(), secret])).toEqual(event);
    const both = `${headersOf(new Date(), newWebhookSecret())['webhook-signature']} v1a,x ${headersOf()['webhook-signature']}`;
    expect(await verifyWebhook(body, { ...headersOf(), 'webhook-signature': both }, secret)).toEqual(event);
  });

  it.each([
    ['in capitals', (name: string, value: string) => [name.toUpperCase(), value]],
    [
      'in the case of Go',
      (name: string, value: string) => [name.replaceAll(/\b[a-z]/g, (c) => c.toUpperCase()), value],
    ],
    ['as arrays', (name: string, value: string) => [name, [value]]],
  ])('takes headers %s, as some platforms pass them', async (_, as) => {
    const headers = Object.fromEntries(Object.entries(headersOf()).map(([name, value]) => as(name, value)));
    expect(await verifyWebhook(body, headers, secret)).toEqual(JSON.parse(body));
    const forged = Object.fromEntries(
      Object.entries(headersOf(new Date(), newWebhookSecret())).map(([name, value]) => as(name, value)),
    );
    await expect(verifyWebhook(body, forged, secret)).rejects.toThrow(/^No signature fits/);
  });

  it('takes several signatures as several values, and of the other headers one', async () => {
    const [good, other] = [headersOf(), headersOf(new Date(), newWebhookSecret())];
    const several = { ...good, 'webhook-signature': [other['webhook-signature'], good['webhook-signature']] };
    expect(await verifyWebhook(body, several, secret)).toEqual(JSON.parse(body));
    const ids = { ...good, 'webhook-id': ['msg_1', 'msg_2'] };
    await expect(verifyWebhook(body, ids, secret)).rejects.toBeInstanceOf(WebhookVerificationError);
    const byGet = { get: (name: string) => new Headers(good).get(name) };
    expect(await verifyWebhook(body, byGet, secret)).toEqual(JSON.parse(body));
  });

  it('rejects everything else', async () => {
    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
    const cases: [string, Record<string, string>][] = [
      [`${body} `, headersOf()],
      [body, { ...headersOf(), 'webhook-id': 'msg_2' }],
      [body, headersOf(minutesAgo(6))],
      [body, headersOf(minutesAgo(-6))],
      [body, headersOf(new Date(), newWebhookSecret())],
      [body, { ...headersOf(), 'webhook-signature': 'v1,' }],
      [body, { ...headersOf(), 'webhook-signature': 'v1,%%%' }],
      [body, { ...headersOf(), 'webhook-timestamp': 'now' }],
      [body, { ...headersOf(), 'webhook-id': '' }],
      [body, {}],
    ];
    for (const [payload, headers] of cases)
      await expect(verifyWebhook(payload, headers, secret)).rejects.toBeInstanceOf(WebhookVerificationError);
    expect(await verifyWebhook(body, headersOf(minutesAgo(6)), secret, { toleranceSeconds: 600 })).toBeTruthy();
    for (const wrong of ['', 'whsec_', secret.slice(6), 'whsec_%%%', undefined])
      await expect(Reflect.apply(verifyWebhook, null, [body, headersOf(), wrong])).rejects.toThrow(/^secret must be/);
    for (const wrong of [JSON.parse(body), undefined])
      await expect(Reflect.apply(verifyWebhook, null, [wrong, headersOf(), secret])).rejects.toThrow(
        /^payload must be/,
      );
  });
});

describe('the client’s webhooks', () => {
  let lab: Lab;
  let receiver: Receiver;
  beforeAll(async () => {
    lab = await startLab();
    receiver = await startReceiver();
  });
  afterAll(async () => {
    await receiver.close();
    await lab.close();
  });

  it('are created, listed, changed, tested, replayed, rotated and removed', async () => {
    const { webhooks } = createMailvet({ url: lab.url, key: (await lab.member()).key });
    const { id, secret } = await webhooks.create({ url: receiver.url, events: ['ping'] });
    expect(await webhooks.list()).toMatchObject([{ id, events: ['ping'] }]);
    expect(await webhooks.change(id, { description: 'Billing' })).toMatchObject({ description: 'Billing' });
    expect(await webhooks.get(id)).toMatchObject({ id, description: 'Billing' });
    const test = await webhooks.test(id);
    expect(test).toMatchObject({ status: 'delivered', attempts: [{ status: 200 }] });
    const { body, headers } = receiver.received[0]!;
    expect(await verifyWebhook(body, headers, secret)).toMatchObject({ type: 'ping', data: { webhook_id: id } });
    expect(await webhooks.replay(test.id)).toMatchObject({ event_id: test.event_id, status: 'pending' });
    expect((await webhooks.deliveries(id, { per_page: 1 })).pagination).toMatchObject({ total_count: 2 });
    const rotated = await webhooks.rotateSecret(id);
    expect(rotated.secret).not.toBe(secret);
    await webhooks.remove(id);
    await expect(webhooks.get(id)).rejects.toMatchObject({ status: 404 });
  });
});
