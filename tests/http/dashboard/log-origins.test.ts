/** How the log tells apart through which contract a call came. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Lab, type Member, startLab } from '../../lab/service.ts';
import { type Client, of, signedIn } from './client.ts';

let lab: Lab;
let member: Member;
let ada: Client;

const mcp = (email: string) =>
  member.call(
    'POST',
    '/mcp',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'verify_email', arguments: { email } } },
    { accept: 'application/json, text/event-stream' },
  );
const kickbox = (email: string) => member.call('GET', `/compat/kickbox/v2/verify?email=${encodeURIComponent(email)}`);
/** At the root. */
const neverbounce = (email: string) => member.call('POST', '/v4/single/check', { key: member.key, email });

beforeAll(async () => {
  lab = await startLab({ MAILVET_COMPAT: 'neverbounce' });
  member = await lab.member();
  ada = await signedIn(lab, { account: member.account, role: 'admin' });
  // Decided within the admission, and after a hold.
  for (const email of ['bob@mailinator.com', 'cy@good.com']) {
    await member.verify(`own-${email}`);
    expect((await kickbox(`kickbox-${email}`)).status).toBe(200);
    expect((await neverbounce(`neverbounce-${email}`)).json.status).toBe('success');
    expect((await mcp(`mcp-${email}`)).status).toBe(200);
  }
  const list = (await member.call('POST', '/v1/lists', { emails: ['list@mailinator.com'] })).json;
  await vi.waitFor(
    async () => expect((await member.call('GET', `/v1/lists/${list.id}`)).json.status).toBe('completed'),
    { timeout: 30_000 },
  );
});
afterAll(() => lab.close());

const search = async (query: Record<string, string>) => {
  return (await ada.call('GET', `${of(member.account, '/log')}?${new URLSearchParams(query)}`)).json;
};
type Json = ReturnType<JSON['parse']>;

it.each([
  ['api', ['own-bob', 'own-cy'], [null, null]],
  ['mcp', ['mcp-bob', 'mcp-cy'], ['mcp', 'mcp']],
  [
    'compat',
    ['kickbox-bob', 'kickbox-cy', 'neverbounce-bob', 'neverbounce-cy'],
    ['kickbox', 'kickbox', 'neverbounce', 'neverbounce'],
  ],
  ['list', ['list'], [null]],
  ['dashboard', [], []],
])('the origin %s', async (origin, names, vias) => {
  const { entries } = await search({ origin });
  const found: [string, string | null][] = entries.map(({ email, via }: Json) => [email.split('@')[0], via]);
  found.sort(([a], [b]) => (a < b ? -1 : 1));
  expect(found).toEqual(names.map((name, i) => [name, vias[i]]));
});

it('of rejected requests, too', async () => {
  const poor = await lab.member({ credits: 0 });
  const bob = await signedIn(lab, { account: poor.account });
  expect((await poor.verify('a@good.com')).status).toBe(402);
  expect((await poor.call('GET', '/compat/kickbox/v2/verify?email=a@good.com')).status).toBe(403);
  const rejectedOf = async (origin: string) => {
    const { json } = await bob.call('GET', `${of(poor.account, '/log')}?${new URLSearchParams({ origin })}`);
    return json.rejected.map(({ route, via }: Json) => [route, via]);
  };
  await expect
    .poll(() => rejectedOf('compat'), { timeout: 30_000 })
    .toEqual([['GET /compat/kickbox/v2/verify', 'kickbox']]);
  expect(await rejectedOf('api')).toEqual([['POST /v1/verify', null]]);
  expect(await rejectedOf('mcp')).toEqual([]);

  // What is asked for without something has rejected requests too, which have no reason, no key of the dashboard, …
  const without = async (query: Record<string, string>) => {
    const search = new URLSearchParams({ ...query, not: Object.keys(query).join(',') });
    const { json } = await bob.call('GET', `${of(poor.account, '/log')}?${search}`);
    return json.rejected.map(({ route }: Json) => route);
  };
  const [own, kickboxs] = ['POST /v1/verify', 'GET /compat/kickbox/v2/verify'];
  expect(await without({ origin: 'compat' })).toEqual([own]);
  expect(await without({ origin: 'api' })).toEqual([kickboxs]);
  for (const query of [
    { origin: 'list' },
    { status: 'good' },
    { reason: 'catch_all', level: 'mx' },
    { key: 'dashboard' },
  ])
    expect([query, (await without(query)).sort()]).toEqual([query, [kickboxs, own]]);
  for (const query of [{ status: 'rejected' }, { key: poor.keyId }]) expect(await without(query)).toEqual([]);
});

it.each<[string, string, string, object?]>([
  ['kickbox', 'GET', '/v2/verify?email='],
  ['emailable', 'POST', '/v1/verify'],
  ['neverbounce', 'POST', '/v4/single/check'],
  ['zerobounce', 'GET', '/v2/validate?email='],
  ['zerobounce', 'POST', '/v2/validatebatch', { email_batch: [] }],
  ['zerobounce', 'POST', '/v2/validatebatch', { email_batch: [{ email_address: '' }] }],
  ['reacher', 'POST', '/v1/check_email'],
])('a call of %s without an address is a rejected request: %s %s', async (vendor, method, path, sent = {}) => {
  const some = await lab.member({ credits: 9 });
  const bob = await signedIn(lab, { account: some.account });
  const body = method === 'GET' ? undefined : { email: '', to_email: '', ...sent };
  await some.call(method, `/compat/${vendor}${path}`, body);
  const rejected = async () => (await bob.call('GET', of(some.account, '/log?origin=compat'))).json.rejected;
  await expect.poll(rejected, { timeout: 30_000 }).toHaveLength(1);
  const route = `${method} /compat/${vendor}${path.split('?')[0]}`;
  expect(await rejected()).toMatchObject([{ route, via: vendor, status: 400, code: expect.any(String) }]);
  const { json } = await some.call('GET', '/v1/usage');
  expect([json.totals.requests, json.credits.remaining]).toEqual([0, 9]);
});

it('an error that a contract reports with the status 200 is a rejected request with its own status', async () => {
  const poor = await lab.member({ credits: 0 });
  const bob = await signedIn(lab, { account: poor.account });
  const email = 'a@good.com';
  const reply = await poor.call('POST', '/v4/single/check', { key: poor.key, email });
  expect([reply.status, reply.json.status]).toEqual([200, 'general_failure']);
  const batch = { api_key: poor.key, email_batch: [{ email_address: email }] };
  expect((await poor.call('POST', '/compat/zerobounce/v2/validatebatch', batch)).status).toBe(200);
  const tool = { name: 'verify_email', arguments: { email } };
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: tool };
  const answer = await poor.call('POST', '/mcp', call, { accept: 'application/json, text/event-stream' });
  expect([answer.status, answer.json.result.isError]).toEqual([200, true]);
  const rejected = async () =>
    (await bob.call('GET', of(poor.account, '/log'))).json.rejected.map(({ via, status, code }: Json) => [
      via,
      status,
      code,
    ]);
  await expect.poll(rejected, { timeout: 30_000 }).toHaveLength(3);
  expect((await rejected()).sort()).toEqual([
    ['mcp', 402, 'insufficient_credits'],
    ['neverbounce', 402, 'insufficient_credits'],
    ['zerobounce', 402, 'insufficient_credits'],
  ]);
});
