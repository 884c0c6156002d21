import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, type Member, startLab } from '../lab/service.ts';

let lab: Lab;
let owner: Member;
beforeAll(async () => {
  lab = await startLab();
  owner = await lab.member({ rateLimit: 100_000 });
});
afterAll(() => lab.close());

const add = (body: unknown, member = owner) => member.call('POST', '/v1/filters', body);

describe('POST /v1/filters', () => {
  it('returns 201, the filter and its Location', async () => {
    const { status, json, headers } = await add({ filter_type: 'domain', value: ' Spam.Example.COM ', reason: 'spam' });
    expect(status).toBe(201);
    expect(json).toEqual({
      id: expect.any(Number),
      warnings: [],
      filter_type: 'domain',
      value: 'spam.example.com',
      reason: 'spam',
      action: 'block',
      match: 'exact',
      expires_at: null,
      expired: false,
      hits: 0,
      last_hit_at: null,
      created_at: expect.stringMatching(/Z$/),
    });
    expect(headers.get('location')).toBe(`/v1/filters/${json.id}`);
  });

  it.each([
    [{ filter: { value: 'wrapped.com' } }, 'domain', 'wrapped.com'],
    [{ value: 'Someone@Exämple.com' }, 'email', 'someone@xn--exmple-cua.com'],
    [{ value: 'bücher.de' }, 'domain', 'xn--bcher-kva.de'],
    [{ value: '\u200b\u00a0pasted.com\u2060 ' }, 'domain', 'pasted.com'],
    [{ value: 'Absolute.com.' }, 'domain', 'absolute.com'],
    [{ value: '192.0.2.1' }, 'ip_address', '192.0.2.1'],
    [{ value: '192.0.2.77/24' }, 'ip_address', '192.0.2.0/24'],
    [{ value: '2001:DB8:0:0::1' }, 'ip_address', '2001:db8::1'],
    [{ value: '2001:db8::/32' }, 'ip_address', '2001:db8::/32'],
    [{ value: '::ffff:198.51.100.9' }, 'ip_address', '198.51.100.9'],
  ])('%j becomes the canonical %s %s', async (body, filter_type, value) => {
    const { status, json } = await add(body);
    expect([status, json.filter_type, json.value]).toEqual([201, filter_type, value]);
  });

  it.each([
    [{}, 400, 'missing_parameter', 'value'],
    [{ filter: null }, 400, 'invalid_json', undefined],
    [{ value: 5 }, 422, 'invalid_filter', 'value'],
    [{ value: '' }, 422, 'invalid_filter', 'value'],
    [{ value: '   ' }, 422, 'invalid_filter', 'value'],
    [{ value: 'no domain' }, 422, 'invalid_filter', 'value'],
    [{ value: 'dots.com..' }, 422, 'invalid_filter', 'value'],
    [{ value: '.' }, 422, 'invalid_filter', 'value'],
    [{ value: 'a@b@c.com' }, 422, 'invalid_filter', 'value'],
    [{ value: '300.1.1.1' }, 422, 'invalid_filter', 'value'],
    [{ value: '10.0.0.0/33' }, 422, 'invalid_filter', 'value'],
    [{ filter_type: 'ip_address', value: 'good.com' }, 422, 'invalid_filter', 'value'],
    [{ filter_type: 'domain', value: 'a@good.com' }, 422, 'invalid_filter', 'value'],
    [{ filter_type: 'phone', value: 'good.com' }, 422, 'invalid_filter', 'filter_type'],
    [{ value: 'good.com', reason: 5 }, 400, 'invalid_parameter', 'reason'],
    [{ value: 'good.com', reason: 'x'.repeat(501) }, 400, 'invalid_parameter', 'reason'],
    [{ value: "x' OR 1=1 --" }, 422, 'invalid_filter', 'value'],
    [{ value: 'good.com', reason: 'nul\u0000' }, 400, 'invalid_parameter', 'reason'],
    [{ value: 'good.com', reason: '\ud800' }, 400, 'invalid_parameter', 'reason'],
  ])('%j is refused', async (body, status, code, field) => {
    const reply = await add(body);
    expect([reply.status, reply.json.code, reply.json.field]).toEqual([status, code, field]);
  });

  it.each([
    '1.2.3.4/33',
    '010.0.0.1',
    'fe80::1%eth0',
  ])('%s is told that it is no IP, not that it is no domain', async (value) => {
    expect((await add({ value })).json.error).toMatch(/IPv4 or IPv6 address or a CIDR/);
  });

  it('a duplicate is 422 with the id of the existing filter', async () => {
    const first = await add({ value: 'twice.com' });
    const second = await add({ value: 'TWICE.com' });
    expect(second.status).toBe(422);
    expect(second.json).toMatchObject({
      error: 'Value has already been taken',
      code: 'filter_exists',
      existing_id: first.json.id,
    });
    const stranger = await lab.member();
    expect((await add({ value: 'twice.com' }, stranger)).status).toBe(201);
  });
});

