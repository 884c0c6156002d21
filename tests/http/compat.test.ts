/** Other services' contracts, as their own clients use them: unmodified but for the base URL. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { KICKBOX } from '../../src/http/compat/kickbox.ts';
import { NEVERBOUNCE } from '../../src/http/compat/neverbounce.ts';
import { REACHER } from '../../src/http/compat/reacher.ts';
import type { CompatVerdict } from '../../src/http/compat/vendor.ts';
import { ZEROBOUNCE } from '../../src/http/compat/zerobounce.ts';
import { type Lab, type Member, request, startLab } from '../lab/service.ts';
import { compatClients, type Json } from './compat-clients.ts';

/** Local parts that select a verdict in test mode; at the mx level, none of them is about the mailbox. */
const SELECTORS: Readonly<Record<Exclude<CompatVerdict, 'domain_accepts_mail'>, string>> = {
  mailbox_exists: 'deliverable',
  catch_all: 'catch_all',
  disposable_domain: 'disposable_domain',
  mailbox_full_for_now: 'mailbox_full_temporarily',
  mailbox_full_permanently: 'mailbox_full',
  mailbox_not_found: 'mailbox_not_found',
  mailbox_disabled: 'mailbox_disabled',
  relay_denied: 'relay_denied',
  blocked_by_filter: 'blocked_by_filter',
  bounced_before: 'bounced_before',
  invalid_format: 'invalid_format',
  domain_not_found: 'domain_not_found',
  no_mx_records: 'no_mx_records',
  null_mx: 'null_mx',
  mx_unusable: 'mx_unusable',
  dns_failure: 'dns_failure',
  greylisted: 'greylisted',
  smtp_temporary_failure: 'smtp_temporary_failure',
  smtp_timeout: 'smtp_timeout',
  smtp_unreachable: 'smtp_unreachable',
  smtp_blocked: 'smtp_blocked',
  smtp_unverifiable: 'smtp_unverifiable',
};
const samples = Object.entries(SELECTORS).map(
  ([verdict, selector]) => [verdict as keyof typeof SELECTORS, `${selector}@example.com`] as const,
);

let lab: Lab;
let owner: Member;
let tester: Member;

beforeAll(async () => {
  lab = await startLab({ MAILVET_COMPAT: 'neverbounce,kickbox,emailable' });
});
beforeEach(async () => {
  owner = await lab.member({ credits: 1000, rateLimit: 1000 });
  tester = await lab.testMember(owner);
});
afterAll(() => lab.close());

const { verify: CLIENTS, ...clients } = compatClients(() => lab.url);
const { reacher, neverbounce, zerobounce, emailable } = clients;

describe('every verdict, by the vendor’s own client', () => {
  it.each(samples)('%s', async (verdict, email) => {
    const { key } = tester;
    expect(await CLIENTS.kickbox(key, email)).toMatchObject({ ...KICKBOX[verdict], success: true });
    const { result: state, reason } = KICKBOX[verdict];
    expect(await CLIENTS.emailable(key, email)).toMatchObject({ state, reason, email, score: null });
    expect(await CLIENTS.neverbounce(key, email)).toMatchObject({ status: 'success', result: NEVERBOUNCE[verdict] });
    expect(await CLIENTS.zerobounce(key, email)).toMatchObject({ ...ZEROBOUNCE[verdict], address: email });
    const { json } = await reacher(key, email, 'v0');
    expect(json).toMatchObject({ input: email, is_reachable: REACHER[verdict].is_reachable });
    expect('error' in json.smtp).toBe(REACHER[verdict].smtp === null);
  });
});

describe('a live key', () => {
  it('is charged once for each call, and the log has it', async () => {
    const before = (await owner.call('GET', '/v1/usage')).json.credits.remaining;
    const full = await CLIENTS.neverbounce(owner.key, 'Info+x@no-mail.com', true);
    expect(full).toMatchObject({
      result: 'invalid',
      flags: expect.arrayContaining(['role_account', 'contains_alias', 'bad_dns']),
      credits_info: { paid_credits_used: 1, paid_credits_remaining: before - 1 },
      address_info: { original: 'Info+x@no-mail.com', normalized: 'info+x@no-mail.com', alias: 'x', tld: 'com' },
    });
    await CLIENTS.kickbox(owner.key, 'a@null-mx.com');
    const { json } = await owner.call('GET', '/v1/usage');
    expect([json.credits.remaining, json.totals.requests]).toEqual([before - 2, 2]);
    expect(await lab.store.accounts.audit()).toEqual([]);
  });

  it('meets the filters of its account', async () => {
    await owner.call('POST', '/v1/filters', { value: 'good.com' });
    expect(await CLIENTS.zerobounce(owner.key, 'a@good.com')).toMatchObject(ZEROBOUNCE.blocked_by_filter);
    await owner.call('POST', '/v1/filters', { value: '192.0.2.9' });
    const client = await zerobounce(owner.key);
    expect(await client.validateEmail('a@implicit.com', '192.0.2.9')).toMatchObject({
      sub_status: 'global_suppression',
    });
  });

  it('gets null for what is not known, and what is known otherwise', async () => {
    const { key } = tester;
    const flags = async (email: string) => {
      const [kickbox, zerobounce] = [await CLIENTS.kickbox(key, email), await CLIENTS.zerobounce(key, email)];
      const { accept_all, role, free } = kickbox;
      return { accept_all, role, free, free_email: zerobounce.free_email, mx_found: zerobounce.mx_found };
    };
    const known = { role: false, free: false, free_email: false, mx_found: 'true' };
    expect(await flags('catch_all@example.com')).toEqual({ ...known, accept_all: true });
    expect(await flags('deliverable@example.com')).toEqual({ ...known, accept_all: false });
    expect(await flags('greylisted@example.com')).toEqual({ ...known, accept_all: null });
    const nothing = { accept_all: null, role: null, free: null, free_email: null, mx_found: null };
    expect(await flags('not an address')).toEqual(nothing);
  });

  it('of a plan without smtp is verified at the mx level, each call counted once but for the first', async () => {
    const starter = await lab.member({ plan: 'starter', credits: 100 });
    for (let i = 0; i < 3; i++)
      expect(await CLIENTS.emailable(starter.key, 'a@good.com')).toMatchObject({
        state: 'unknown',
        mx_record: 'mx.good.com',
      });
    const { json } = await starter.call('GET', '/v1/usage');
    expect([json.totals.requests, json.credits.used]).toEqual([3, 3]);
    expect(json.rate_limit.remaining).toBe(60 - 5);
  });
});

