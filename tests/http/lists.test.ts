import { readSheet } from 'read-excel-file/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import writeXlsx from 'write-excel-file/node';
import { RESULT_COLUMNS } from '../../src/files/result-columns.ts';
import { DAY_MS } from '../../src/kernel/clock.ts';
import type { Lab, Member } from '../lab/service.ts';
import { send, sendCsv, startListLab, verifyChunks } from './list-lab.ts';

let lab: Lab;
let owner: Member;
let outsider: Member;
beforeAll(async () => {
  lab = await startListLab();
  owner = await lab.member({ rateLimit: 100_000 });
  outsider = await lab.member({ rateLimit: 100_000 });
});
afterAll(() => lab.close());

const CSV = 'Name,E-Mail\r\nAda,ada@good.com\r\nBo,\r\n"C, D","cy@GOOD.com"\r\nCy,cy@good.com\r\n';
const csv = (text: string, query = '') => sendCsv(lab, owner, text, query);
const held = async (member: Member) => (await member.call('GET', '/v1/usage')).json.credits.locked;
const verified = async (text: string) => {
  const { json } = await csv(text);
  await verifyChunks(lab, owner, json.id);
  return json.id as string;
};

describe('POST /v1/lists', () => {
  it('stores a file that is the body, holds its price and starts', async () => {
    const before = await held(owner);
    const { status, json, headers } = await csv(CSV);
    expect([status, headers.get('location')]).toEqual([201, `/v1/lists/${json.id}`]);
    expect(json).toEqual({
      id: expect.stringMatching(/^lst_\w{22}$/),
      warnings: [],
      dedupe: 'address',
      name: expect.stringMatching(/^\d{4}-/),
      status: 'running',
      validation_type: 'mx',
      policy: null,
      error: null,
      retry_minutes: 60,
      patience_minutes: 60,
      rows: { total: 4, addresses: 2, duplicates: 1, blank: 1, unreadable: 0 },
      progress: { done: 0, waiting: 0, good: 0, bad: 0, percent: 0, per_second: null, eta_seconds: null },
      deliverability: { deliverable: 0, undeliverable: 0, risky: 0, unknown: 0 },
      by_reason: {},
      credits: { price: 2, held: 2, used: 0 },
      read: {
        format: 'csv',
        delimiter: ',',
        encoding: 'utf-8',
        sheet: null,
        entry: null,
        header_row: 1,
        column: 'E-Mail',
        columns: ['E-Mail'],
        other_address_columns: [],
        addresses_per_row: { max: 1, rows_with_several: 0 },
      },
      created_at: expect.any(String),
      started_at: expect.any(String),
      finished_at: null,
      expires_at: expect.any(String),
    });
    expect(Date.parse(json.expires_at) - Date.parse(json.started_at)).toBe(30 * DAY_MS);
    expect((await held(owner)) - before).toBe(2);
    expect((await owner.call('GET', `/v1/lists/${json.id}`)).json).toEqual(json);
    expect(json.warnings).toEqual([]);
  });

  it('takes a form, with the fields before or after the file', async () => {
    for (const order of ['before', 'after']) {
      const form = new FormData();
      const addFile = () => form.set('file', new File([CSV], 'Some "June".csv', { type: 'text/csv' }));
      if (order === 'after') addFile();
      form.set('start', 'false');
      form.set('column', '2');
      form.set('retry_minutes', '0');
      form.set('other', 'ignored');
      form.set('column', '');
      if (order === 'before') addFile();
      const { status, json } = await send(lab, owner, '/v1/lists', form);
      expect([status, json.name, json.status, json.retry_minutes]).toEqual([201, 'Some "June".csv', 'ready', 0]);
      expect(json.rows).toMatchObject({ total: 4, addresses: 2 });
      expect(json.credits).toEqual({ price: 2, held: 0, used: 0 });
    }
  });

  it('takes retry_minutes by its earlier name, patience_minutes', async () => {
    const minutesOf = ({ json }: { json: { retry_minutes: number; patience_minutes: number } }) => [
      json.retry_minutes,
      json.patience_minutes,
    ];
    const emails = ['ada@good.com'];
    expect(minutesOf(await send(lab, owner, '/v1/lists?start=false&patience_minutes=7', CSV))).toEqual([7, 7]);
    expect(minutesOf(await owner.call('POST', '/v1/lists', { emails, patience_minutes: 8 }))).toEqual([8, 8]);
    const both = '/v1/lists?start=false&patience_minutes=7&retry_minutes=9';
    expect(minutesOf(await send(lab, owner, both, CSV))).toEqual([9, 9]);
  });

  it('takes the only file of a form whatever its part is called, and says so', async () => {
    const form = (...names: string[]) => {
      const parts = new FormData();
      for (const name of names) parts.set(name, new File([CSV], `${name}.csv`));
      return send(lab, owner, '/v1/lists?start=false', parts);
    };
    const only = await form('attachment');
    expect([only.status, only.json.name, only.json.rows.addresses]).toEqual([201, 'attachment.csv', 2]);
    expect(JSON.stringify(only.json.warnings)).toContain('attachment');
    const beside = await form('logo', 'file');
    expect([beside.status, beside.json.name]).toEqual([201, 'file.csv']);
    expect(JSON.stringify(beside.json.warnings)).toContain('logo');
    const two = await form('a', 'b');
    expect([two.status, two.json]).toMatchObject([400, { code: 'missing_parameter', field: 'file' }]);
    expect(two.json.error).toContain('"a", "b"');
  });

  it('takes JSON', async () => {
    const emails = ['ada@good.com', ' ada@GOOD.com ', '', 'quo"te@good.com', 'ünicode@good.com'];
    const body = { emails, name: 'from JSON', start: false, validation_type: 'smtp', retry_minutes: 5, more: [{}] };
    const { status, json } = await owner.call('POST', '/v1/lists', body);
    expect([status, json.name, json.validation_type, json.credits.price]).toEqual([201, 'from JSON', 'smtp', 30]);
    expect(json.rows).toEqual({ total: 5, addresses: 3, duplicates: 1, blank: 1, unreadable: 0 });
    const { json: page } = await owner.call('GET', `/v1/lists/${json.id}/rows`);
    expect(page.rows.map(({ email }: { email: string }) => email)).toEqual([
      'ada@good.com',
      'ada@GOOD.com',
      null,
      'quo"te@good.com',
      'ünicode@good.com',
    ]);
  });

  it.each([
    ['text/plain', 'ada@good.com\nbo@good.com\n', 2],
    ['text/tab-separated-values', 'name\temail\nA\tada@good.com\n', 1],
    ['application/x-ndjson', '{"email":"ada@good.com"}\n{"email":"bo@good.com"}\n', 2],
    ['application/json', ' ["ada@good.com", "bo@good.com"]', 2],
    ['application/octet-stream', CSV, 2],
    ['application/vnd.ms-excel', CSV, 2],
    ['application/x-www-form-urlencoded', CSV, 2],
    ['text/x-csv; charset=utf-8', CSV, 2],
    ['text/plain', CSV, 2],
    ['text/csv', '{"email":"ada@good.com"}\n{"email":"bo@good.com"}\n', 2],
    ['no type at all', CSV, 2],
  ])('takes a body of %s by its content', async (type, body, addresses) => {
    const bytes = new TextEncoder().encode(body);
    const headers: Record<string, string> = type.includes('/') ? { 'content-type': type } : {};
    const { status, json } = await send(lab, owner, '/v1/lists?start=false', bytes, headers);
    expect([status, json.rows?.addresses]).toEqual([201, addresses]);
  });

  it('takes XLSX, also where it is called something else', async () => {
    const sheet = [['Contact Email'], ['ada@good.com'], ['bo@good.com']].map((row) => row.map((value) => ({ value })));
    const bytes = new Uint8Array(await writeXlsx(sheet).toBuffer());
    const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
    for (const claimed of [type, 'text/csv']) {
      const { status, json } = await send(lab, owner, '/v1/lists?start=false', bytes, { 'content-type': claimed });
      expect([status, json.rows?.addresses]).toEqual([201, 2]);
    }
  });

  it.each([
    ['?header=maybe', CSV, 400, { code: 'invalid_parameter', field: 'header' }],
    ['?validation_type=dns', CSV, 422, { code: 'invalid_validation_type', field: 'validation_type' }],
    ['?retry_minutes=1441', CSV, 400, { code: 'invalid_parameter', field: 'retry_minutes' }],
    ['?patience_minutes=1441', CSV, 400, { code: 'invalid_parameter', field: 'patience_minutes' }],
    [`?name=${'x'.repeat(201)}`, CSV, 400, { code: 'invalid_parameter', field: 'name' }],
    ['?column=Phone', CSV, 422, { code: 'no_address_column', columns: ['Name', 'E-Mail'] }],
    ['', 'a,b\r\n1,2\r\n', 422, { code: 'no_address_column' }],
    ['', '', 422, { code: 'unreadable_file' }],
    ['', '%PDF-1.7', 422, { code: 'unreadable_file' }],
    ['', `email${',x'.repeat(1_000)}\r\n`, 413, { code: 'list_too_large', limit: 1_000 }],
  ])('refuses %s %#', async (query, body, status, error) => {
    const before = await lab.store.lists.list(owner.account.id, { status: null, query: null, offset: 0, limit: 1 });
    const reply = await csv(body, query);
    expect([reply.status, reply.json]).toMatchObject([status, error]);
    const after = await lab.store.lists.list(owner.account.id, { status: null, query: null, offset: 0, limit: 1 });
    expect(after.total).toBe(before.total);
  });

  it.each<[object | string, number, object]>([
    [{}, 400, { code: 'missing_parameter', field: 'emails' }],
    [{ emails: 'ada@good.com' }, 400, { code: 'missing_parameter', field: 'emails' }],
    [{ emails: [1] }, 422, { code: 'no_address_column' }],
    [{ emails: [], column: [1] }, 400, { code: 'invalid_parameter', field: 'column' }],
    [{ emails: [], toString: [1], column: [1] }, 400, { code: 'invalid_parameter', field: 'column' }],
    [{ emails: ['ada@good.com'], start: 'yes' }, 400, { code: 'invalid_parameter', field: 'start' }],
    ['{"emails": ["a@good.com"]', 400, { code: 'invalid_json' }],
    ['{"emails": ["a@good.com"]}}', 400, { code: 'invalid_json' }],
    ['{"emails": [], "emails": []}', 400, { code: 'invalid_json' }],
    [`{"emails": [], "x": "${'x'.repeat(70_000)}"}`, 413, { code: 'list_too_large' }],
  ])('refuses the JSON %j', async (body, status, error) => {
    const reply = await owner.call('POST', '/v1/lists', body);
    expect([reply.status, reply.json]).toMatchObject([status, error]);
  });

  it('refuses what its plan or its limits do not allow', async () => {
    const starter = await lab.member({ plan: 'starter' });
    const { status, json } = await sendCsv(lab, starter, CSV, '?validation_type=smtp');
    const upgrade = [402, { code: 'plan_upgrade_required', current_plan: 'starter', upgrade_required: 'premium' }];
    expect([status, json]).toMatchObject(upgrade);
    const premium = await lab.member({ plan: 'premium' });
    const ready = await sendCsv(lab, premium, CSV, '?validation_type=smtp&start=false');
    await lab.store.accounts.set(premium.account.id, { plan: 'starter' });
    const start = await premium.call('POST', `/v1/lists/${ready.json.id}/start`);
    expect([start.status, start.json]).toMatchObject(upgrade);
  });

  it('leaves a list ready that the balance does not cover, with the reason; it can be started later', async () => {
    const poor = await lab.member({ credits: 1 });
    const { status, json } = await sendCsv(lab, poor, CSV);
    expect([status, json.status, json.error]).toEqual([
      201,
      'ready',
      { code: 'insufficient_credits', error: 'The list needs 2 credits; 1 are available.' },
    ]);
    const refused = await poor.call('POST', `/v1/lists/${json.id}/start`);
    expect([refused.status, refused.json]).toMatchObject([
      402,
      { code: 'insufficient_credits', needed: 2, available: 1 },
    ]);
    await lab.store.accounts.grant(poor.account.id, 1, 'more');
    const started = await poor.call('POST', `/v1/lists/${json.id}/start`);
    expect([started.status, started.json.status, started.json.error]).toEqual([200, 'running', null]);
  });
});

