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
const bring = (lines: unknown, who = person, account = member.account) =>
  who.call('POST', `${filters(account)}/import`, { lines });

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

describe('an import', () => {
  it('has one result per line, in order, and one row in the audit log', async () => {
    const { status, json } = await bring([
      { value: 'new.example.com', reason: 'first' },
      { value: 'what is this' },
      { value: 'NEW.example.com' },
      { value: '198.51.100.7/33' },
      { value: '198.51.100.0/24', filter_type: 'ip_address' },
      { value: 'x.example.com', reason: 'a\u0007b' },
      { value: '' },
    ]);
    expect(status).toBe(200);
    expect(json.results.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
      'added',
      'invalid',
      'exists',
      'invalid',
      'added',
      'invalid',
      'invalid',
    ]);
    expect(json.results[0].filter).toMatchObject({ value: 'new.example.com', reason: 'first' });
    expect(json.results[3].error).toContain('an IPv4 or IPv6 address or a CIDR');
    for (const { outcome, filter, error } of json.results) {
      expect([filter !== null, error !== null]).toEqual([outcome === 'added', outcome === 'invalid']);
    }
    const auditLog = await lab.store.auditLog.list(member.account.id, { before: null, limit: 1 });
    expect(auditLog[0]).toMatchObject({
      action: 'filters.imported',
      actor: { kind: 'user', name: person.person.email },
    });
  });

  it('accepts up to 200 lines of realistic length', async () => {
    const line = (i: number) => ({
      value: `a-rather-long-local-part-${i}@some-company.example.com`,
      reason: 'x'.repeat(100),
    });
    const many = Array.from({ length: 200 }, (_, i) => line(i));
    expect(JSON.stringify(many).length).toBeGreaterThan(16 * 1024);
    expect((await bring(many)).json.results).toHaveLength(200);
    const more = await bring([...many, line(201)]);
    expect([more.status, more.json.field]).toEqual([400, 'lines']);
    const heavy = await bring(many.map((l) => ({ ...l, value: 'x'.repeat(1024), reason: 'y'.repeat(500) })));
    expect([heavy.status, heavy.json.error]).toEqual([413, 'The request body is larger than 256 KiB.']);
  });

  it.each([
    [[]],
    ['x'],
    [[{}]],
    [[{ value: 7 }]],
    [[{ value: 'a.com', reason: 7 }]],
    [null],
  ])('%j is refused', async (lines) => {
    const { status, json } = await bring(lines);
    expect([status, json.field]).toEqual([400, 'lines']);
  });
});

/** Removes the apostrophe that guards against formulas, as any reader of the file must. */
const unguarded = (cell: string): string => (/^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell);

