/** Files of filters over the API: what a row becomes, and what is said of those that cannot be used. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FILTER_ERRORS_SHOWN, FILTER_FILE_BYTES, FILTER_ROWS_SHOWN } from '../../src/kernel/facts/limits.ts';
import { DEFAULT_PLANS, termsOf } from '../../src/kernel/facts/plans.ts';
import { type Lab, type Member, type Reply, startLab } from '../lab/service.ts';
import { runSql } from '../lab/stores.ts';
import { of, signedIn } from './dashboard/client.ts';
import { send } from './list-lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.close());

const newMember = (): Promise<Member> => lab.member({ rateLimit: 100_000 });
const bring = (
  who: Member,
  body: NonNullable<RequestInit['body']>,
  query = '',
  headers: Record<string, string> = { 'content-type': 'application/octet-stream' },
): Promise<Reply> => send(lab, who, `/v1/filters/import${query}`, body, headers);
const countsOf = ({ status, json: { rows, added, existing, invalid } }: Reply) => [
  status,
  rows,
  added,
  existing,
  invalid,
];
const filtersOf = async (who: Member) =>
  (await who.call('GET', '/v1/filters?per_page=100')).json.filters.toReversed() as Record<string, unknown>[];
const SETTINGS = ['filter_type', 'value', 'reason', 'action', 'match', 'expires_at'] as const;
const settingsOf = async (who: Member) => (await filtersOf(who)).map((one) => SETTINGS.map((name) => one[name]));

const TABLE = [
  'Nr;Domäne;Bemerkung;Action;Expires at',
  '1;Spam.Example.COM;Käse, verdächtig;;',
  '2;good.com;;Allow;2031-01-31 08:30:00',
  '3;jane@example.com;;;',
  '4;JANE@example.com;again;;',
  '5;198.51.100.7/33;;;',
  '6;other.com;;permit;',
  '7;;no value;;',
  '8;good.com;;block;',
  '9;Total;;;',
].join('\r\n');

describe('an import', () => {
  it('adds what can be used, names what cannot with row, field and remedy, and adds nothing the second time', async () => {
    const who = await newMember();
    const bytes = Buffer.from(TABLE, 'latin1');
    const preview = await bring(who, bytes, '?dry_run=true');
    expect(await filtersOf(who)).toEqual([]);
    const done = await bring(who, bytes);
    expect(done.json).toEqual({ ...preview.json, dry_run: false });
    expect(countsOf(done)).toEqual([200, 9, 3, 1, 5]);
    const errors = done.json.errors.map(({ row, field, error }: Record<string, unknown>) => [row, field, error]);
    expect(errors).toEqual([
      [6, 'value', expect.stringMatching(/must be an IPv4 or IPv6 address or a CIDR/)],
      [7, 'action', expect.stringMatching(/^action must be "block" or "allow"/)],
      [8, 'value', expect.stringMatching(/no value: give /)],
      [9, 'action', 'Row 3 allows the same: change or remove one of the two.'],
      [10, 'filter_type', expect.stringMatching(/^"Total" would be a whole top-level domain/)],
    ]);
    expect(done.json.read).toEqual({
      format: 'csv',
      delimiter: ';',
      encoding: 'windows-1252',
      sheet: null,
      entry: null,
      header_row: 1,
      columns: [
        { column: 'Nr', field: null },
        { column: 'Domäne', field: 'value' },
        { column: 'Bemerkung', field: 'reason' },
        { column: 'Action', field: 'action' },
        { column: 'Expires at', field: 'expires_at' },
      ],
    });
    expect(done.json.warnings).toContain('Columns that are not used: "Nr".');
    const stored = [
      ['domain', 'spam.example.com', 'Käse, verdächtig', 'block', 'exact', null],
      ['domain', 'good.com', null, 'allow', 'exact', '2031-01-31T08:30:00.000Z'],
      ['email', 'jane@example.com', null, 'block', 'exact', null],
    ];
    expect(await settingsOf(who)).toEqual(stored);
    expect(done.json.filters[0]).toMatchObject({ row: 2, filter_type: 'domain', value: 'spam.example.com' });
    expect(countsOf(await bring(who, bytes))).toEqual([200, 9, 0, 4, 5]);
    expect(await settingsOf(who)).toEqual(stored);
    expect((await who.verify('x@sub.spam.example.com')).json.reason).toBe('blocked_by_filter');
    const log = await lab.store.auditLog.list(who.account.id, { before: null, limit: 10 });
    expect(log.map(({ action }) => action).filter((action) => action === 'filters.imported')).toHaveLength(1);
  });

  it('never turns around what is there: a filter that does something else is in the way, and is named', async () => {
    const who = await newMember();
    const { id } = (await who.call('POST', '/v1/filters', { value: 'good.com', action: 'allow' })).json;
    await who.call('POST', '/v1/filters', { value: 'soon.com', expires_at: '2031-01-01T00:00:00Z' });
    const before = await settingsOf(who);
    for (const query of ['?dry_run=true', '']) {
      const reply = await bring(who, 'value,action,expires_at\ngood.com,block,\nsoon.com,,\ngood.com,allow,\n', query);
      expect(countsOf(reply)).toEqual([200, 3, 0, 1, 2]);
      expect(reply.json.errors.map(({ field, error }: Record<string, unknown>) => [field, error])).toEqual([
        ['action', `Filter ${id} allows the same: change or remove one of the two.`],
        ['expires_at', expect.stringMatching(/^Filter \d+ is for the same, and expires at 2031-01-01T00:00:00/)],
      ]);
    }
    expect(await settingsOf(who)).toEqual(before);
  });

  it.each([
    ['whitelisted', 'true', /"action": "allow"/],
    ['enabled', 'no', /cannot be set here, and is not ignored/],
    ['valid_from', '2030-01-01', /cannot be set here, and is not ignored/],
    ['match', 'fuzzy', /match must be/],
    ['expires_at', '2020-01-01', /expires_at must be in the future/],
    ['expires_at', 'soon', /RFC 3339/],
    ['filter_type', 'host', /filter_type must be/],
    ['reason', 'x'.repeat(501), /at most 500 characters/],
    ['value', 'x'.repeat(1_025), /1 to 1,024 characters/],
  ])('refuses a row whose %s is %s', async (field, text, error) => {
    const who = await newMember();
    const columns = { value: 'a.com', [field]: text };
    const names = Object.keys(columns);
    const csv = `${names.join(',')}\nfirst.com${','.repeat(names.length - 1)}\n${Object.values(columns).join(',')}\n`;
    const reply = await bring(who, csv);
    expect([...countsOf(reply), reply.json.errors]).toEqual([
      200,
      2,
      1,
      0,
      1,
      [expect.objectContaining({ row: 3, error: expect.stringMatching(error) })],
    ]);
    expect((await filtersOf(who)).map(({ value }) => value)).toEqual(['first.com']);
  });

  it('takes what was exported, with all that is set of it', async () => {
    const [from, to] = [await newMember(), await newMember()];
    for (const filter of [
      { value: '=1+1@example.com', reason: '=HYPERLINK("http://evil.example.com";"click")' },
      { value: "'=x@example.com", reason: "''@SUM(A1)" },
      { value: 'b+x@gmail.com', match: 'mailbox' },
      { value: '*.example.com', filter_type: 'mx_host' },
      { value: 'ru', filter_type: 'domain', reason: 'with, comma and "quotes"' },
      { value: 'bücher.com', action: 'allow', expires_at: '2031-02-03T04:05:06.789Z' },
      { value: '2001:db8::/32' },
    ])
      expect((await from.call('POST', '/v1/filters', filter)).status).toBe(201);
    const { text, headers } = await from.call('GET', '/v1/filters/export');
    expect(headers.get('content-disposition')).toBe('attachment; filename="filters.csv"');
    expect(countsOf(await bring(to, text))).toEqual([200, 7, 7, 0, 0]);
    expect(await settingsOf(to)).toEqual(await settingsOf(from));
    const page = (await from.call('GET', '/v1/filters')).text;
    expect(countsOf(await bring(to, page, '', { 'content-type': 'application/json' }))).toEqual([200, 7, 0, 7, 0]);
  });

  it('takes a form, and says how to read a file', async () => {
    const who = await newMember();
    const form = new FormData();
    form.set('dry_run', 'true');
    form.set('columns', 'b');
    form.set('header_row', '2');
    form.set('upload', new File(['x;y\na;b\none.com;two.com\n'], 'list.csv'));
    const { json, status } = await bring(who, form, '', {});
    expect([status, json.dry_run, json.filters]).toMatchObject([200, true, [{ value: 'two.com', row: 3 }]]);
    expect(json.warnings[0]).toMatch(/part "upload" was taken for the file/);
    const wrong = await bring(who, 'a.com', '?delimeter=tab&dry_run=perhaps');
    expect([wrong.status, wrong.json.field]).toEqual([400, 'dry_run']);
    expect((await bring(who, 'a.com', '?delimeter=tab')).json.warnings[0]).toMatch(/did you mean "delimiter"/);
  });

  it.each([
    ['nothing', '', 'unreadable_file'],
    ['a PDF file', '%PDF-1.7\n', 'unreadable_file'],
    ['no values', 'a,b\n1,2\n', 'unreadable_file'],
    ['a header alone', 'value,reason\n', 'unreadable_file'],
    ['too many bytes', 'x'.repeat(FILTER_FILE_BYTES + 1), 'list_too_large'],
  ])('refuses %s', async (_title, body, code) => {
    const who = await newMember();
    const { status, json } = await bring(who, body);
    expect([status, json.code]).toEqual([code === 'list_too_large' ? 413 : 422, code]);
    expect(await filtersOf(who)).toEqual([]);
  });

  it('says how many were added where the plan has no room for all', async () => {
    const who = await lab.member({ rateLimit: 100_000, plan: 'starter' });
    const limit = termsOf(DEFAULT_PLANS, 'starter').filters;
    await runSql(lab.databaseUrl, `UPDATE accounts SET filter_ips = ${limit - 250} WHERE id = '${who.account.id}'`);
    const lines = Array.from({ length: 500 }, (_, i) => `d${i}.example.com`).join('\n');
    const { status, json } = await bring(who, lines);
    expect([status, json]).toMatchObject([422, { code: 'too_many_filters', limit, added: 200 }]);
    expect(json.error).toMatch(/200 filters of the rows before were added\.$/);
    expect((await who.call('GET', '/v1/filters?per_page=1')).json.pagination.total_count).toBe(200);
  });

  it('names a bounded number of rows, and counts all', async () => {
    const who = await newMember();
    const lines = Array.from({ length: FILTER_ERRORS_SHOWN + 200 }, (_, i) => `d${i}.example.com\nno such thing ${i}`);
    const reply = await bring(who, lines.join('\n'));
    const all = FILTER_ERRORS_SHOWN + 200;
    expect(countsOf(reply)).toEqual([200, 2 * all, all, 0, all]);
    expect([reply.json.errors.length, reply.json.filters.length]).toEqual([FILTER_ERRORS_SHOWN, FILTER_ROWS_SHOWN]);
  });

  it('is of the account of its key or session', async () => {
    const [one, other] = [await newMember(), await newMember()];
    const person = await signedIn(lab, { account: one.account, role: 'member' });
    const stranger = await signedIn(lab, { account: other.account });
    const path = of(one.account, '/filters/import');
    expect((await person.call('POST', path, { filters: [{ value: 'mine.com', action: 'allow' }] })).json).toMatchObject(
      {
        added: 1,
        filters: [{ value: 'mine.com', action: 'allow' }],
      },
    );
    expect((await stranger.call('POST', path, { filters: [{ value: 'theirs.com' }] })).status).toBe(404);
    expect(await filtersOf(other)).toEqual([]);
    expect((await filtersOf(one)).map(({ value }) => value)).toEqual(['mine.com']);
  });
});
