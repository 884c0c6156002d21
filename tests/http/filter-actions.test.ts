/** What filters do beside blocking an address, a domain or a network for good. */
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TEST_OUTCOMES } from '../../src/engine/test-mode.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';
import { startedList } from '../store/list-cast.ts';

let lab: Lab;
beforeAll(async () => {
  const net = {
    'mailinator.com': { MX: [[10, 'mx.good.com']] },
    'two-hosts.com': {
      MX: [
        [10, 'mx1.two-hosts.com'],
        [20, 'mx2.elsewhere.net'],
      ],
    },
    'mx1.two-hosts.com': { A: ['127.0.0.1'] },
    'mx2.elsewhere.net': { A: ['127.0.0.1'] },
  } satisfies NonNullable<Parameters<typeof startLab>[1]>['net'];
  lab = await startLab({}, { net });
});
afterAll(() => lab.close());

type Fields = Readonly<Record<string, unknown>>;

async function add(member: Member, filter: Fields) {
  const { status, json } = await member.call('POST', '/v1/filters', filter);
  expect([status, json.error]).toEqual([201, undefined]);
  return json;
}
const memberWith = async (...filters: Fields[]): Promise<Member> => {
  const member = await lab.member({ rateLimit: 100_000 });
  for (const filter of filters) await add(member, filter);
  return member;
};
const reasonOf = async (member: Member, email: string, more: Fields = {}) =>
  (await member.verify(email, more)).json.reason;
const balance = async (member: Member) => (await lab.store.accounts.get(member.account.id))!.balance;

const ALLOW = { action: 'allow' };
const BLOCKED = 'blocked_by_filter';

describe('a filter that allows', () => {
  it('wins over the lists; the check goes on, and costs what it costs', async () => {
    const member = await memberWith();
    expect(await reasonOf(member, 'jane@mailinator.com')).toBe('disposable_domain');
    const { id } = await add(member, { value: 'jane@mailinator.com', ...ALLOW });
    const before = await balance(member);
    const { json } = await member.verify('jane@mailinator.com');
    expect(json).toMatchObject({ status: 'good', reason: null, is_disposable: false, credits_used: 1 });
    expect(json.checks).toMatchObject({
      filter: { result: 'pass', filter_id: id, action: 'allow', filter_type: 'email', value: 'jane@mailinator.com' },
      disposable: { result: 'skipped' },
      domain: { result: 'pass' },
      mx: { result: 'pass' },
    });
    expect(json.checks.filter).not.toHaveProperty('id');
    expect(await balance(member)).toBe(before - 1);
    expect(await reasonOf(member, 'omar@mailinator.com')).toBe('disposable_domain');
  });

  it('wins over lists of mail hosts', async () => {
    const member = await memberWith({ value: 'front.com', ...ALLOW });
    expect(await reasonOf(member, 'a@front.com')).toBeNull();
    expect(await reasonOf(await memberWith(), 'a@front.com')).toBe('disposable_domain');
  });

  it('never wins over facts', async () => {
    const domains = ['no-mail.com', 'null-mx.com', 'broken-mx.com', 'missing-domain.com', 'lame.com', 'x.nosuchtld'];
    const [plain, allowing] = [await memberWith(), await memberWith(...domains.map((value) => ({ value, ...ALLOW })))];
    for (const domain of domains) {
      const [one, other] = [await plain.verify(`a@${domain}`), await allowing.verify(`a@${domain}`)];
      expect([domain, one.json.status]).toEqual([domain, 'bad']);
      const { status, reason, deliverability } = one.json;
      expect(other.json, domain).toMatchObject({ status, reason, deliverability });
    }
    const network = await memberWith({ value: '127.0.0.0/8', ...ALLOW });
    expect((await network.verify('not an address')).json).toMatchObject({ status: 'bad', reason: 'invalid_format' });
  });

  it('needs credits, unlike one that blocks', async () => {
    const member = await lab.member({ credits: 0 });
    await add(member, { value: 'good.com', ...ALLOW });
    expect((await member.verify('a@good.com')).status).toBe(402);
    await add(member, { value: 'a@good.com' });
    expect((await member.verify('a@good.com')).json).toMatchObject({ reason: BLOCKED, credits_used: 0 });
  });

  it.each([
    ['co.uk', 'domain'],
    ['com', 'domain'],
    ['github.io', 'domain'],
    ['0.0.0.0/0', 'ip_address'],
    ['::/0', 'ip_address'],
    ['*.com', 'mx_host'],
  ])('is refused for %s, as it would switch the lists off', async (value, filter_type) => {
    const member = await memberWith();
    const refused = await member.call('POST', '/v1/filters', { value, filter_type, ...ALLOW });
    expect([refused.status, refused.json.code, refused.json.field]).toEqual([422, 'invalid_filter', 'value']);
    const { id } = await add(member, { value, filter_type });
    const changed = await member.call('PATCH', `/v1/filters/${id}`, ALLOW);
    expect([changed.status, changed.json.code]).toEqual([422, 'invalid_filter']);
    expect((await member.call('GET', `/v1/filters/${id}`)).json.action).toBe('block');
  });
});