describe('balances', () => {
  it('are those of the account', async () => {
    const { key } = owner;
    const { remaining } = (await owner.call('GET', '/v1/usage')).json.credits;
    const kickbox = await request(lab.url, 'GET', `/compat/kickbox/v2/balance?apikey=${key}`);
    expect([kickbox.json.balance, kickbox.headers.get('x-kickbox-balance')]).toEqual([remaining, String(remaining)]);
    expect(await (await zerobounce(key)).getCredits()).toEqual({ Credits: String(remaining) });
    expect(await emailable(key).account()).toEqual({ owner_email: null, available_credits: remaining });
    const info = await neverbounce(key, ({ account }) => account.info());
    expect(info.credits_info.paid_credits_remaining).toBe(remaining);
  });
});

describe('errors are in the vendor’s form', () => {
  const wrong = `mv_live_${'x'.repeat(32)}`;
  const thrown = (promise: Promise<unknown>): Promise<Json> =>
    promise.then(
      () => 'nothing thrown',
      (error) => error,
    );

  it.each(['', 'nonsense', wrong])('an invalid key: %j', async (key) => {
    expect(await (await zerobounce(key || 'x')).getCredits()).toEqual({ Credits: '-1' });
    expect(await CLIENTS.zerobounce(key || 'x', 'a@good.com')).toEqual({
      error: 'Invalid API key or your account ran out of credits',
    });
    expect(await thrown(CLIENTS.kickbox(key || 'x', 'a@good.com'))).toMatchObject({ code: 401 });
    expect(await thrown(CLIENTS.emailable(key, 'a@good.com'))).toMatchObject({
      code: 401,
      message: expect.any(String),
    });
    expect(await thrown(CLIENTS.neverbounce(key, 'a@good.com'))).toMatchObject({ type: 'AuthError' });
    const { status, json } = await reacher(key, 'a@good.com');
    expect([status, json]).toEqual([401, { error: expect.any(String) }]);
  });

  it('no credits', async () => {
    const { key } = await lab.member({ credits: 0 });
    expect(await CLIENTS.zerobounce(key, 'a@good.com')).toMatchObject({ error: expect.stringMatching(/credits/) });
    expect(await thrown(CLIENTS.kickbox(key, 'a@good.com'))).toMatchObject({
      code: 403,
      message: expect.stringMatching(/credits/),
    });
    expect(await thrown(CLIENTS.emailable(key, 'a@good.com'))).toMatchObject({ code: 402 });
    expect(await thrown(CLIENTS.neverbounce(key, 'a@good.com'))).toMatchObject({ type: 'GeneralError' });
    expect((await reacher(key, 'a@good.com')).status).toBe(402);
  });

  it('the rate limit', async () => {
    const { key } = await lab.member({ rateLimit: 1 });
    await reacher(key, 'a@null-mx.com');
    expect(await thrown(CLIENTS.neverbounce(key, 'a@good.com'))).toMatchObject({ type: 'ThrottleError' });
    expect(await thrown(CLIENTS.kickbox(key, 'a@good.com'))).toMatchObject({ code: 429 });
    expect(await thrown(CLIENTS.emailable(key, 'a@good.com'))).toMatchObject({ code: 429 });
    const { status, headers } = await reacher(key, 'a@good.com');
    expect([status, Number(headers.get('retry-after')) > 0]).toEqual([429, true]);
  });

  it('a missing scope, a missing address, one that is too long', async () => {
    const scoped = await lab.member({ scopes: ['usage'] });
    expect(await thrown(CLIENTS.kickbox(scoped.key, 'a@good.com'))).toMatchObject({ code: 403 });
    expect(await thrown(CLIENTS.emailable(owner.key, 'a'.repeat(2000)))).toMatchObject({ code: 400 });
    const empty = await request(lab.url, 'POST', '/compat/reacher/v1/check_email', {}, { authorization: owner.key });
    expect([empty.status, empty.json]).toEqual([400, { error: 'The parameter "to_email" is missing.' }]);
    expect(await lab.store.accounts.audit()).toEqual([]);
  });
});
