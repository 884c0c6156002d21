import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERRORS, PUBLIC_CODES } from '../../src/kernel/errors.ts';
import { TEST_CREDITS } from '../../src/kernel/facts/plans.ts';
import { REASON_NAMES } from '../../src/kernel/facts/reasons.ts';
import { type Lab, type Member, request, startLab } from '../lab/service.ts';
import { type SmtpLab, startSmtp } from '../lab/smtp.ts';

let mailServer: SmtpLab;
let lab: Lab;
let live: Member;
let test: Member;
let other: Member;

beforeAll(async () => {
  mailServer = await startSmtp();
  lab = await startLab({ MAILVET_SMTP_PORT: String(mailServer.port) });
  live = await lab.member({ credits: 50, rateLimit: 100_000 });
  test = await lab.testMember(live);
  other = await lab.testMember(await lab.member({ rateLimit: 100_000 }));
});
afterAll(async () => {
  await lab.close();
  await mailServer.close();
});

const smtp = { validation_type: 'smtp' };

describe('a test key', () => {
  it('gets a verdict in the full shape, for nothing', async () => {
    const { status, headers, json } = await test.verify('Ada+news@good.com', smtp);
    expect(status).toBe(200);
    expect(headers.get('x-mailvet-mode')).toBe('test');
    expect(headers.get('ratelimit-policy')).toBe('"premium";q=100000;w=300');
    const real = await lab.member({ rateLimit: 100_000 });
    expect(Object.keys(json)).toEqual(Object.keys((await real.verify('ada@good.com', smtp)).json));
    expect(json).toMatchObject({
      email: 'Ada+news@good.com',
      status: 'good',
      validation_type: 'smtp',
      credits_used: 0,
      is_disposable: false,
      deliverability: 'deliverable',
      reason: null,
      normalized_email: 'Ada+news@good.com',
      tag: 'news',
      is_role: false,
      is_free: false,
      is_relay: false,
      is_catch_all: false,
      is_mailbox_full: false,
      checks: {
        syntax: { result: 'pass' },
        filter: { result: 'pass' },
        disposable: { result: 'pass' },
        mx: { result: 'pass', records: [{ host: 'mx.good.com', priority: 10 }] },
        smtp: { result: 'pass', stage: 'rcpt', code: 250, enhanced_code: '2.1.5', rule: 'test_mode' },
        catch_all: { result: 'pass' },
      },
    });
    expect((await test.verify('ada@good.com')).json).toMatchObject({
      status: 'good',
      validation_type: 'mx',
      credits_used: 0,
      deliverability: 'unknown',
      reason: null,
      checks: { smtp: { result: 'skipped' } },
    });
  });

  it.each(REASON_NAMES)('gets the reason %s', async (reason) => {
    const { status, json } = await test.verify(`${reason}@any.domain.example`, smtp);
    expect(status).toBe(200);
    expect(json).toMatchObject({ reason, credits_used: 0 });
  });

  it.each([
    ['deliverable', { status: 'good', deliverability: 'deliverable', reason: null }],
    ['undeliverable', { status: 'bad', deliverability: 'undeliverable' }],
    ['risky', { deliverability: 'risky', is_disposable: true }],
    ['unknown', { deliverability: 'unknown' }],
    ['role', { status: 'good', is_role: true, is_free: false, is_relay: false }],
    ['free', { status: 'good', is_role: false, is_free: true, is_relay: false }],
    ['relay', { status: 'good', is_role: false, is_free: false, is_relay: true }],
    ['disposable_domain', { status: 'bad', is_disposable: true }],
    ['catch_all', { status: 'good', deliverability: 'risky', is_catch_all: true }],
    ['mailbox_full', { status: 'bad', is_mailbox_full: true }],
    ['mailbox_full_temporarily', { status: 'good', reason: 'mailbox_full', is_mailbox_full: true }],
    ['mailbox_disabled', { status: 'bad', is_disabled: true }],
    ['greylisted', { validation_type: 'mx', retry_after: 300 }],
    ['invalid_format', { normalized_email: null, checks: { syntax: { result: 'fail', error: 'invalid_character' } } }],
    ['typo', { reason: 'domain_not_found', did_you_mean: 'typo@gmail.com' }],
    ['Mailbox_Not_Found+tag', { reason: 'mailbox_not_found', tag: 'tag' }],
    ['anything.else', { deliverability: 'deliverable' }],
    ['"mailbox_not_found"', { deliverability: 'deliverable' }],
    [' \u00a0mailbox_not_found', { reason: 'mailbox_not_found' }],
  ])('%s selects its outcome, whatever the domain', async (local, outcome) => {
    for (const domain of ['good.com', 'mailinator.com', 'gmail.com', 'no-such-domain.invalid'])
      expect((await test.verify(`${local}@${domain}`, smtp)).json).toMatchObject(outcome);
  });

  it('gets what needs the mailbox only at level smtp, as in live mode', async () => {
    expect((await test.verify('mailbox_not_found@good.com')).json).toMatchObject({ status: 'good', reason: null });
    expect((await test.verify('null_mx@good.com')).json).toMatchObject({ status: 'bad', reason: 'null_mx' });
  });

  it('gets real syntax errors', async () => {
    expect((await test.verify('  deliverable..x@good.com')).json).toMatchObject({
      reason: 'invalid_format',
      credits_used: 0,
      checks: { syntax: { result: 'fail', error: 'double_dot', index: 14 } },
    });
  });

  it.each(PUBLIC_CODES)('gets the error %s', async (code) => {
    const { status, json, headers } = await test.verify(`${code}@good.com`);
    const { status: expected, message } = ERRORS[code];
    expect(status).toBe(expected);
    expect(json).toMatchObject({ code, error: message, request_id: headers.get('x-request-id') });
    expect(headers.get('x-mailvet-mode')).toBe('test');
    expect(headers.get('retry-after')).toBe(json.retry_after === undefined ? null : String(json.retry_after));
    expect(headers.get('allow')).toBe(status === 405 ? 'POST' : null);
    if (status === 429 || status === 503) expect(json.retry_after).toBeGreaterThan(0);
  });

  it('gets a delayed reply, and no later than its timeout', async () => {
    const late = await test.verify('slow+1500@good.com', smtp);
    expect(late.json).toMatchObject({ deliverability: 'deliverable' });
    expect(late.json.duration_ms).toBeGreaterThanOrEqual(1490);
    const out = await test.verify('slow+999999999@good.com', { ...smtp, timeout_ms: 1000 });
    expect(out.json).toMatchObject({ reason: 'smtp_timeout', deliverability: 'unknown', credits_used: 0 });
    expect((await test.verify('slow+999999999@good.com', { timeout_ms: 1000 })).json.reason).toBe('dns_failure');
    for (const local of ['slow', 'slow+', 'slow+-5', 'slow+1e9'])
      expect((await test.verify(`${local}@good.com`, smtp)).json.deliverability).toBe('deliverable');
  });

  it('makes no DNS or SMTP query', async () => {
    await (await lab.member({ rateLimit: 100_000 })).verify('x@good.com', smtp);
    const [queries, connections] = [lab.dns.queries.length, mailServer.connections.length];
    expect(connections).toBeGreaterThan(0);
    for (const local of ['deliverable', 'mailbox_not_found', 'dns_failure', 'slow+1', 'overloaded', ...REASON_NAMES])
      for (const domain of ['good.com', 'uncached.com', 'silent.com']) await test.verify(`${local}@${domain}`, smtp);
    await test.call('GET', '/v1/usage');
    expect(lab.dns.queries.slice(queries)).toEqual([]);
    expect(mailServer.connections.length).toBe(connections);
  });

  it('is charged nothing, and its account keeps its credits', async () => {
    const before = await lab.store.accounts.get(live.account.id);
    const { headers } = await test.verify('mailbox_not_found@good.com', smtp);
    expect(headers.get('x-credits-remaining')).toBe(String(TEST_CREDITS));
    expect((await test.call('GET', '/v1/usage')).json).toMatchObject({
      plan: 'premium',
      credits: { total: TEST_CREDITS, locked: 0, used: 0, remaining: TEST_CREDITS },
      validation_types: { smtp: { available: true } },
    });
    expect(await lab.store.accounts.get(live.account.id)).toEqual(before);
    expect(await lab.store.accounts.audit()).toEqual([]);
  });

  it('follows Idempotency-Key as a live key does', async () => {
    const once = { 'idempotency-key': 'once' };
    const first = await test.verify('catch_all@good.com', smtp, once);
    const again = await test.verify('catch_all@good.com', smtp, once);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.headers.get('x-mailvet-mode')).toBe('test');
    expect(again.json).toEqual(first.json);
    expect((await test.verify('role@good.com', smtp, once)).json.code).toBe('idempotency_key_reused');
    // Errors of the service are not stored.
    for (let i = 0; i < 2; i += 1) {
      const { status, headers } = await test.verify('overloaded@good.com', smtp, { 'idempotency-key': 'err' });
      expect([status, headers.get('idempotency-replayed')]).toEqual([503, null]);
    }
    const slow = { 'idempotency-key': 'slow' };
    const delayed = await test.verify('slow+10@good.com', smtp, slow);
    expect((await test.verify('slow+10@good.com', smtp, slow)).json).toEqual(delayed.json);
  });
});