describe('the most specific filter counts', () => {
  it.each<[string, Fields[], string | null]>([
    ['address over domain', [{ value: 'good.com' }, { value: 'a@good.com', ...ALLOW }], null],
    ['address over domain that allows', [{ value: 'good.com', ...ALLOW }, { value: 'a@good.com' }], BLOCKED],
    [
      'address over its mailbox',
      [
        { value: 'a+x@good.com', match: 'mailbox' },
        { value: 'a@good.com', ...ALLOW },
      ],
      null,
    ],
    [
      'mailbox over domain',
      [
        { value: 'good.com', ...ALLOW },
        { value: 'a@good.com', match: 'mailbox' },
      ],
      BLOCKED,
    ],
    ['domain over its parent', [{ value: 'com' }, { value: 'good.com', ...ALLOW }], null],
    ['domain over network', [{ value: '127.0.0.1', ...ALLOW }, { value: 'good.com' }], BLOCKED],
    ['network over one around it', [{ value: '127.0.0.0/8' }, { value: '127.0.0.1', ...ALLOW }], null],
    [
      'network over mail host',
      [
        { value: '127.0.0.1', ...ALLOW },
        { value: 'mx.good.com', filter_type: 'mx_host' },
      ],
      null,
    ],
    [
      'mail host over suffix',
      [
        { value: '*.good.com', filter_type: 'mx_host', ...ALLOW },
        { value: 'mx.good.com', filter_type: 'mx_host' },
      ],
      BLOCKED,
    ],
  ])('%s', async (_, filters, reason) => {
    expect(await reasonOf(await memberWith(...filters), 'a@good.com')).toBe(reason);
    expect(await reasonOf(await memberWith(...filters.toReversed()), 'a@good.com')).toBe(reason);
  });

  it('and among equals one that allows: one domain has several mail hosts', async () => {
    const host = (value: string, action: string) => ({ filter_type: 'mx_host', value, action });
    const one = await memberWith(host('mx1.two-hosts.com', 'block'), host('mx2.elsewhere.net', 'allow'));
    expect(await reasonOf(one, 'a@two-hosts.com')).toBeNull();
    const other = await memberWith(host('*.elsewhere.net', 'allow'), host('mx1.two-hosts.com', 'block'));
    expect(await reasonOf(other, 'a@two-hosts.com')).toBe(BLOCKED);
  });
});