describe('filters as CSV', () => {
  it('round-trip through export and import, without formulas in cells', async () => {
    const [own, twin] = [await lab.member(), await lab.member()];
    const who = await signedIn(lab, { account: own.account });
    const heir = await signedIn(lab, { account: twin.account });
    const lines = [
      { value: '=1+1@example.com', reason: '=HYPERLINK("http://evil.example.com";"click")' },
      { value: '+49@example.com', reason: '-2+3' },
      { value: "'=x@example.com", reason: "''@SUM(A1)" },
      { value: 'plain@example.com', reason: 'with, comma and "quotes"' },
      { value: 'bücher.com', reason: 'ümlaut 🐴' },
      { value: '2001:db8::/32' },
      { value: '192.0.2.7', reason: "it's fine" },
    ];
    expect(
      (await bring(lines, who, own.account)).json.results.map(({ outcome }: { outcome: string }) => outcome),
    ).toEqual(lines.map(() => 'added'));
    const csv = await who.call('GET', `${filters(own.account)}.csv`);
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="filters.csv"');
    expect(csv.text.startsWith('filter_type,value,reason,created_at,action,')).toBe(true);
    const rows = parse(csv.text, { columns: true, record_delimiter: '\r\n' }) as Record<string, string>[];
    for (const cell of rows.flatMap((row) => Object.values(row))) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
    const back = rows.map(({ filter_type, value, reason }) => ({
      filter_type,
      value: unguarded(value!),
      reason: reason === '' ? null : unguarded(reason!),
    }));
    await bring(back, heir, twin.account);
    const all = async (client: Client, account: typeof own.account) =>
      (await client.call('GET', `${filters(account)}?per_page=100`)).json.filters.map(
        ({ filter_type, value, reason }: Record<string, unknown>) => [filter_type, value, reason],
      );
    expect(await all(heir, twin.account)).toEqual(await all(who, own.account));
    expect(await all(heir, twin.account)).toHaveLength(lines.length);
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

  it('are exported and imported with all that is set of them, and changed', async () => {
    const [from, to] = [await lab.member(), await lab.member()];
    const [giver, taker] = [
      await signedIn(lab, { account: from.account, role: 'member' }),
      await signedIn(lab, { account: to.account, role: 'member' }),
    ];
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    const lines = [
      { value: 'a@good.com', action: 'allow', reason: 'a customer' },
      { value: 'b+x@good.com', match: 'mailbox' },
      { value: '*.example.com', filter_type: 'mx_host' },
      { value: 'good.com', expires_at },
      { value: 'plain.com' },
    ];
    const { json } = await bring(lines, giver, from.account);
    expect(json.results.map(({ outcome }: { outcome: string }) => outcome)).toEqual(lines.map(() => 'added'));
    await from.verify('c@good.com');
    const csv = await giver.call('GET', `${filters(from.account)}.csv`);
    const rows: Record<string, string>[] = parse(csv.text, { columns: true, record_delimiter: '\r\n' });
    const names = ['filter_type', 'value', 'reason', 'action', 'match', 'expires_at'];
    const asLines = rows.map((row) =>
      Object.fromEntries(names.flatMap((name) => (row[name] === '' ? [] : [[name, row[name]]]))),
    );
    expect(rows.map(({ hits }) => hits)).toEqual(['0', '0', '0', '1', '0']);
    await bring(asLines, taker, to.account);
    const settings = async (who: Client, { account }: Member) =>
      (await who.call('GET', filters(account))).json.filters.map((filter: Record<string, unknown>) =>
        names.map((name) => filter[name]),
      );
    expect(await settings(taker, to)).toEqual(await settings(giver, from));
    const [newest] = (await taker.call('GET', filters(to.account))).json.filters;
    const path = `${filters(to.account)}/${newest.id}`;
    expect((await taker.call('PATCH', path, { action: 'allow' })).json).toMatchObject({
      action: 'allow',
      warnings: [],
    });
    expect((await stranger.call('PATCH', path, { action: 'block' })).status).toBe(404);
    expect((await taker.call('PATCH', path, {})).status).toBe(400);
  });

  it('of a file of before mean what they meant, and each line is told what is wrong with it', async () => {
    const own = await lab.member();
    const who = await signedIn(lab, { account: own.account, role: 'member' });
    const lines = [
      { filter_type: 'domain', value: 'old.com', reason: 'as exported' },
      { value: 'com', action: 'allow' },
      { value: 'soon.com', expires_at: '2020-01-01' },
      { value: 'when.com', expires_at: 'whenever' },
      { value: 'old.com', match: 'mailbox' },
    ];
    const { results } = (await bring(lines, who, own.account)).json;
    expect(results[0]).toMatchObject({ filter: { action: 'block', match: 'exact', expires_at: null } });
    const wrong = [/public suffix/, /expires_at/, /expires_at/, /match/].map((text) => ({
      ...{ outcome: 'invalid', error: expect.stringMatching(text), filter: null },
    }));
    expect(results.slice(1)).toEqual(wrong);
  });

  it('come with the warning for a mail host that many share', async () => {
    const { json } = await add({ filter_type: 'mx_host', value: 'aspmx.l.google.com' });
    expect(json.warnings).toEqual([expect.stringMatching(/google/)]);
  });
});