it.each([
  ['GET', '/v1/nothing', 404],
  ['GET', '/v1/verify', 405],
])('a test key is told its mode where nothing is served: %s %s', async (method, path, status) => {
  const modeOf = async (by: Member) => {
    const reply = await by.call(method, path);
    return [reply.status, reply.headers.get('x-mailvet-mode')];
  };
  expect([await modeOf(test), await modeOf(live)]).toEqual([
    [status, 'test'],
    [status, null],
  ]);
});

describe('test data', () => {
  it('is apart from live data, and from that of other accounts', async () => {
    const add = (by: Member, value: string) => by.call('POST', '/v1/filters', { value });
    const { status, json: added, headers } = await add(test, 'blocked-in-test.com');
    expect([status, headers.get('x-mailvet-mode')]).toEqual([201, 'test']);
    await add(live, 'blocked-live.com');
    const valuesOf = async (by: Member) =>
      (await by.call('GET', '/v1/filters')).json.filters.map(({ value }: { value: string }) => value);
    expect(await valuesOf(test)).toEqual(['blocked-in-test.com']);
    expect(await valuesOf(live)).toEqual(['blocked-live.com']);
    expect(await valuesOf(other)).toEqual([]);
    expect((await other.call('DELETE', `/v1/filters/${added.id}`)).status).toBe(404);
    expect((await test.verify('x@sub.blocked-in-test.com')).json).toMatchObject({
      reason: 'blocked_by_filter',
      credits_used: 0,
      checks: { filter: { result: 'fail', id: added.id, value: 'blocked-in-test.com' } },
    });
    expect((await test.verify('x@blocked-live.com')).json.reason).toBeNull();
    expect((await live.verify('x@sub.blocked-in-test.com')).json.reason).not.toBe('blocked_by_filter');
  });

  it('counts in a rate window of its own', async () => {
    const own = await lab.member({ rateLimit: 2 });
    const key = await lab.testMember(own);
    for (const status of [200, 200, 429]) expect((await key.verify('a@good.com')).status).toBe(status);
    const limited = await key.verify('a@good.com');
    expect(limited.headers.get('x-mailvet-mode')).toBe('test');
    expect((await own.verify('a@good.com')).status).toBe(200);
  });

  it('has its own log', async () => {
    const { json } = await test.verify('role@log.example');
    expect(await lab.store.verifications.get(test.account.id, json.id)).toMatchObject({ credits: 0 });
    expect(await lab.store.verifications.get(live.account.id, json.id)).toBeNull();
  });
});