describe('a filter of a mailbox', () => {
  it('matches every spelling of it, and is shown as what they have in common', async () => {
    const member = await memberWith();
    const filter = await add(member, { value: 'J.Ane+x@googlemail.com', match: 'mailbox' });
    expect(filter).toMatchObject({ filter_type: 'email', match: 'mailbox', value: 'jane@gmail.com' });
    for (const email of ['jane@gmail.com', 'JA.NE+news@gmail.com', 'j.a.n.e@googlemail.com'])
      expect(await reasonOf(member, email), email).toBe(BLOCKED);
    expect(await reasonOf(member, 'janet@gmail.com')).not.toBe(BLOCKED);
    const again = await member.call('POST', '/v1/filters', { value: 'j.ane@gmail.com', match: 'mailbox' });
    expect(again.json).toMatchObject({ code: 'filter_exists', existing_id: filter.id });
    // Another filter: of the address alone.
    await add(member, { value: 'jane@gmail.com', ...ALLOW });
    expect(await reasonOf(member, 'jane@gmail.com')).not.toBe(BLOCKED);
  });

  it('is of an address', async () => {
    const { status, json } = await (await memberWith()).call('POST', '/v1/filters', {
      value: 'good.com',
      match: 'mailbox',
    });
    expect([status, json.code, json.field]).toEqual([422, 'invalid_filter', 'match']);
  });
});

describe('a filter of a mail host', () => {
  it('blocks, free of charge, whether DNS had to be asked or not', async () => {
    const member = await memberWith({ value: '*.Two-Hosts.com.', filter_type: 'mx_host' });
    const before = await balance(member);
    for (const email of ['a@two-hosts.com', 'b@two-hosts.com']) {
      const { json } = await member.verify(email);
      expect(json).toMatchObject({ status: 'bad', reason: BLOCKED, credits_used: 0 });
      expect(json.checks).toMatchObject({
        filter: { result: 'fail', action: 'block', filter_type: 'mx_host', value: '*.two-hosts.com' },
        mx: { records: [{ host: 'mx1.two-hosts.com' }, { host: 'mx2.elsewhere.net' }] },
      });
    }
    expect(await balance(member)).toBe(before);
    expect(await reasonOf(member, 'a@good.com')).toBeNull();
    expect(await lab.store.accounts.audit()).toEqual([]);
  });

  it('is looked for where DNS was not asked before, and allows what the lists have', async () => {
    const member = await memberWith({ value: 'mx.good.com', filter_type: 'mx_host', ...ALLOW });
    const { json } = await member.verify('jane@mailinator.com');
    expect(json).toMatchObject({ status: 'good', reason: null, is_disposable: false, credits_used: 1 });
    expect(json.checks.filter).toMatchObject({ result: 'pass', action: 'allow', filter_type: 'mx_host' });
    const other = await memberWith({ value: 'mx.elsewhere.com', filter_type: 'mx_host', ...ALLOW });
    expect(await reasonOf(other, 'jane@mailinator.com')).toBe('disposable_domain');
  });

  it.each([
    ['aspmx.l.google.com', /google/],
    ['*.outlook.com', /microsoft365.*outlook\.com/],
    ['*.com', /and \d+ more/],
  ])('that blocks %s, which many share, comes with a warning', async (value, named) => {
    const { warnings } = await add(await memberWith(), { value, filter_type: 'mx_host' });
    expect(warnings).toEqual([expect.stringMatching(named)]);
  });

  it('of its own, or that allows, comes without', async () => {
    const member = await memberWith();
    expect(await add(member, { value: 'mx.good.com', filter_type: 'mx_host' })).toMatchObject({ warnings: [] });
    const google = { value: 'aspmx.l.google.com', filter_type: 'mx_host' };
    expect(await add(member, { ...google, ...ALLOW })).toMatchObject({ warnings: [] });
  });

  it.each(['*.', '*', 'a.*.com', 'nodot', '*.*.com', 'a@b.com'])('is not %s', async (value) => {
    const { status, json } = await (await memberWith()).call('POST', '/v1/filters', { value, filter_type: 'mx_host' });
    expect([status, json.code, json.field]).toEqual([422, 'invalid_filter', 'value']);
  });
});