describe('a list', () => {
  it('is started, paused, resumed, cancelled and erased', async () => {
    const { json } = await csv(CSV, '?start=false');
    const path = `/v1/lists/${json.id}`;
    const act = async (action: string) => {
      const reply = await owner.call('POST', `${path}/${action}`);
      return [reply.status, reply.json.code ?? reply.json.status];
    };
    expect(await act('pause')).toEqual([409, 'list_state']);
    expect(await act('start')).toEqual([200, 'running']);
    expect(await act('start')).toEqual([409, 'list_state']);
    const busy = await owner.call('DELETE', path);
    expect([busy.status, busy.json]).toMatchObject([409, { code: 'list_state', status: 'running' }]);
    expect(await act('pause')).toEqual([200, 'paused']);
    expect(await act('resume')).toEqual([200, 'running']);
    await verifyChunks(lab, owner, json.id);
    const { json: done } = await owner.call('GET', path);
    expect(done).toMatchObject({
      status: 'completed',
      credits: { price: 2, held: 0, used: 2 },
      finished_at: expect.any(String),
      progress: { done: 2, good: 2, bad: 0, percent: 100, per_second: null },
    });
    expect(await act('cancel')).toEqual([409, 'list_state']);
    expect((await owner.call('DELETE', path)).status).toBe(200);
    expect((await owner.call('GET', path)).status).toBe(404);
    expect(await act('cancel')).toEqual([404, 'not_found']);
    const second = (await csv(CSV)).json.id;
    const before = await held(owner);
    const cancelled = await owner.call('POST', `/v1/lists/${second}/cancel`);
    expect(cancelled.json).toMatchObject({ status: 'cancelled', credits: { held: 0 } });
    expect(before - (await held(owner))).toBe(2);
    const third = (await csv(CSV, '?start=false')).json.id;
    const unstarted = await owner.call('POST', `/v1/lists/${third}/cancel`);
    expect(unstarted.json).toMatchObject({ status: 'cancelled', credits: { price: 2, held: 0, used: 0 } });
  });

  it('is found by status and name, page by page', async () => {
    const one = await lab.member();
    for (const name of ['May', 'June', 'July']) await sendCsv(lab, one, CSV, `?name=${name}&start=${name === 'May'}`);
    const names = async (query: string) => {
      const { json, headers } = await one.call('GET', `/v1/lists${query}`);
      return [json.lists.map(({ name }: { name: string }) => name), json.pagination.total_count, headers.get('link')];
    };
    expect(await names('')).toEqual([['July', 'June', 'May'], 3, expect.any(String)]);
    expect(await names('?status=ready&query=JU')).toEqual([['July', 'June'], 2, expect.any(String)]);
    expect(await names('?per_page=2&page=2')).toEqual([['May'], 3, expect.stringContaining('rel="prev"')]);
    expect((await one.call('GET', '/v1/lists?status=uploading')).status).toBe(400);
  });

  it('has the verdicts of single calls on every row', async () => {
    const text =
      'email,n\r\nada@good.com,1\r\nx@mailinator.com,2\r\nADA@good.com,3\r\nada@GOOD.com,4\r\n"bro,5\r\n,6\r\n';
    const { json: list } = await csv(text);
    const path = `/v1/lists/${list.id}/rows`;
    const { json: before } = await owner.call('GET', path);
    expect(before.rows[0]).toMatchObject({ row: 1, email: 'ada@good.com', status: null, checks: null, attempts: 0 });
    await verifyChunks(lab, owner, list.id);
    const { json } = await owner.call('GET', path);
    const { json: single } = await owner.verify('ada@good.com');
    const [first, second, third, fourth] = json.rows;
    expect(first).toEqual({
      row: 1,
      part: null,
      parts: null,
      column: null,
      email: 'ada@good.com',
      status: 'good',
      deliverability: single.deliverability,
      reason: null,
      did_you_mean: null,
      validation_type: 'mx',
      credits_used: 1,
      is_disposable: false,
      is_role: single.is_role,
      is_free: false,
      is_relay: false,
      is_catch_all: null,
      checks: single.checks,
      attempts: 1,
      problem: null,
      decision: null,
      relay_provider: null,
      canonical_email: 'ada@good.com',
      is_duplicate: false,
      egress: null,
      verified_at: expect.any(String),
    });
    expect(second).toMatchObject({ row: 2, status: 'bad', is_disposable: true });
    expect(third).toMatchObject({ row: 3, status: 'good', credits_used: 1 });
    // A duplicate of the first row: verified and charged once.
    expect(fourth).toMatchObject({ row: 4, status: 'good', credits_used: 0 });
    expect(json.next).toBeNull();
    const rows = async (query: string) => {
      const { json: page } = await owner.call('GET', `${path}?${query}`);
      return [page.rows.map(({ row }: { row: number }) => row), page.next];
    };
    expect(await rows('limit=2')).toEqual([[1, 2], 2]);
    expect(await rows('limit=2&after=2')).toEqual([[3, 4], 4]);
    expect(await rows('status=bad')).toEqual([[2], null]);
    expect(await rows('reason=none')).toEqual([[1, 3, 4], null]);
    expect(await rows('query=ADA@')).toEqual([[1, 3, 4], null]);
    expect(await rows(`deliverability=${single.deliverability}&query=good`)).toEqual([[1, 3, 4], null]);
  });

  it('is downloaded with its cells unchanged, in every format, also while it runs', async () => {
    const text = 'Name;E-Mail;Note\r\nAda;ada@good.com;=1+1\r\n"B ""q""";;\r\nCy;x@mailinator.com;" b\r\nc "\r\n';
    const { json } = await csv(text, '?name=June+2026.csv');
    const results = (query: string) => owner.call('GET', `/v1/lists/${json.id}/results${query}`);
    const running = await results('');
    const pending: Readonly<Record<string, string>> = { status: 'pending', is_duplicate: 'false' };
    expect(running.text.split('\r\n')[1]).toBe(
      `Ada;ada@good.com;=1+1;${RESULT_COLUMNS.map((name) => pending[name] ?? '').join(';')}`,
    );
    await verifyChunks(lab, owner, json.id);
    const { text: done, headers } = await results('');
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(headers.get('content-disposition')).toBe('attachment; filename="June_2026.results.csv"');
    const [head = '', ada = '', blank = ''] = done.split('\r\n');
    expect(head).toMatch(/^Name;E-Mail;Note;mailvet_status;mailvet_deliverability;mailvet_reason;/);
    expect(ada).toMatch(/^Ada;ada@good\.com;=1\+1;good;/);
    expect(blank).toBe(`"B ""q"""${';'.repeat(2 + RESULT_COLUMNS.length)}`);
    expect(done).toContain('Cy;x@mailinator.com;" b\r\nc ";bad;');
    const bad = (await results('?status=bad')).text.trim().split('\r\n');
    expect(bad[1]).toMatch(/^Cy;/);
    const lines = (await results('?format=jsonl')).text.trim().split('\n');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ row: 1, status: 'good', data: { Name: 'Ada', Note: '=1+1' } });
    const path = `${lab.url}/v1/lists/${json.id}/results?format=xlsx`;
    const xlsx = await fetch(path, { headers: { authorization: `Bearer ${owner.key}` } });
    const sheet = await readSheet(Buffer.from(await xlsx.arrayBuffer()));
    expect(sheet[1]?.slice(0, 4)).toEqual(['Ada', 'ada@good.com', '=1+1', 'good']);
    expect((await results('?format=pdf')).status).toBe(400);
  });

  it('is downloaded as JSON Lines with every cell, whatever the header calls its column', async () => {
    const { json } = await csv('tag,E-Mail,tag,,column_3\n1,ada@good.com,2,3,4,5\n');
    const { text } = await owner.call('GET', `/v1/lists/${json.id}/results?format=jsonl`);
    const cells = { tag: '1', 'E-Mail': 'ada@good.com', column_3_: '2', column_4: '3', column_3: '4', column_6: '5' };
    expect(JSON.parse(text).data).toEqual(cells);
  });

  it('is not there for another account, at any route', async () => {
    const id = await verified(CSV);
    for (const [method, path] of [
      ['GET', ''] as const,
      ['GET', '/rows'] as const,
      ['GET', '/results'] as const,
      ['DELETE', ''] as const,
      ...(['start', 'pause', 'resume', 'cancel'] as const).map((action) => ['POST', `/${action}`] as const),
    ]) {
      const { status, json } = await outsider.call(method, `/v1/lists/${id}${path}`);
      expect([method, path, status, json.code]).toEqual([method, path, 404, 'not_found']);
    }
    expect((await outsider.call('GET', '/v1/lists')).json.lists).toEqual([]);
    expect((await owner.call('GET', `/v1/lists/${id}`)).json.status).toBe('completed');
  });
});
