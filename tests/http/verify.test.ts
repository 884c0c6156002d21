import { request as rawRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, type Member, request, startLab } from '../lab/service.ts';

let lab: Lab;
let owner: Member;

beforeAll(async () => {
  const host = 'us-smtp-inbound-1.mimecast.com';
  lab = await startLab({}, { net: { 'filtered-mail.com': { MX: [[10, host]] }, [host]: { A: ['127.0.0.1'] } } });
  owner = await lab.member({ credits: 10_000, rateLimit: 100_000 });
});
afterAll(() => lab.close());

const balance = async (m: Member) => (await lab.store.accounts.get(m.account.id))!.balance;

describe('POST /v1/verify', () => {
  it('returns the verdict, the reason and the price', async () => {
    const before = await balance(owner);
    const { status, json, headers } = await owner.verify('Jane.Doe+news@google-hosted.com');
    expect(status).toBe(200);
    expect(Object.keys(json).slice(0, 5)).toEqual([
      'email',
      'status',
      'validation_type',
      'credits_used',
      'is_disposable',
    ]);
    expect(json).toMatchObject({
      email: 'Jane.Doe+news@google-hosted.com',
      status: 'good',
      validation_type: 'mx',
      credits_used: 1,
      is_disposable: false,
      deliverability: 'unknown',
      reason: null,
      normalized_email: 'Jane.Doe+news@google-hosted.com',
      canonical_email: 'jane.doe@google-hosted.com',
      canonical_rule: 'google-workspace',
      relay_provider: null,
      local_part: 'Jane.Doe+news',
      domain: 'google-hosted.com',
      tag: 'news',
      is_role: false,
      is_catch_all: null,
      checks: {
        syntax: { result: 'pass' },
        filter: { result: 'pass' },
        disposable: { result: 'pass', list_version: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) },
        domain: { result: 'pass' },
        mx: {
          result: 'pass',
          records: [{ host: 'aspmx.l.google.com', priority: 1 }],
          provider: 'google',
          provider_kind: 'mailbox',
        },
        smtp: { result: 'skipped' },
        catch_all: { result: 'skipped' },
      },
      id: expect.stringMatching(/^ver_/),
      verified_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(headers.get('x-credits-remaining')).toBe(String(before - 1));
    expect(await balance(owner)).toBe(before - 1);
    const recorded = await lab.store.verifications.get(owner.account.id, json.id);
    expect(JSON.parse(recorded!.body)).toEqual(json);
  });

  it.each([
    ['a..b@good.com', 'bad', 'undeliverable', 'invalid_format'],
    ['someone@mailinator.com', 'bad', 'risky', 'disposable_domain'],
    ['someone@front.com', 'bad', 'risky', 'disposable_domain'],
    ['someone@nowhere-at-all.com', 'bad', 'undeliverable', 'domain_not_found'],
    ['someone@no-mail.com', 'bad', 'undeliverable', 'no_mx_records'],
    ['someone@null-mx.com', 'bad', 'undeliverable', 'null_mx'],
    ['someone@broken-mx.com', 'bad', 'undeliverable', 'mx_unusable'],
    ['someone@lame.com', 'bad', 'unknown', 'dns_failure'],
    ['someone@silent.com', 'bad', 'unknown', 'dns_failure'],
    ['someone@implicit.com', 'good', 'unknown', null],
    ['someone@good.com', 'good', 'unknown', null],
  ])('%s is %s: %s, %s, for one credit', async (email, status, deliverability, reason) => {
    const before = await balance(owner);
    const { json } = await owner.verify(email);
    expect(json).toMatchObject({ email, status, deliverability, reason, credits_used: 1, validation_type: 'mx' });
    expect(Object.keys(json.checks)).toEqual(['syntax', 'filter', 'disposable', 'domain', 'mx', 'smtp', 'catch_all']);
    expect(await balance(owner)).toBe(before - 1);
  });

  it.each([
    ['someone@gmail.no-such-domain.com', 'domain_not_found', null],
    ['someone@gmail.net', 'domain_not_found', 'someone@gmail.com'],
    ['someone@hotmail.org', 'null_mx', 'someone@hotmail.com'],
    ['someone@outlook.fi', 'no_mx_records', 'someone@outlook.com'],
    ['someone@yahoo.lu', null, null],
    ['someone @gmail.com', 'invalid_format', 'someone@gmail.com'],
    ['so–me@good.com', null, 'so-me@good.com'],
  ])('%s (%s) suggests %s: a name of a provider where its DNS says no', async (email, reason, meant) => {
    expect((await owner.verify(email)).json).toMatchObject({ reason, did_you_mean: meant });
  });

  it.each([
    ['J.Ane.Doe+x@googlemail.com', 'janedoe@gmail.com', 'gmail.com'],
    ['Someone+x@good.com', 'someone@good.com', 'tag'],
    ['Someone@good.com', 'someone@good.com', null],
    ['a@@good.com', null, null],
  ])('%s compares as %s, by %s', async (email, address, rule) => {
    const { json } = await owner.verify(email);
    expect(json).toMatchObject({ canonical_email: address, canonical_rule: rule });
  });

  it('says what the mail hosts do, also from memory', async () => {
    const { relay_provider, checks } = (await owner.verify('jane@filtered-mail.com')).json;
    expect([relay_provider, checks.mx]).toMatchObject([null, { provider: 'mimecast', provider_kind: 'gateway' }]);
    lab.dns.queries.length = 0;
    expect((await owner.verify('bo@filtered-mail.com')).json.checks.mx).toEqual(checks.mx);
    expect(lab.dns.queries).toEqual([]);
    const { json } = await owner.verify('jane@good.com');
    expect(json.checks.mx).toMatchObject({ provider: null, provider_kind: null });
  });

  it('names who runs a relay', async () => {
    expect((await owner.verify('a1@duck.com')).json).toMatchObject({
      is_relay: true,
      relay_provider: 'DuckDuckGo Email Protection',
    });
  });

  it('reports the error of a malformed address and its position', async () => {
    const { json } = await owner.verify('jane..doe@good.com');
    expect(json.checks.syntax).toEqual({ result: 'fail', error: 'double_dot', index: 5 });
    expect(json).toMatchObject({ normalized_email: null, local_part: null, domain: null, is_role: null });
  });

  it('echoes the address exactly as sent', async () => {
    for (const email of [
      ' a@good.com',
      'a\u0000b@good.com',
      'a@good.com\r\nRCPT TO:<x>',
      '\ud800@good.com',
      'ÄÖ@good.com',
    ]) {
      const { status, json } = await owner.verify(email);
      expect(status).toBe(200);
      expect(json.email).toBe(email);
    }
  });

  it('stops at a filter match and charges nothing', async () => {
    const guarded = await lab.member({ credits: 1 });
    await guarded.call('POST', '/v1/filters', { value: 'good.com' });
    const { json } = await guarded.verify('a@sub.good.com');
    expect(json).toMatchObject({
      status: 'bad',
      deliverability: 'undeliverable',
      reason: 'blocked_by_filter',
      credits_used: 0,
    });
    expect(json.checks.filter).toMatchObject({ result: 'fail', filter_type: 'domain', value: 'good.com' });
    expect(await balance(guarded)).toBe(1);
    const elsewhere = await guarded.verify('a@implicit.com');
    expect(elsewhere.json).toMatchObject({ status: 'good', credits_used: 1 });
  });

  it('matches ip_address filters against client_ip, or the caller’s IP', async () => {
    const guarded = await lab.member();
    await guarded.call('POST', '/v1/filters', { value: '198.51.100.0/24' });
    expect((await guarded.verify('a@good.com', { client_ip: '198.51.100.77' })).json.reason).toBe('blocked_by_filter');
    expect((await guarded.verify('a@good.com', { client_ip: '::ffff:198.51.100.77' })).json.reason).toBe(
      'blocked_by_filter',
    );
    expect((await guarded.verify('a@good.com')).json.reason).toBe(null);
    await guarded.call('POST', '/v1/filters', { value: '127.0.0.1' });
    expect((await guarded.verify('a@good.com')).json.reason).toBe('blocked_by_filter');
  });

  it('does not apply or show filters of another account', async () => {
    const [one, stranger] = [await lab.member(), await lab.member()];
    await one.call('POST', '/v1/filters', { value: 'good.com' });
    expect((await stranger.verify('a@good.com')).json.reason).toBe(null);
  });
});

describe('bad requests to POST /v1/verify are rejected and never charged', () => {
  it.each<[string, unknown, number, string, string | undefined]>([
    ['no body', '', 400, 'invalid_json', undefined],
    ['no JSON', '{"email": ', 400, 'invalid_json', undefined],
    ['an array', [], 400, 'invalid_json', undefined],
    ['null', 'null', 400, 'invalid_json', undefined],
    ['deep nesting', '['.repeat(8000) + ']'.repeat(8000), 400, 'invalid_json', undefined],
    ['no email', {}, 400, 'missing_parameter', 'email'],
    ['email false', { email: false }, 400, 'invalid_parameter', 'email'],
    ['email null', { email: null }, 400, 'invalid_parameter', 'email'],
    ['email ""', { email: '' }, 400, 'invalid_parameter', 'email'],
    ['email of 1,025', { email: 'a'.repeat(1025) }, 400, 'invalid_parameter', 'email'],
    ['email array', { email: ['a@good.com'] }, 400, 'invalid_parameter', 'email'],
    ['email only in __proto__', '{"__proto__": {"email": "a@good.com"}}', 400, 'missing_parameter', 'email'],
    ['type full', { email: 'a@good.com', validation_type: 'full' }, 422, 'invalid_validation_type', 'validation_type'],
    ['type null', { email: 'a@good.com', validation_type: null }, 422, 'invalid_validation_type', 'validation_type'],
    ['type 1', { email: 'a@good.com', validation_type: 1 }, 422, 'invalid_validation_type', 'validation_type'],
    ['type MX', { email: 'a@good.com', validation_type: 'MX' }, 422, 'invalid_validation_type', 'validation_type'],
    ['type wrong and no email', { validation_type: 'x' }, 400, 'missing_parameter', 'email'],
    ['timeout 999', { email: 'a@good.com', timeout_ms: 999 }, 400, 'invalid_parameter', 'timeout_ms'],
    ['timeout 30001', { email: 'a@good.com', timeout_ms: 30001 }, 400, 'invalid_parameter', 'timeout_ms'],
    ['timeout "5000"', { email: 'a@good.com', timeout_ms: '5000' }, 400, 'invalid_parameter', 'timeout_ms'],
    ['timeout 1000.5', { email: 'a@good.com', timeout_ms: 1000.5 }, 400, 'invalid_parameter', 'timeout_ms'],
    ['client_ip 1', { email: 'a@good.com', client_ip: 1 }, 400, 'invalid_parameter', 'client_ip'],
    ['client_ip none', { email: 'a@good.com', client_ip: 'nobody' }, 400, 'invalid_parameter', 'client_ip'],
    ['client_ip cidr', { email: 'a@good.com', client_ip: '10.0.0.0/8' }, 400, 'invalid_parameter', 'client_ip'],
    [
      'client_ip none, type wrong',
      { email: 'a@b.com', client_ip: 'x', validation_type: 1 },
      400,
      'invalid_parameter',
      'client_ip',
    ],
  ])('%s', async (_name, body, status, code, field) => {
    const before = await balance(owner);
    const reply = await owner.call('POST', '/v1/verify', body);
    expect(reply.json).toMatchObject({ code, error: expect.any(String), request_id: expect.stringMatching(/^req_/) });
    expect(reply.json.field).toBe(field);
    expect(reply.status).toBe(status);
    expect(await balance(owner)).toBe(before);
  });

  it('ignores unknown fields', async () => {
    const { status } = await owner.call(
      'POST',
      '/v1/verify',
      '{"email":"a@good.com","__proto__":{"x":1},"constructor":1}',
    );
    expect(status).toBe(200);
  });

  it('accepts 16 KiB and rejects one byte more with 413', async () => {
    const body = (size: number) => {
      const text = JSON.stringify({ email: 'a@good.com', pad: '' });
      return text.replace('"pad":""', `"pad":"${'x'.repeat(size - text.length)}"`);
    };
    expect((await owner.call('POST', '/v1/verify', body(16 * 1024))).status).toBe(200);
    const over = await owner.call('POST', '/v1/verify', body(16 * 1024 + 1));
    expect([over.status, over.json.code]).toEqual([413, 'body_too_large']);
  });

  it('accepts only application/json, with or without a charset', async () => {
    const send = (type: string) => owner.call('POST', '/v1/verify', '{"email":"a@good.com"}', { 'content-type': type });
    expect((await send('application/json; charset=utf-8')).status).toBe(200);
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/jsonx',
      'multipart/form-data',
    ]) {
      const reply = await send(type);
      expect([type, reply.status, reply.json.code]).toEqual([type, 415, 'unsupported_media_type']);
    }
  });

  it('checks key and path before the media type, even an invalid one', async () => {
    const { hostname, port } = new URL(lab.url);
    const send = (method: string, path: string, type: string, key: string | null) =>
      new Promise<number>((resolve, reject) => {
        const headers = { 'content-type': type, ...(key === null ? {} : { authorization: `Bearer ${key}` }) };
        const sent = rawRequest({ host: hostname, port, method, path, headers }, (response) => {
          response.resume();
          resolve(response.statusCode!);
        });
        sent.on('error', reject);
        sent.end(method === 'POST' ? '{"email":"a@good.com"}' : undefined);
      });
    for (const type of ['', 'application/json, application/json', 'text/plain, x', ';']) {
      expect([type, await send('POST', '/v1/verify', type, null)]).toEqual([type, 401]);
      expect([type, await send('POST', '/v1/verify', type, owner.key)]).toEqual([type, 415]);
      expect([type, await send('POST', '/v1/nowhere', type, null)]).toEqual([type, 404]);
      expect([type, await send('DELETE', '/v1/filters/1', type, owner.key)]).toEqual([type, 404]);
    }
    expect(await send('QUERY', '/v1/usage', 'text/plain', null)).toBe(405);
  });

  it('rejects a compressed body with 415', async () => {
    const reply = await owner.call('POST', '/v1/verify', '{"email":"a@good.com"}', { 'content-encoding': 'gzip' });
    expect([reply.status, reply.json.code]).toEqual([415, 'unsupported_media_type']);
  });

  it('rejects invalid UTF-8', async () => {
    const response = await fetch(`${lab.url}/v1/verify`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.key}`, 'content-type': 'application/json' },
      body: Buffer.concat([Buffer.from('{"email":"a'), Buffer.from([0xff]), Buffer.from('@good.com"}')]),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'invalid_json' });
  });
});

describe('plan and credits', () => {
  it('smtp requires Premium: 402 with the required plan', async () => {
    const starter = await lab.member({ plan: 'starter' });
    const { status, json } = await starter.verify('a@good.com', { validation_type: 'smtp' });
    expect(status).toBe(402);
    expect(json).toMatchObject({ code: 'plan_upgrade_required', current_plan: 'starter', upgrade_required: 'premium' });
    expect(await balance(starter)).toBe(1000);
  });

  it('a request for smtp that ends at the mx level costs 1', async () => {
    const premium = await lab.member({ credits: 20 });
    const { json } = await premium.verify('a@null-mx.com', { validation_type: 'smtp' });
    expect(json).toMatchObject({ validation_type: 'mx', credits_used: 1, reason: 'null_mx' });
    expect(await balance(premium)).toBe(19);
  });

  it('64 parallel requests on 10 credits: exactly 10 are charged, the others get 402', async () => {
    const poor = await lab.member({ credits: 10, rateLimit: 1000 });
    const replies = await Promise.all(Array.from({ length: 64 }, (_, i) => poor.verify(`user${i}@good.com`)));
    expect(replies.filter((r) => r.status === 200)).toHaveLength(10);
    const refused = replies.filter((r) => r.status === 402);
    expect(refused).toHaveLength(54);
    expect(refused.every((r) => r.json.code === 'insufficient_credits')).toBe(true);
    expect(await balance(poor)).toBe(0);
    expect(await lab.store.accounts.audit()).toEqual([]);
  });
});

describe('when the resolver is down', () => {
  it('returns 503 without a charge, still gives offline verdicts, and recovers by itself', async () => {
    const member = await lab.member({ credits: 100 });
    await lab.dns.pause('closed');
    const refused = await member.verify('a@unseen-before.com');
    expect([refused.status, refused.json.code]).toEqual([503, 'verification_unavailable']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await balance(member)).toBe(100);
    expect((await member.verify('a..b@good.com')).json.reason).toBe('invalid_format');
    expect((await member.verify('a@mailinator.com')).json.reason).toBe('disposable_domain');
    expect((await request(lab.url, 'GET', '/readyz')).status).toBe(503);
    await lab.dns.resume();
    expect((await member.verify('a@unseen-before.com')).json.reason).toBe('domain_not_found');
    expect((await lab.store.accounts.get(member.account.id))!.locked).toBe(0);
    expect(await lab.store.accounts.audit()).toEqual([]);
  });
});
