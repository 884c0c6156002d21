import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, type Member, startLab } from '../../lab/service.ts';
import { BLOCKS } from '../../store/cast.ts';
import { type Client, of, signedIn } from './client.ts';

let lab: Lab;
let member: Member;
let person: Client;
let other: Member;
let stranger: Client;
beforeAll(async () => {
  lab = await startLab();
  member = await lab.member({ credits: 500, rateLimit: 1000 });
  person = await signedIn(lab, { account: member.account, role: 'member' });
  other = await lab.member();
  stranger = await signedIn(lab, { account: other.account });
});
afterAll(() => lab.close());

const filters = (account = member.account) => of(account, '/filters');
const add = (body: unknown) => person.call('POST', filters(), body);

describe('filters in the dashboard', () => {
  it('can be added, apply immediately, are found, can be removed', async () => {
    const added = await add({ value: ' Spam.Example.COM ', reason: 'they ask too often' });
    expect([added.status, added.json]).toMatchObject([
      201,
      { filter_type: 'domain', value: 'spam.example.com', reason: 'they ask too often' },
    ]);
    expect((await member.verify('x@sub.spam.example.com')).json.reason).toBe('blocked_by_filter');
    const list = await person.call('GET', `${filters()}?query=OFTEN&filter_type=domain`);
    const { warnings, ...filter } = added.json;
    expect(warnings).toEqual([]);
    expect(list.json).toEqual({
      filters: [{ ...filter, hits: 1, last_hit_at: expect.stringMatching(/Z$/) }],
      pagination: { current_page: 1, per_page: 25, total_pages: 1, total_count: 1 },
    });
    expect((await person.call('DELETE', `${filters()}/${added.json.id}`)).json.status).toBe('success');
    expect((await member.verify('x@spam.example.com')).json.reason).not.toBe('blocked_by_filter');
    expect((await person.call('DELETE', `${filters()}/${added.json.id}`)).status).toBe(404);
  });

  it.each([
    [{ value: 'not a filter' }, 422, 'invalid_filter'],
    [{ value: '300.1.1.1' }, 422, 'invalid_filter'],
    [{ value: 'a@b.com', filter_type: 'domain' }, 422, 'invalid_filter'],
    [{ value: 'b.com', filter_type: 'name' }, 422, 'invalid_filter'],
    [{ value: '' }, 422, 'invalid_filter'],
    [{}, 400, 'missing_parameter'],
    [{ value: 'b.com', reason: 'a\u0000b' }, 400, 'invalid_parameter'],
    [{ value: 'b.com', reason: 'x'.repeat(501) }, 400, 'invalid_parameter'],
    [{ filter: { value: 'b.com' } }, 400, 'missing_parameter'],
  ])('%j is refused with %i', async (body, status, code) => {
    const reply = await add(body);
    expect([reply.status, reply.json.code]).toEqual([status, code]);
  });

  it('a duplicate is reported with the existing filter', async () => {
    const { json } = await add({ value: 'twice@example.com' });
    const again = await add({ value: 'TWICE@example.com' });
    expect([again.status, again.json.code, again.json.existing_id]).toEqual([422, 'filter_exists', json.id]);
  });

  it.each([
    'per_page=0',
    'per_page=101',
    'page=0',
    'page=1000001',
    'filter_type=name',
    'page=1&page=2',
    'query=%00',
  ])('a list of %s is refused', async (query) => {
    const { status, json } = await person.call('GET', `${filters()}?${query}`);
    expect([status, query.startsWith(json.field)]).toEqual([400, true]);
  });

  it('are separate per account', async () => {
    const { json } = await add({ value: 'mine.example.com' });
    expect((await stranger.call('DELETE', `${filters(other.account)}/${json.id}`)).status).toBe(404);
    expect((await stranger.call('GET', filters(other.account))).json.filters).toEqual([]);
    expect((await stranger.call('GET', `${filters(other.account)}.csv`)).text.trim().split('\n')).toHaveLength(1);
    expect((await person.call('GET', `${filters()}?query=mine.example.com`)).json.filters).toHaveLength(1);
  });
});

describe('filters as CSV', () => {
  it('are imported as they were exported', async () => {
    const [own, twin] = [await lab.member(), await lab.member()];
    const who = await signedIn(lab, { account: own.account, role: 'member' });
    const heir = await signedIn(lab, { account: twin.account, role: 'member' });
    for (const filter of [
      { value: '=1+1@example.com', reason: '-2+3' },
      { value: 'good.com', action: 'allow' },
    ])
      expect((await who.call('POST', filters(own.account), filter)).status).toBe(201);
    const { text, headers } = await who.call('GET', `${filters(own.account)}.csv`);
    expect(headers.get('content-disposition')).toBe('attachment; filename="filters.csv"');
    const rows = parse(text, { columns: true, record_delimiter: '\r\n' }) as Record<string, string>[];
    for (const cell of rows.flatMap((row) => Object.values(row))) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
    const path = `${filters(twin.account)}/import`;
    expect((await heir.call('POST', `${path}?dry_run=true`, text)).json).toMatchObject({ dry_run: true, added: 2 });
    expect((await heir.call('GET', filters(twin.account))).json.filters).toEqual([]);
    expect((await heir.call('POST', path, text)).json).toMatchObject({ dry_run: false, added: 2, invalid: 0 });
    const all = async (client: Client, account: typeof own.account) =>
      (await client.call('GET', filters(account))).json.filters.map(
        ({ value, reason, action }: Record<string, unknown>) => [value, reason, action],
      );
    expect(await all(heir, twin.account)).toEqual(await all(who, own.account));
    const log = await lab.store.auditLog.list(twin.account.id, { before: null, limit: 1 });
    expect(log[0]).toMatchObject({ action: 'filters.imported', actor: { kind: 'user', name: heir.person.email } });
  });

  it('contain all filters, however many', async () => {
    const own = await lab.member();
    const who = await signedIn(lab, { account: own.account });
    const values = Array.from({ length: 2300 }, (_, i) => `d${i}.example.com`);
    await lab.store.filters.addMany(
      own.account.id,
      values.map((value) => ({ filterType: 'domain' as const, value, reason: null, ...BLOCKS })),
    );
    const { text } = await who.call('GET', `${filters(own.account)}.csv`);
    const rows = parse(text, { columns: true }) as { value: string }[];
    expect(rows.map(({ value }) => value)).toEqual(values);
  });
});

describe('the audit log of the API', () => {
  it('names the key that added or removed a filter', async () => {
    const own = await lab.member();
    const { json } = await own.call('POST', '/v1/filters', { value: 'by-key.example.com' });
    await own.call('DELETE', `/v1/filters/${json.id}`);
    const auditLog = await lab.store.auditLog.list(own.account.id, { before: null, limit: 10 });
    expect(auditLog.map(({ action, target, actor }) => [action, target, actor])).toEqual(
      ['filter.removed', 'filter.added'].map((action) => [
        action,
        'by-key.example.com',
        { kind: 'key', id: own.keyId, name: 'test', ip: '127.0.0.1' },
      ]),
    );
  });

  it('come with the warning for a mail host that many share', async () => {
    const { json } = await add({ filter_type: 'mx_host', value: 'aspmx.l.google.com' });
    expect(json.warnings).toEqual([expect.stringMatching(/google/)]);
  });
});