describe('a filter that expires', () => {
  it('matches until then, is listed as expired, and makes room for another one', async () => {
    const member = await memberWith();
    const expires_at = new Date(Date.now() + 1_500).toISOString();
    const { id } = await add(member, { value: 'good.com', expires_at });
    expect(await reasonOf(member, 'a@good.com')).toBe(BLOCKED);
    await sleep(1_700);
    expect(await reasonOf(member, 'a@good.com')).toBeNull();
    const shown = async () => (await member.call('GET', '/v1/filters')).json.filters;
    expect(await shown()).toMatchObject([{ id, expires_at, expired: true }]);
    const again = await add(member, { value: 'good.com' });
    expect(await shown()).toMatchObject([{ id: again.id, expires_at: null, expired: false }]);
    expect(await reasonOf(member, 'a@good.com')).toBe(BLOCKED);
  });

  it.each([
    ['2020-01-01T00:00:00Z'],
    ['2090-01-01T00:00:00Z'],
    ['tomorrow'],
    ['2027-02-30T00:00:00Z'],
    [1_900_000_000],
    [''],
  ])('cannot expire at %j', async (expires_at) => {
    const { status, json } = await (await memberWith()).call('POST', '/v1/filters', { value: 'a.com', expires_at });
    expect([status, json.code, json.field]).toEqual([422, 'invalid_filter', 'expires_at']);
  });
});

describe('PATCH /v1/filters/:id', () => {
  it('changes what it names, from the next request on', async () => {
    const member = await memberWith();
    const filter = await add(member, { value: 'a+x@good.com', reason: 'first' });
    const path = `/v1/filters/${filter.id}`;
    expect(await reasonOf(member, 'a@good.com')).toBeNull();
    const mailbox = await member.call('PATCH', path, { match: 'mailbox' });
    expect([mailbox.status, mailbox.json]).toEqual([
      200,
      { ...filter, warnings: [], match: 'mailbox', value: 'a@good.com' },
    ]);
    expect(await reasonOf(member, 'a+y@good.com')).toBe(BLOCKED);
    const allowed = await member.call('PATCH', path, { filter: { action: 'allow', reason: null } });
    expect(allowed.json).toMatchObject({ action: 'allow', match: 'mailbox', reason: null });
    expect(await reasonOf(member, 'a+y@good.com')).toBeNull();
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    expect((await member.call('PATCH', path, { expires_at })).json).toMatchObject({ expires_at, expired: false });
    expect(
      (await member.call('PATCH', path, { expires_at: null, action: 'block', match: 'exact' })).json,
    ).toMatchObject({
      id: filter.id,
      action: 'block',
      match: 'exact',
      expires_at: null,
      hits: 2,
    });
    const { json } = await member.call('GET', path);
    expect(json).toMatchObject({ id: filter.id, value: 'a@good.com', created_at: filter.created_at });
  });

  it('never makes two of one', async () => {
    const member = await memberWith({ value: 'a@good.com' });
    const { id } = await add(member, { value: 'a@good.com', match: 'mailbox', ...ALLOW });
    const { status, json } = await member.call('PATCH', `/v1/filters/${id}`, { match: 'exact' });
    expect([status, json.code]).toEqual([422, 'filter_exists']);
    expect(await reasonOf(member, 'a@good.com')).toBe(BLOCKED);
  });

  it.each<[Fields, number, string]>([
    [{}, 400, 'missing_parameter'],
    [{ action: 'quarantine' }, 422, 'invalid_filter'],
    [{ match: 'mailbox' }, 422, 'invalid_filter'],
    [{ value: 'other.com' }, 422, 'invalid_filter'],
    [{ filter_type: 'email' }, 422, 'invalid_filter'],
    [{ enabled: false }, 422, 'invalid_filter'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 422, 'invalid_filter'],
    [{ reason: 'x'.repeat(501) }, 400, 'invalid_parameter'],
  ])('%j is refused', async (body, status, code) => {
    const member = await memberWith();
    const filter = await add(member, { value: 'good.com' });
    const refused = await member.call('PATCH', `/v1/filters/${filter.id}`, body);
    expect([refused.status, refused.json.code]).toEqual([status, code]);
    expect((await member.call('GET', `/v1/filters/${filter.id}`)).json).toEqual({ ...filter, warnings: [] });
  });

  it('of another account, or of none, is 404', async () => {
    const [owner, stranger] = [await memberWith({ value: 'good.com' }), await memberWith()];
    const [{ id }] = (await owner.call('GET', '/v1/filters')).json.filters;
    expect((await stranger.call('PATCH', `/v1/filters/${id}`, ALLOW)).status).toBe(404);
    expect((await stranger.call('GET', `/v1/filters/${id}`)).status).toBe(404);
    expect((await owner.call('PATCH', '/v1/filters/999', ALLOW)).status).toBe(404);
  });

  it('is in the audit log, with what it was', async () => {
    const member = await memberWith();
    const { id } = await add(member, { value: 'good.com' });
    await member.call('PATCH', `/v1/filters/${id}`, { action: 'allow', reason: 'a customer' });
    const [entry] = await lab.store.auditLog.list(member.account.id, { before: null, limit: 1 });
    expect(entry).toMatchObject({
      action: 'filter.changed',
      target: 'good.com',
      actor: { kind: 'key' },
      detail: { filter: id, action: { from: 'block', to: 'allow' }, reason: { from: null, to: 'a customer' } },
    });
  });
});