describe('X-Mailvet-Mode', () => {
  const header = async (key: string) =>
    (await request(lab.url, 'GET', '/v1/usage', undefined, { authorization: `Bearer ${key}` })).headers.get(
      'x-mailvet-mode',
    );

  it('is on every reply to a test key: refused, expired and revoked ones as well', async () => {
    const elsewhere = await lab.testMember(live, { allowIps: ['192.0.2.1'] });
    const refused = await elsewhere.verify('a@good.com');
    expect([refused.json.code, refused.headers.get('x-mailvet-mode')]).toEqual(['ip_not_allowed', 'test']);
    const scoped = await lab.testMember(live, { scopes: ['usage'] });
    const missing = await scoped.verify('a@good.com');
    expect([missing.json.code, missing.headers.get('x-mailvet-mode')]).toEqual(['scope_missing', 'test']);
    const invalid = await test.call('POST', '/v1/verify', '{');
    expect([invalid.json.code, invalid.headers.get('x-mailvet-mode')]).toEqual(['invalid_json', 'test']);
    const gone = await lab.testMember(live);
    await lab.store.keys.revoke(gone.keyId);
    const revoked = await gone.verify('a@good.com');
    expect([revoked.json.code, revoked.headers.get('x-mailvet-mode')]).toEqual(['revoked_api_key', 'test']);
  });

  it('is on no reply to a live key, nor to one that does not exist', async () => {
    expect(await header(live.key)).toBeNull();
    expect(await header(live.key.replace('mv_live_', 'mv_test_'))).toBeNull();
    expect(await header(test.key.replace('mv_test_', 'mv_live_'))).toBeNull();
    expect(await header('mv_test_short')).toBeNull();
    expect(await header(test.key)).toBe('test');
  });
});

it('is refused with its account', async () => {
  const owner = await lab.member();
  const key = await lab.testMember(owner);
  await lab.store.accounts.set(owner.account.id, { status: 'suspended' });
  expect((await key.verify('a@good.com')).json.code).toBe('invalid_api_key');
  await lab.store.accounts.set(owner.account.id, { status: 'active', plan: 'starter' });
  expect((await key.verify('a@good.com', smtp)).json).toMatchObject({
    code: 'plan_upgrade_required',
    current_plan: 'starter',
  });
  await lab.store.accounts.remove(owner.account.id);
  expect((await key.verify('a@good.com')).json.code).toBe('invalid_api_key');
});

it('is not in the metrics of the service', async () => {
  const measured = await startLab({ MAILVET_METRICS_TOKEN: 'a-token-of-the-lab-with-length' });
  try {
    const key = await measured.testMember(await measured.member());
    await key.verify('internal_error@good.com');
    await key.verify('deliverable@good.com');
    const { text } = await request(measured.url, 'GET', '/metrics', undefined, {
      authorization: 'Bearer a-token-of-the-lab-with-length',
    });
    expect(text).toMatch(/^mailvet_build_info|^mailvet_/m);
    expect(text).not.toMatch(/^mailvet_http_requests_total\{.*\/v1\/verify/m);
    expect(text).not.toMatch(/^mailvet_verifications_total\{/m);
  } finally {
    await measured.close();
  }
});
