/** What the client in TypeScript has of its own; client-cases.test.ts runs what all clients do. */
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, vi } from 'vitest';
import { verifyWebhook, WebhookVerificationError } from '../../sdk/src/index.ts';
import { newWebhookSecret } from '../../src/kernel/ids.ts';

describe('verifyWebhook', () => {
  const secret = newWebhookSecret();
  const body = JSON.stringify({ type: 'ping', timestamp: '2026-11-22T10:00:00.000Z', data: { name: 'Zoë' } });
  /** As the reference implementation signs. */
  const headersOf = (at = new Date(), by = secret) => ({
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(by).sign('msg_1', at, body),
  });

  it('takes the body as bytes and the headers of a request', async () => {
    const bytes = new TextEncoder().encode(body);
    expect(await verifyWebhook(bytes, new Headers(headersOf()), secret)).toEqual(JSON.parse(body));
    expect(await verifyWebhook(bytes.buffer, headersOf(), secret)).toEqual(JSON.parse(body));
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

  it('reads the body once for each secret, however many signatures are sent', async () => {
    const sign = vi.spyOn(crypto.subtle, 'sign');
    const verify = vi.spyOn(crypto.subtle, 'verify');
    const forged = Array.from({ length: 100 }, () => `v1,${'A'.repeat(43)}=`).join(' ');
    const call = verifyWebhook(body, { ...headersOf(), 'webhook-signature': forged }, [secret, newWebhookSecret()]);
    await expect(call).rejects.toThrow(/^No signature fits/);
    expect([sign.mock.calls.length, verify.mock.calls.length]).toEqual([2, 0]);
    sign.mockRestore();
    verify.mockRestore();
  });

  it('does not take a secret or a payload of another type, as from JavaScript', async () => {
    await expect(Reflect.apply(verifyWebhook, null, [body, headersOf(), undefined])).rejects.toThrow(/^secret must be/);
    for (const wrong of [JSON.parse(body), undefined])
      await expect(Reflect.apply(verifyWebhook, null, [wrong, headersOf(), secret])).rejects.toThrow(
        /^payload must be/,
      );
  });
});
