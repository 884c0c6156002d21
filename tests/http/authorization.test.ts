import { Agent, request as rawRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FAILED_AUTH_PER_WINDOW } from '../../src/kernel/facts/limits.ts';
import { createKey } from '../../src/service/keys.ts';
import { type Lab, type Member, request, startLab } from '../lab/service.ts';

let lab: Lab;
let owner: Member;

beforeAll(async () => {
  lab = await startLab({ MAILVET_TRUSTED_PROXIES: '127.0.0.1/32,10.0.0.0/8' });
  owner = await lab.member();
});
afterAll(() => lab.close());

/** From a separate IP address, so that tests do not share a count of failed authentications. */
let nextStranger = 1;
const from = () => ({ 'x-forwarded-for': `203.0.113.${nextStranger++}` });
const usage = (headers: Record<string, string>) =>
  request(lab.url, 'GET', '/v1/usage', undefined, { ...from(), ...headers });

describe('Authorization', () => {
  it('accepts Bearer, one space, the key', async () => {
    expect((await usage({ authorization: `Bearer ${owner.key}` })).status).toBe(200);
    expect((await usage({ authorization: `bearer ${owner.key}` })).status).toBe(200);
  });

  it.each([
    ['nothing', {}, 'missing_api_key', /No API key/],
    ['the key alone', { authorization: 'KEY' }, 'malformed_authorization', /lacks the word "Bearer"/],
    ['the word alone', { authorization: 'Bearer' }, 'malformed_authorization', /no key/],
    ['the word twice', { authorization: 'Bearer Bearer KEY' }, 'malformed_authorization', /twice/],
    ['the word twice, no space', { authorization: 'Bearer BearerKEY' }, 'malformed_authorization', /twice/],
    ['the word twice, alone', { authorization: 'Bearer Bearer' }, 'malformed_authorization', /twice/],
    ['no space', { authorization: 'BearerKEY' }, 'malformed_authorization', /no space/],
    ['two spaces', { authorization: 'Bearer  KEY' }, 'malformed_authorization', /more than one space/],
    ['a tab', { authorization: 'Bearer\tKEY' }, 'malformed_authorization', /tab/],
    ['more words', { authorization: 'Bearer KEY x' }, 'malformed_authorization', /after the key/],
    ['Basic', { authorization: 'Basic dXNlcjpwYXNz' }, 'malformed_authorization', /Bearer scheme/],
    ['a key that is none', { authorization: 'Bearer mv_live_short' }, 'invalid_api_key', /not valid/],
    ['an unknown key', { authorization: `Bearer mv_live_${'a'.repeat(32)}` }, 'invalid_api_key', /not valid/],
  ])('%s is 401 and says so', async (_name, headers, code, sentence) => {
    const sent = Object.fromEntries(Object.entries(headers).map(([k, v]) => [k, String(v).replace('KEY', owner.key)]));
    const { status, json, headers: got } = await usage(sent);
    expect([status, json.code]).toEqual([401, code]);
    expect(json.error).toMatch(sentence);
    expect(got.get('www-authenticate')).toBe('Bearer');
    expect(got.get('ratelimit')).toBe(null);
  });

  it('in two headers is 401', async () => {
    const { port } = new URL(lab.url);
    const status = await new Promise((resolve, reject) => {
      const headers = [
        'Host',
        'x',
        'X-Forwarded-For',
        '203.0.113.99',
        'Authorization',
        `Bearer ${owner.key}`,
        'Authorization',
        `Bearer ${owner.key}`,
      ];
      const sent = rawRequest({ host: '127.0.0.1', port, path: '/v1/usage', headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.on('error', reject);
      sent.end();
    });
    expect(status).toBe(401);
  });

  it('is looked at in every request of a connection', async () => {
    const other = await lab.member();
    expect((await other.verify('a@good.com')).status).toBe(200);
    const { port } = new URL(lab.url);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const sockets = new Set<unknown>();
    const ask = (...keys: string[]) =>
      new Promise((resolve, reject) => {
        const headers = ['Host', 'x', 'X-Forwarded-For', '203.0.113.98'];
        for (const key of keys) headers.push('Authorization', `Bearer ${key}`);
        const sent = rawRequest({ host: '127.0.0.1', port, path: '/v1/usage', headers, agent }, (response) => {
          sockets.add(response.socket);
          text(response).then((body) => resolve(JSON.parse(body).credits?.used ?? null), reject);
        });
        sent.on('error', reject).end();
      });
    for (const key of [owner.key, owner.key]) expect(await ask(key)).toBe(0);
    expect(await ask(other.key)).toBe(1);
    // A 401.
    for (const keys of [[other.key, owner.key], [], ['mv_live_short']]) expect(await ask(...keys)).toBe(null);
    expect(await ask(owner.key)).toBe(0);
    expect(sockets.size).toBe(1);
    agent.destroy();
  });

  it('checks the key before the body', async () => {
    const { status } = await request(lab.url, 'POST', '/v1/verify', '{"email"', {
      ...from(),
      authorization: 'Bearer x',
    });
    expect(status).toBe(401);
  });

  it('rejects a revoked key immediately; it stays listed as revoked', async () => {
    const member = await lab.member();
    expect((await member.verify('a@good.com')).status).toBe(200);
    await lab.store.keys.revoke(member.keyId);
    const refused = await member.call('POST', '/v1/verify', { email: 'a@good.com' }, from());
    expect([refused.status, refused.json.code]).toEqual([401, 'revoked_api_key']);
    expect((await lab.store.keys.list(member.account.id))[0]).toMatchObject({
      id: member.keyId,
      revokedAt: expect.any(Number),
    });
  });

  it('returns 401 for a suspended account until it is resumed', async () => {
    const member = await lab.member();
    await lab.store.accounts.set(member.account.id, { status: 'suspended' });
    expect((await member.call('GET', '/v1/usage', undefined, from())).status).toBe(401);
    await lab.store.accounts.set(member.account.id, { status: 'active' });
    expect((await member.call('GET', '/v1/usage', undefined, from())).status).toBe(200);
  });
});

describe('IP allowlist of a key', () => {
  it.each([
    ['198.51.100.7', '198.51.100.7', 200],
    ['198.51.100.7', '198.51.100.8', 403],
    ['198.51.100.0/24', '198.51.100.200', 200],
    ['198.51.100.0/24', '198.51.101.1', 403],
    ['198.51.100.0/24', '::ffff:198.51.100.9', 200],
    ['2001:db8:1::/48', '2001:db8:1:2::3', 200],
    ['2001:db8:1::/48', '2001:db8:2::1', 403],
    ['2001:DB8::0001', '2001:db8::1', 200],
  ])('%s and a caller at %s: %i', async (allowed, caller, status) => {
    const { value } = await createKey(lab.store, owner.account.id, { name: 'listed', allowIps: [allowed] });
    const reply = await usage({ authorization: `Bearer ${value}`, 'x-forwarded-for': caller });
    expect(reply.status).toBe(status);
    if (status === 403) expect(reply.json.code).toBe('ip_not_allowed');
  });

  it('trusts only the part of X-Forwarded-For added by trusted proxies', async () => {
    const { value } = await createKey(lab.store, owner.account.id, { name: 'listed', allowIps: ['198.51.100.7'] });
    const call = (chain: string) => usage({ authorization: `Bearer ${value}`, 'x-forwarded-for': chain });
    expect((await call('192.0.2.1, 198.51.100.7, 10.1.2.3')).status).toBe(200);
    expect((await call('198.51.100.7, 192.0.2.1')).status).toBe(403);
    expect((await call('198.51.100.7, nonsense')).status).toBe(403);
  });
});

describe('requests rejected with 401', () => {
  it('are rate-limited per client IP, independently of accounts', async () => {
    const stranger = { 'x-forwarded-for': '192.0.2.200' };
    const attempt = () => request(lab.url, 'GET', '/v1/usage', undefined, { ...stranger, authorization: 'Bearer x' });
    for (let i = 0; i < FAILED_AUTH_PER_WINDOW; i++) expect((await attempt()).status).toBe(401);
    const limited = await attempt();
    expect([limited.status, limited.json.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
    const owned = await request(lab.url, 'GET', '/v1/usage', undefined, {
      ...stranger,
      authorization: `Bearer ${owner.key}`,
    });
    expect(owned.status).toBe(200);
  });
});