describe('a field whose neglect would reverse the wish', () => {
  it.each<Fields>([
    { allow: true },
    { Whitelist: true },
    { actoin: 'allow' },
    { Action: 'allow' },
    { mathc: 'mailbox' },
    { effect: 'allow' },
    { list: 'whitelist' },
    { block: false },
    { negate: true },
    { except: ['jane@good.com'] },
    { enabled: false },
    { disabled: true },
    { dry_run: true },
    { starts_at: '2027-01-01T00:00:00Z' },
    { valid_until: '2027-01-01T00:00:00Z' },
    { ttl: 3600 },
  ])('as %j is refused', async (field) => {
    const member = await memberWith();
    const { status, json } = await member.call('POST', '/v1/filters', { value: 'good.com', ...field });
    expect([status, json.code, json.field]).toEqual([422, 'invalid_filter', Object.keys(field)[0]]);
    expect((await member.call('GET', '/v1/filters')).json.filters).toEqual([]);
  });

  it.each<Fields>([
    { allow: false },
    { enabled: true },
    { disabled: false },
    { effect: 'deny' },
    { ttl: null },
    { tags: ['customer'] },
    { coment: 'a customer' },
    { more: 'a customer' },
  ])('as %j reverses nothing, and comes with a warning', async (field) => {
    const { warnings } = await add(await memberWith(), { value: 'good.com', ...field });
    expect(warnings).toEqual([expect.stringContaining(Object.keys(field)[0] ?? '')]);
  });
});

describe('hits', () => {
  it('are the results that a filter has decided or let pass, in single calls and in lists', async () => {
    const member = await memberWith();
    const ids = [
      await add(member, { value: 'a@good.com' }),
      await add(member, { value: 'mailinator.com', ...ALLOW }),
      await add(member, { value: 'mx1.two-hosts.com', filter_type: 'mx_host' }),
      await add(member, { value: 'never.com' }),
    ].map(({ id }) => id);
    const began = Date.now();
    await Promise.all(Array.from({ length: 20 }, () => member.verify('a@good.com')));
    const key = { 'idempotency-key': 'once' };
    for (let i = 0; i < 3; i++) await member.verify('b@mailinator.com', {}, key);
    await member.verify('c@two-hosts.com');
    await member.verify('c@two-hosts.com');
    const emails = ['a@good.com', 'b@mailinator.com', 'c@mailinator.com', 'd@two-hosts.com', 'e@implicit.com'];
    const list = await startedList(lab.store, { account: member.account, key: { id: member.keyId } }, emails);
    const state = () => lab.store.lists.get(member.account.id, list);
    await expect.poll(async () => (await state())?.status, { timeout: 20_000 }).toBe('completed');
    const { filters } = (await member.call('GET', '/v1/filters')).json;
    const found = ids.map((id) => filters.find((filter: { id: number }) => filter.id === id));
    expect(found.map((filter) => filter.hits)).toEqual([21, 3, 3, 0]);
    for (const { hits, last_hit_at } of found) {
      if (hits === 0) expect(last_hit_at).toBeNull();
      else expect(Math.abs(Date.parse(last_hit_at) - began)).toBeLessThan(30_000);
    }
    expect(await lab.store.accounts.audit()).toEqual([]);
  });
});

