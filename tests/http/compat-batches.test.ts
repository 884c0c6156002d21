/** Other services' contracts beyond single calls: keys in every place, batches, bulk jobs, paths at the root. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Lab, type Member, request, startLab } from '../lab/service.ts';
import { compatClients, type Json } from './compat-clients.ts';

let lab: Lab;
let owner: Member;
let tester: Member;
beforeAll(async () => {
  lab = await startLab({ MAILVET_COMPAT: 'kickbox,emailable' });
});
beforeEach(async () => {
  owner = await lab.member({ credits: 1000, rateLimit: 1000 });
  tester = await lab.testMember(owner);
});
afterAll(() => lab.close());

const { zerobounceBatch } = compatClients(() => lab.url);

describe('where the key stands', () => {
  it('query, body, form, headers', async () => {
    const { key } = tester;
    const email = 'deliverable@example.com';
    const found = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      (await request(lab.url, method, `/compat/${path}`, body, headers)).json;
    expect(await found('GET', `kickbox/v2/verify?email=${email}&apikey=${key}`)).toMatchObject({
      result: 'deliverable',
    });
    expect(await found('GET', `emailable/v1/verify?email=${email}&api_key=${key}`)).toMatchObject({
      state: 'deliverable',
    });
    expect(await found('GET', `neverbounce/v4/single/check?email=${email}&key=${key}`)).toMatchObject({
      result: 'valid',
    });
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(await found('POST', 'neverbounce/v4/single/check', `key=${key}&email=${email}`, form)).toMatchObject({
      result: 'valid',
    });
    expect(await found('POST', `neverbounce/v4/single/check?key=${key}&email=${email}`)).toMatchObject({
      result: 'valid',
    });
    expect(await found('POST', `neverbounce/v4/account/info?key=${key}`)).toMatchObject({ status: 'success' });
    const bearer = { authorization: `Bearer ${key}` };
    expect(await found('POST', 'reacher/v0/check_email', { to_email: email }, bearer)).toMatchObject({
      is_reachable: 'safe',
    });
  });
});

it('a batch waits with one listener for its client', async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error) => warnings.push(name);
  process.on('warning', note);
  // None of them is cached, so each waits for the resolver.
  const addresses = Array.from({ length: 60 }, (_, i) => ({ email_address: `a@batch${i}.example.net` }));
  const { email_batch } = await zerobounceBatch(owner.key, addresses);
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', note);
  expect(email_batch).toHaveLength(60);
  expect(warnings).toEqual([]);
});

it('a key in a body that is wrong otherwise is found, and the account’s log has the error', async () => {
  const member = await lab.member({ rateLimit: 3 });
  const sent = async (path: string, body: object) => {
    const { status, json } = await request(lab.url, 'POST', `/compat/${path}`, { ...body, api_key: member.key });
    return [status, JSON.stringify(json)];
  };
  const batch = 'zerobounce/v2/validatebatch';
  expect(await sent('emailable/v1/verify', {})).toEqual([400, expect.stringContaining('"email\\" is missing')]);
  expect(await sent(batch, { email_batch: [] })).toEqual([400, expect.stringContaining('email_batch')]);
  expect(await sent(batch, { email_batch: 'x' })).toEqual([400, expect.stringContaining('email_batch')]);
  expect(await sent(batch, { email_batch: [] })).toEqual([429, expect.any(String)]);
});

describe('ZeroBounce’s batch', () => {
  it('has a result or an error for each address, in order', async () => {
    const batch = ['deliverable', 'mailbox_not_found', 'insufficient_credits', 'catch_all'].map((name) => ({
      email_address: `${name}@example.com`,
    }));
    const { email_batch, errors } = await zerobounceBatch(tester.key, batch);
    expect(email_batch.map(({ address, status }: Json) => [address.split('@')[0], status])).toEqual([
      ['deliverable', 'valid'],
      ['mailbox_not_found', 'invalid'],
      ['catch_all', 'catch-all'],
    ]);
    expect(errors).toEqual([
      {
        error: 'Invalid API key or your account ran out of credits',
        email_address: 'insufficient_credits@example.com',
      },
    ]);
  });

  it('counts every address, and takes 200', async () => {
    const limited = await lab.member({ rateLimit: 3 });
    const three = Array.from({ length: 5 }, (_, i) => ({ email_address: `${i}@null-mx.com`, ip_address: 'no ip' }));
    const { email_batch, errors } = await zerobounceBatch(limited.key, three);
    expect([email_batch.length, errors.length]).toEqual([3, 2]);
    const many = Array.from({ length: 200 }, (_, i) => ({ email_address: `deliverable+${i}@example.com` }));
    expect((await zerobounceBatch(tester.key, many)).email_batch).toHaveLength(200);
    const error = { error: expect.any(String), email_address: 'all' };
    expect(await zerobounceBatch(tester.key, [...many, ...many])).toEqual({ email_batch: [], errors: [error] });
    expect(await zerobounceBatch(`mv_live_${'x'.repeat(32)}`, many)).toEqual({ email_batch: [], errors: [error] });
    expect(await lab.store.accounts.audit()).toEqual([]);
  });
});

describe('Reacher’s bulk jobs', () => {
  const call = (key: string, method: string, path: string, body?: unknown) =>
    request(lab.url, method, `/compat/reacher/v1/bulk${path}`, body, { authorization: key });

  it.each(['test', 'live'] as const)('become lists: %s mode', async (mode) => {
    const { key } = mode === 'test' ? tester : owner;
    const input =
      mode === 'test'
        ? ['deliverable@example.com', 'mailbox_not_found@example.com', 'catch_all@example.com', 'not an address']
        : ['a@null-mx.com', 'b@no-mail.com', 'not an address'];
    const created = await call(key, 'POST', '', { input });
    expect([created.status, created.json]).toEqual([200, { job_id: expect.any(String) }]);
    const { job_id } = created.json;
    await expect
      .poll(async () => (await call(key, 'GET', `/${job_id}`)).json, { timeout: 30_000 })
      .toMatchObject({ job_status: 'Completed', total_records: input.length, total_processed: input.length });
    const { json } = await call(key, 'GET', `/${job_id}/results?limit=2&offset=1`);
    expect(json.results.map((result: Json) => [result.input, result.is_reachable])).toEqual([
      [input[1], 'invalid'],
      [input[2], mode === 'test' ? 'risky' : 'invalid'],
    ]);
    const stranger = await lab.member();
    expect((await call(stranger.key, 'GET', `/${job_id}`)).status).toBe(404);
    expect(await lab.store.accounts.audit()).toEqual([]);
  });

  it('that cannot start, or have no input, are errors', async () => {
    const poor = await lab.member({ credits: 0 });
    const unpaid = await call(poor.key, 'POST', '', { input: ['a@good.com'] });
    expect([unpaid.status, unpaid.json]).toEqual([402, { error: expect.stringMatching(/needs 10 credits/) }]);
    const left = await request(lab.url, 'GET', '/v1/lists', undefined, { authorization: `Bearer ${poor.key}` });
    expect(left.json.lists).toEqual([]);
    expect((await call(owner.key, 'POST', '', { emails: [] })).status).toBe(400);
  });
});

describe('at the root', () => {
  it('chosen vendors are served, others are not, and our own paths stay', async () => {
    const { key } = tester;
    const email = 'deliverable@example.com';
    expect((await request(lab.url, 'GET', `/v2/verify?email=${email}&apikey=${key}`)).json.result).toBe('deliverable');
    const emailable = await request(lab.url, 'GET', `/v1/verify?email=${email}&api_key=${key}`);
    expect([emailable.json.state, emailable.headers.get('cache-control')]).toEqual(['deliverable', 'no-store']);
    expect((await tester.verify(email)).json.status).toBe('good');
    expect((await request(lab.url, 'GET', `/v2/validate?email=${email}&api_key=${key}`)).status).toBe(404);
  });

  it('Kickbox’s open list needs no key', async () => {
    const disposable = async (domain: string) =>
      (await request(lab.url, 'GET', `/v1/disposable/${domain}`)).json.disposable;
    expect([
      await disposable('mailinator.com'),
      await disposable('a@Mailinator.com'),
      await disposable('good.com'),
    ]).toEqual([true, true, false]);
  });
});
