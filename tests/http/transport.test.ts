import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashPassword } from '../../src/service/sign-in/passwords.ts';
import { browser, PASSWORD, peopleOf } from '../lab/person.ts';
import { openRaw } from '../lab/raw-connection.ts';
import { type Lab, request, startLab } from '../lab/service.ts';

const YEAR = 'max-age=31536000';
const PUBLIC_URL = 'https://mailvet.example';
const TOKEN = 'metrics-token-for-the-tests';

let lab: Lab;
let plain: Lab;
beforeAll(async () => {
  lab = await startLab({ MAILVET_PUBLIC_URL: PUBLIC_URL, MAILVET_METRICS_TOKEN: TOKEN });
  plain = await startLab();
});
afterAll(async () => {
  await lab.close();
  await plain.close();
});

/** The status and the header of a reply to bytes as they are. */
async function raw(url: string, bytes: string): Promise<readonly [status: string, hsts: string | undefined]> {
  const connection = await openRaw(url);
  connection.socket.write(bytes);
  await connection.closed;
  const head = connection.received().toString().split('\r\n\r\n', 1)[0]!;
  return [head.split(' ')[1]!, /^strict-transport-security: (.*)$/im.exec(head)?.[1]];
}

describe('Strict-Transport-Security', () => {
  it.each([
    ['GET', '/healthz', 200],
    ['GET', '/openapi.json', 200],
    ['GET', '/docs', 200],
    ['GET', '/sign-in', 200],
    ['GET', '/dashboard/session', 200],
    ['GET', '/nowhere/at/all.js', 404],
    ['GET', '/%ff', 404],
    ['PUT', '/v1/verify', 405],
    ['POST', '/v1/verify', 401],
    ['GET', '/metrics', 401],
  ])('is on every reply where the public address is HTTPS: %s %s', async (method, path, status) => {
    const reply = await request(lab.url, method, path);
    expect([reply.status, reply.headers.get('strict-transport-security')]).toEqual([status, YEAR]);
    const other = await request(plain.url, method, path, undefined);
    expect(other.headers.get('strict-transport-security')).toBeNull();
  });

  it.each([
    ['what is not HTTP', 'NONSENSE\r\n\r\n', '400'],
    ['no Host header', 'GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n', '400'],
    ['two Host headers', 'GET /healthz HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n', '400'],
    ['headers that are too large', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, '431'],
    ['an unknown expectation', 'GET /healthz HTTP/1.1\r\nhost: a\r\nexpect: x\r\nconnection: close\r\n\r\n', '200'],
  ])('also for %s', async (_what, bytes, status) => {
    expect(await raw(lab.url, bytes)).toEqual([status, YEAR]);
    expect(await raw(plain.url, bytes)).toEqual([status, undefined]);
  });
});

describe('cookies where the public address is HTTPS', () => {
  it('have the prefix that binds them to this host, and no others are accepted', async () => {
    const email = 'jane@example.com';
    await peopleOf(lab).create({ email, name: 'Jane', password: await hashPassword(PASSWORD) });
    const window = browser(lab.url);
    const as = { origin: PUBLIC_URL };
    const reply = await window.call('POST', '/dashboard/sign-in', { email, password: PASSWORD }, as);
    expect(reply.status).toBe(200);
    const lines = reply.headers.getSetCookie();
    expect(lines.map((line) => line.split('=', 1)[0])).toEqual([
      '__Host-mailvet.session_token',
      '__Host-mailvet.device',
    ]);
    for (const line of lines) {
      expect(line).toMatch(/; Secure/i);
      expect(line).toMatch(/; Path=\/(;|$)/i);
      expect(line).not.toMatch(/; Domain/i);
    }
    const userWith = async (prefix: string) => {
      const value = window.jar.get('__Host-mailvet.session_token')!;
      const headers = { cookie: `${prefix}mailvet.session_token=${value}` };
      return (await request(lab.url, 'GET', '/dashboard/session', undefined, headers)).json.user?.email ?? null;
    };
    expect(await userWith('__Host-')).toBe(email);
    expect([await userWith('__Secure-'), await userWith('')]).toEqual([null, null]);
    await window.call('POST', '/dashboard/sign-out', undefined, as);
    expect([...window.jar.keys()]).toEqual(['__Host-mailvet.device']);
  });
});

describe('guesses of the metrics token', () => {
  const scrape = (token: string, ip: string, at = proxied) =>
    request(at.url, 'GET', '/metrics', undefined, { authorization: `Bearer ${token}`, 'x-forwarded-for': ip });
  let proxied: Lab;
  beforeAll(async () => {
    proxied = await startLab({ MAILVET_METRICS_TOKEN: TOKEN, MAILVET_TRUSTED_PROXIES: '127.0.0.1' });
  });
  afterAll(() => proxied.close());

  it('are limited by network, before the token is compared', async () => {
    const replies = [];
    for (let i = 0; i < 50; i += 1) replies.push(await scrape(`guess-${i}-of-the-metrics-token`, `2001:db8::${i}`));
    const refused = replies.find(({ status }) => status === 429)!;
    expect(replies[0]!.status).toBe(401);
    expect(refused.json).toMatchObject({ code: 'rate_limit_exceeded', retry_after: expect.any(Number) });
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect(replies.filter(({ status }) => status === 429).length).toBeGreaterThan(20);
    expect((await scrape(TOKEN, '2001:db8:0:1::7')).status).toBe(200);
  });

  it('do not block a scraper of the same network that had the right token before', async () => {
    const scraper = '2001:db8:5::1';
    expect((await scrape(TOKEN, scraper)).status).toBe(200);
    const statuses = [];
    for (let i = 0; i < 40; i += 1) statuses.push((await scrape('a-wrong-metrics-token', '2001:db8:5::bad')).status);
    expect(statuses).toContain(429);
    expect((await scrape(TOKEN, scraper)).status).toBe(200);
  });
});