describe('in test mode', () => {
  it('filters do what they do in live mode', async () => {
    const test = await lab.testMember(await lab.member());
    expect(await reasonOf(test, 'disposable_domain@a.com')).toBe('disposable_domain');
    await add(test, { value: 'a.com', ...ALLOW });
    const { json } = await test.verify('disposable_domain@a.com');
    expect(json).toMatchObject({
      status: 'good',
      credits_used: 0,
      checks: { filter: { result: 'pass', action: 'allow' } },
    });
    expect(await reasonOf(test, 'null_mx@a.com')).toBe('null_mx');
    await add(test, { value: '*.b.com', filter_type: 'mx_host' });
    expect(await reasonOf(test, 'deliverable@b.com')).toBe(BLOCKED);
  });

  const selector = fc.constantFrom(...Object.keys(TEST_OUTCOMES));
  const subject = fc.constantFrom<Fields>(
    { filter_type: 'email', value: '$@a.example.com' },
    { filter_type: 'email', value: '$+tag@a.example.com', match: 'mailbox' },
    { filter_type: 'domain', value: 'a.example.com' },
    { filter_type: 'domain', value: 'example.com' },
    { filter_type: 'ip_address', value: '127.0.0.1' },
    { filter_type: 'ip_address', value: '127.0.0.0/8' },
    { filter_type: 'mx_host', value: 'mx.a.example.com' },
    { filter_type: 'mx_host', value: '*.example.com' },
  );
  const action = fc.constantFrom('block', 'allow');
  /** What the account's filters may overrule: our list, and what became of earlier mail. */
  const OVERRULED = ['disposable_domain', 'bounced_before'];

  it('an allow never makes good what is bad by fact, nor does a block make good what is bad', {
    timeout: 120_000,
  }, async () => {
    const live = await lab.member({ rateLimit: 100_000 });
    const property = fc.asyncProperty(
      selector,
      fc.constantFrom('mx', 'smtp'),
      fc.uniqueArray(fc.tuple(subject, action), { maxLength: 4, selector: ([{ value }]) => value }),
      subject,
      action,
      async (name, validation_type, filters, last, lastAction) => {
        const test = await lab.testMember(live);
        const email = `${name}@a.example.com`;
        const verdict = async () => (await test.verify(email, { validation_type })).json;
        const body = ([fields, act]: [Fields, string]) => ({
          ...fields,
          action: act,
          value: String(fields['value']).replace('$', name),
        });
        const clear = async () => {
          const { json } = await test.call('GET', '/v1/filters');
          for (const { id } of json.filters) await test.call('DELETE', `/v1/filters/${id}`);
        };
        await clear();
        const bare = await verdict();
        for (const one of filters) await test.call('POST', '/v1/filters', body(one));
        const before = await verdict();
        await test.call('POST', '/v1/filters', body([last, lastAction]));
        const after = await verdict();
        await clear();
        if (bare.status === 'bad' && !OVERRULED.includes(bare.reason))
          expect([before.status, after.status]).toEqual(['bad', 'bad']);
        if (lastAction === 'block' && before.status === 'bad') expect(after.status).toBe('bad');
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });
});
