import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, type Member, request, startLab } from '../../lab/service.ts';
import { type Client, nobody, of, signedIn } from './client.ts';

const PUBLIC = 'https://mail.example.com';
let lab: Lab;
let member: Member;
let admin: Client;
beforeAll(async () => {
  lab = await startLab({ MAILVET_PUBLIC_URL: PUBLIC });
  member = await lab.member();
  admin = await signedIn(lab, { account: member.account, role: 'admin' });
});
afterAll(() => lab.close());

const host = () => new URL(lab.url).host;
const line = (headers: Record<string, string>) =>
  admin.call('PUT', of(member.account, '/low-balance'), { credits: 5 }, headers);

describe('the guard of the dashboard', () => {
  it('accepts a session, and changes from same-origin requests', async () => {
    const own = { 'sec-fetch-site': 'same-origin', origin: `http://${host()}` };
    expect((await line(own)).status).toBe(200);
    expect((await admin.call('GET', of(member.account, '/overview'))).json.low_balance).toBe(5);
  });

  it('compares with the public URL, whatever Host a proxy sends', async () => {
    expect((await line({ origin: PUBLIC })).status).toBe(200);
    // Non-browser clients send neither header.
    expect((await line({})).status).toBe(200);
  });

  it.each([
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'cross-site', origin: PUBLIC },
    { origin: 'https://evil.example.com' },
    { origin: 'null' },
    { origin: 'file:///etc/passwd' },
    { origin: `${PUBLIC}.evil.com` },
    { origin: 'https://mail.example.com:8443' },
    { origin: `${PUBLIC}, ${PUBLIC}` },
  ])('a change that another site asks for is refused: %o', async (headers) => {
    const { status, json } = await line(headers);
    expect([status, json.code]).toEqual([403, 'cross_origin']);
  });

  it('allows cross-site reads: browsers do not expose the response', async () => {
    const look = await admin.call('GET', of(member.account), undefined, { 'sec-fetch-site': 'cross-site' });
    expect(look.status).toBe(200);
    expect(look.headers.get('access-control-allow-origin')).toBe(null);
  });

  it('rejects an API key, with or without a session', async () => {
    const withKey = await member.call('GET', of(member.account));
    expect([withKey.status, withKey.json.code]).toEqual([401, 'not_signed_in']);
    expect(withKey.headers.get('www-authenticate')).toBe(null);
  });

  it('/v1 rejects a session', async () => {
    const { status, json } = await request(lab.url, 'GET', '/v1/usage', undefined, { cookie: admin.cookie });
    expect([status, json.code]).toEqual([401, 'missing_api_key']);
  });

  it.each([
    '',
    'mailvet.session_token=',
    'mailvet.session_token=nonsense',
    'mailvet.session_token=%00%ff; __Secure-mailvet.session_token=x.y',
    `mailvet.session_token=${'a'.repeat(6000)}`,
    '=;;; mailvet.session_token',
  ])('a cookie that is no session is nobody: %j', async (cookie) => {
    const { status } = await nobody(lab)('GET', of(member.account), undefined, { cookie });
    expect(status).toBe(401);
  });

  it('rejects a session cookie with a wrong signature', async () => {
    const session = /mailvet\.session_token=[^;]+/.exec(admin.cookie)?.[0] ?? '';
    const last = session.at(-5) === 'A' ? 'B' : 'A';
    const cookie = `${session.slice(0, -5)}${last}${session.slice(-4)}`;
    expect((await nobody(lab)('GET', of(member.account), undefined, { cookie })).status).toBe(401);
  });

  it('unknown paths are 404, known ones with another method 405', async () => {
    const nowhere = await admin.call('GET', '/dashboard/nowhere');
    expect([nowhere.status, nowhere.json.code]).toEqual([404, 'not_found']);
    const wrong = await admin.call('DELETE', of(member.account, '/keys'));
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, POST, HEAD']);
    expect((await admin.call('GET', of(member.account, '/usageXcsv'))).status).toBe(404);
  });

  it('HEAD responds like GET, without a body', async () => {
    const reply = await fetch(lab.url + of(member.account), { method: 'HEAD', headers: { cookie: admin.cookie } });
    expect([reply.status, await reply.text()]).toEqual([200, '']);
  });
});

describe('parsing of requests', () => {
  const put = (body: unknown, headers: Record<string, string> = {}) =>
    admin.call('PUT', of(member.account, '/low-balance'), body, headers);

  it.each([
    ['no body', undefined, {}, 415, 'unsupported_media_type'],
    ['a form', 'credits=5', { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'unsupported_media_type'],
    ['text', '{"credits": 5}', { 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
    ['no JSON', '{credits', {}, 400, 'invalid_json'],
    ['a list', '[]', {}, 400, 'invalid_json'],
    ['nothing in it', '{}', {}, 400, 'missing_parameter'],
    ['a string for a number', '{"credits": "5"}', {}, 400, 'invalid_parameter'],
    ['a fraction', '{"credits": 5.5}', {}, 400, 'invalid_parameter'],
    ['too much', JSON.stringify({ credits: 5, more: 'x'.repeat(17_000) }), {}, 413, 'body_too_large'],
  ] as const)('a body with %s is refused', async (_what, body, headers, status, code) => {
    const reply = await put(body, { ...headers });
    expect([reply.status, reply.json.code]).toEqual([status, code]);
  });

  it.each([
    ['bucket=hour&bucket=day', 'bucket'],
    ['bucket=week', 'bucket'],
    ['from=yesterday', 'from'],
    ['from=2026-02-30', 'from'],
    ['to=%00', 'to'],
  ])('a query of %s is refused by name', async (query, field) => {
    const { status, json } = await admin.call('GET', `${of(member.account, '/usage')}?${query}`);
    expect([status, json.code, json.field]).toEqual([400, 'invalid_parameter', field]);
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=5.0', 'limit'],
    ['before=-1', 'before'],
    ['before=99999999999999999999', 'before'],
  ])('so is %s', async (query, field) => {
    const { status, json } = await admin.call('GET', `${of(member.account, '/ledger')}?${query}`);
    expect([status, json.field]).toEqual([400, field]);
    expect(json.error).toContain(field);
  });

  it.each(['%00', '%0a', '..', '%2e%2e%2f', 'acc_x', '%F0%9F%90%B4'])('account %s is not found', async (id) => {
    expect((await admin.call('GET', `/dashboard/accounts/${id}/overview`)).status).toBe(404);
  });
});