describe('GET /v1/filters', () => {
  it('returns filters newest first, in pages, with Link headers', async () => {
    const member = await lab.member();
    for (let i = 1; i <= 5; i++) await add({ value: `site${i}.com` }, member);
    const { json, headers } = await member.call('GET', '/v1/filters?page=2&per_page=2');
    expect(json.filters.map((f: { value: string }) => f.value)).toEqual(['site3.com', 'site2.com']);
    expect(json.pagination).toEqual({ current_page: 2, per_page: 2, total_pages: 3, total_count: 5 });
    const link = headers.get('link')!;
    expect(link).toContain('</v1/filters?page=1&per_page=2>; rel="first"');
    expect(link).toContain('</v1/filters?page=3&per_page=2>; rel="next"');
    const searched = await member.call('GET', '/v1/filters?query=a?b&page=2');
    expect(searched.headers.get('link')).toContain('</v1/filters?query=a%3Fb&page=1>; rel="first"');
    const beyond = await member.call('GET', '/v1/filters?page=9');
    expect([beyond.status, beyond.json.filters]).toEqual([200, []]);
  });

  it('searches value and reason literally', async () => {
    const member = await lab.member();
    await add({ value: 'plain.com', reason: '100% spam' }, member);
    await add({ value: 'other.com', reason: 'a_b' }, member);
    const found = async (query: string) =>
      (await member.call('GET', `/v1/filters?query=${encodeURIComponent(query)}`)).json.pagination.total_count;
    expect(await found('%')).toBe(1);
    expect(await found('_')).toBe(1);
    expect(await found('PLAIN')).toBe(1);
    expect(await found("' OR '1'='1")).toBe(0);
    expect(await found('\\')).toBe(0);
    expect(await found('.com')).toBe(2);
  });

  it('can be limited to one type', async () => {
    const member = await lab.member();
    await add({ value: 'good.com' }, member);
    await add({ value: 'a@good.com' }, member);
    const { json } = await member.call('GET', '/v1/filters?filter_type=email');
    expect(json.filters).toHaveLength(1);
  });

  it('takes an empty parameter as left out, as forms send it', async () => {
    const member = await lab.member();
    await add({ value: 'good.com' }, member);
    const { status, json } = await member.call('GET', '/v1/filters?filter_type=&query=&page=&per_page=');
    expect([status, json.warnings, json.filters.length]).toEqual([200, [], 1]);
    expect(json.pagination).toMatchObject({ current_page: 1, per_page: 25 });
    const usage = await member.call('GET', '/v1/usage?group_by=&from=&to=');
    expect([usage.status, usage.json.series]).toEqual([200, undefined]);
  });

  it.each([
    'page=0',
    'page=-1',
    'page=x',
    'page=1e3',
    'per_page=0',
    'per_page=101',
    'filter_type=phone',
    'page=1&page=2',
  ])('%s is 400', async (query) => {
    const { status, json } = await owner.call('GET', `/v1/filters?${query}`);
    expect([status, json.code, json.field]).toEqual([400, 'invalid_parameter', query.split('=')[0]]);
  });
});

describe('DELETE /v1/filters/:id', () => {
  it('applies to the next request', async () => {
    const member = await lab.member();
    const { json } = await add({ value: 'good.com' }, member);
    expect((await member.verify('a@good.com')).json.reason).toBe('blocked_by_filter');
    const removed = await member.call('DELETE', `/v1/filters/${json.id}`);
    expect([removed.status, removed.json.status]).toEqual([200, 'success']);
    expect((await member.verify('a@good.com')).json.reason).toBe(null);
    expect((await member.call('DELETE', `/v1/filters/${json.id}`)).status).toBe(404);
  });

  it('of another account is 404 and changes nothing', async () => {
    const [member, stranger] = [await lab.member(), await lab.member()];
    const { json } = await add({ value: 'kept.com' }, member);
    expect((await stranger.call('DELETE', `/v1/filters/${json.id}`)).status).toBe(404);
    expect((await member.call('GET', '/v1/filters')).json.pagination.total_count).toBe(1);
  });

  it.each(['0', '-1', 'x', '99999999999999999999', '1.5', '%00'])('id %s is 404', async (id) => {
    const { status, json } = await owner.call('DELETE', `/v1/filters/${id}`);
    expect([status, json.code]).toEqual([404, 'not_found']);
  });
});
