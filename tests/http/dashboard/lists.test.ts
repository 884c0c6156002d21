/** Lists of addresses in the dashboard. No job runs: a test does the work on lists itself. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listResultId } from '../../../src/kernel/ids.ts';
import type { Lab, Member, Reply } from '../../lab/service.ts';
import { sendCsv, startListLab, verifyChunks } from '../list-lab.ts';
import { type Client, of, signedIn } from './client.ts';

let lab: Lab;
let owner: Member;
let member: Client;
let stranger: Client;
beforeAll(async () => {
  lab = await startListLab();
  owner = await lab.member({ rateLimit: 100_000, credits: 1000 });
  member = await signedIn(lab, { account: owner.account, role: 'member', email: 'ada@good.com' });
  stranger = await signedIn(lab, { account: (await lab.member()).account });
});
afterAll(() => lab.close());

const FILE = 'Name;E-Mail;Other\nAda;ada@good.com;x@good.com\nBo;;\nCy;bo@no-mail.com;y@good.com\nCy;bo@NO-mail.com;\n';
const path = (rest = '', account = owner.account) => of(account, `/lists${rest}`);
const call = (method: string, rest: string, body?: unknown, who = member, account = owner.account) =>
  who.call(method, path(rest, account), body);
const upload = (text: string, query: Record<string, string> = {}, account = owner.account, who = member) =>
  who.call('POST', `${path('', account)}?${new URLSearchParams({ start: 'false', ...query })}`, text, {
    'content-type': 'application/octet-stream',
  });
const uploaded = async (text = FILE, query: Record<string, string> = {}): Promise<string> =>
  (await upload(text, query)).json.id;
const rowsOf = async (id: string, query: Record<string, string> = {}) =>
  (await call('GET', `/${id}/rows?${new URLSearchParams(query)}`)).json.rows as Record<string, unknown>[];
const credits = async () => (await owner.call('GET', '/v1/usage')).json.credits;

describe('an upload', () => {
  it('is stored by a member, and shown with what was detected and its first rows', async () => {
    const { status, json } = await upload(FILE, { name: 'people.csv' });
    expect([status, json.status, json.name]).toEqual([201, 'ready', 'people.csv']);
    expect(json.rows).toEqual({ total: 4, addresses: 2, duplicates: 1, blank: 1, unreadable: 0 });
    expect((await call('GET', `/${json.id}`)).json).toEqual({
      ...json,
      key: null,
      columns: ['Name', 'E-Mail', 'Other'],
      address_columns: [2],
      has_file: true,
      next_retry_at: null,
      rest_list: null,
      chosen: { columns: null, header_row: null, delimiter: null, encoding: null, sheet: null, entry: null },
    });
    const preview = await call('GET', `/${json.id}/preview`);
    expect(preview.json.rows).toHaveLength(4);
    expect(preview.json.rows[1]).toEqual({ row: 2, cells: ['Bo', '', ''], problem: null });
  });

  it('names the key of those by the API', async () => {
    const { json } = await sendCsv(lab, owner, FILE, '?start=false');
    expect((await call('GET', `/${json.id}`)).json.key).toEqual({ id: owner.keyId, name: 'test' });
  });

  it('is refused with what is wrong with it', async () => {
    const none = await upload('Name,Age\nAda,4\n');
    expect([none.status, none.json.code, none.json.columns]).toEqual([422, 'no_address_column', ['Name', 'Age']]);
    const pdf = await upload('%PDF-1.7');
    expect([pdf.status, pdf.json.code]).toEqual([422, 'unreadable_file']);
    // The type says nothing: the content does.
    const other = { 'content-type': 'image/png' };
    expect((await member.call('POST', path(), '\u0089PNG\r\n', other)).status).toBe(422);
    const foreign = { 'content-type': 'application/octet-stream', origin: 'https://elsewhere.test' };
    expect((await member.call('POST', path(), FILE, foreign)).json.code).toBe('cross_origin');
  });

  it('at a level that the plan has not is refused, as is its start', async () => {
    const { account } = await lab.member({ plan: 'starter' });
    const who = await signedIn(lab, { account });
    const refused = await upload(FILE, { validation_type: 'smtp' }, account, who);
    expect([refused.status, refused.json.code]).toEqual([402, 'plan_upgrade_required']);
    const { json } = await upload(FILE, {}, account, who);
    const start = await call('POST', `/${json.id}/start`, { validation_type: 'smtp' }, who, account);
    expect([start.status, start.json.code]).toEqual([402, 'plan_upgrade_required']);
  });
});

describe('a suspended account', () => {
  it('gets no new lists, and starts none', async () => {
    const { account } = await lab.member();
    const who = await signedIn(lab, { account });
    const { id } = (await upload(FILE, {}, account, who)).json;
    await lab.store.accounts.set(account.id, { status: 'suspended' });
    const replies = [
      await upload(FILE, {}, account, who),
      await call('POST', `/${id}/start`, { validation_type: 'mx' }, who, account),
      await call('PATCH', `/${id}`, { read: { columns: ['3'] } }, who, account),
      await call('POST', `/${id}/retry`, { validation_type: 'mx' }, who, account),
    ];
    expect(replies.map(({ json }) => json.code)).toEqual(replies.map(() => 'account_suspended'));
    expect((await call('GET', '', undefined, who, account)).json.lists).toHaveLength(1);
  });
});

describe('how a file is read', () => {
  it('is changed before the start, with the same rows', async () => {
    const id = await uploaded();
    const { status, json } = await call('PATCH', `/${id}`, { read: { columns: ['3'] } });
    expect([status, json.id]).toEqual([200, id]);
    expect(json.rows).toEqual({ total: 4, addresses: 2, duplicates: 0, blank: 2, unreadable: 0 });
    expect((await rowsOf(id)).map(({ email }) => email)).toEqual(['x@good.com', null, 'y@good.com', null]);
    expect((await call('GET', `/${id}`)).json).toMatchObject({ address_columns: [3], read: { delimiter: ';' } });
  });

  it('changes with the header, and back', async () => {
    const id = await uploaded();
    const none = (await call('PATCH', `/${id}`, { read: { columns: ['2'], header_row: 0 } })).json;
    expect([none.rows.total, none.read.header_row]).toEqual([5, 0]);
    expect((await call('GET', `/${id}`)).json.columns).toEqual(['column_1', 'email', 'column_3']);
    const back = (await call('PATCH', `/${id}`, { read: { columns: ['E-Mail'], header_row: 1 } })).json;
    expect(back.rows.total).toBe(4);
    expect((await call('GET', `/${id}`)).json.columns).toEqual(['Name', 'E-Mail', 'Other']);
  });

  it('names a column of the file, of a list that has not started', async () => {
    const id = await uploaded();
    const none = await call('PATCH', `/${id}`, { read: { columns: ['4'] } });
    expect([none.status, none.json.code]).toEqual([422, 'no_address_column']);
    await call('POST', `/${id}/start`, { validation_type: 'mx' });
    const late = await call('PATCH', `/${id}`, { read: { columns: ['3'] } });
    expect([late.status, late.json.code]).toEqual([409, 'list_state']);
  });
});

describe('a list', () => {
  it('is started at the level of the start, paused, resumed, cancelled and deleted by a member', async () => {
    const id = await uploaded();
    const before = await credits();
    const started = await call('POST', `/${id}/start`, { validation_type: 'smtp' });
    expect(started.json).toMatchObject({
      status: 'running',
      validation_type: 'smtp',
      credits: { price: 20, held: 20 },
    });
    expect((await credits()).locked - before.locked).toBe(20);
    for (const [action, status] of [
      ['pause', 'paused'],
      ['resume', 'running'],
      ['cancel', 'cancelled'],
    ] as const)
      expect((await call('POST', `/${id}/${action}`)).json.status).toBe(status);
    expect((await credits()).locked).toBe(before.locked);
    expect((await call('POST', `/${id}/start`, { validation_type: 'mx' })).json.code).toBe('list_state');
    expect((await call('DELETE', `/${id}`)).status).toBe(200);
    expect((await call('GET', `/${id}`)).status).toBe(404);
    expect(await lab.store.accounts.audit()).toEqual([]);
  });

  it('that cannot be paid stays ready and says what it needs', async () => {
    const { account } = await lab.member({ credits: 1 });
    const who = await signedIn(lab, { account });
    const { id } = (await upload(FILE, {}, account, who)).json;
    const start = await call('POST', `/${id}/start`, { validation_type: 'smtp' }, who, account);
    expect([start.status, start.json]).toMatchObject([402, { code: 'insufficient_credits', needed: 20, available: 1 }]);
    const { json } = await call('GET', `/${id}`, undefined, who, account);
    expect(json).toMatchObject({ status: 'ready', credits: { held: 0 } });
  });

  it('costs nothing in test mode, at whatever level', async () => {
    const test = await lab.store.accounts.testAccount(owner.account.id);
    const { id } = (await upload(FILE, {}, test)).json;
    const started = await call('POST', `/${id}/start`, { validation_type: 'smtp' }, member, test);
    expect(started.json).toMatchObject({ validation_type: 'smtp', credits: { price: 0, held: 0 } });
  });

  it('has rows by kind and verdict, each with its entry in the log, which names the list', async () => {
    const id = await uploaded(`${FILE}"broken;z@good.com;\n`, { name: 'People', validation_type: 'mx' });
    await call('POST', `/${id}/start`, { validation_type: 'mx' });
    await verifyChunks(lab, owner, id);
    expect((await rowsOf(id)).map(({ kind }) => kind)).toEqual([
      'address',
      'blank',
      'address',
      'duplicate',
      'unreadable',
    ]);
    expect((await rowsOf(id, { kind: 'duplicate' })).map(({ row }) => row)).toEqual([4]);
    const [bad, again] = await rowsOf(id, { deliverability: 'undeliverable' });
    expect(again?.verification_id).toBe(bad?.verification_id);
    const entry = await member.call('GET', of(owner.account, `/log/${bad?.verification_id}`));
    expect(entry.json.entry).toMatchObject({ email: 'bo@no-mail.com', list: { id, name: 'People' } });
    const log = async (origin: string) =>
      (await member.call('GET', of(owner.account, `/log?origin=${origin}`))).json.entries as { list: unknown }[];
    expect((await log('list')).length).toBeGreaterThan(0);
    expect((await log('list')).every(({ list }) => list !== null)).toBe(true);
    expect([...(await log('api')), ...(await log('dashboard'))].every(({ list }) => list === null)).toBe(true);
    const file = await member.call('GET', `${path(`/${id}/results`)}?deliverability=undeliverable&format=csv`);
    expect(file.text.trimEnd().split('\r\n')).toHaveLength(3);
    expect(file.headers.get('content-disposition')).toBe('attachment; filename="People.undeliverable.csv"');
  });

  it('shows what is deferred, with the time of the next attempt', async () => {
    const id = await uploaded();
    await call('POST', `/${id}/start`, { validation_type: 'mx' });
    const { id: account } = owner.account;
    const [work] = await lab.store.lists.claim({ account, list: id, lease: 'x', leaseMs: 60_000, chunks: 1 });
    const single = (await owner.verify('ada@good.com')).json;
    const record = await lab.store.verifications.get(account, single.id);
    if (work === undefined || record === null) throw new Error('Nothing to work on.');
    const outcome = { work, record: { ...record, id: listResultId(id, work.address) }, retryMs: 600_000 };
    await lab.store.lists.record(account, id, [outcome]);
    const { json } = await call('GET', `/${id}/deferred`);
    expect(json.deferred).toEqual([
      { email: work.email, attempts: 1, first_at: expect.any(String), retry_at: expect.any(String) },
    ]);
    const [{ first_at, retry_at }] = json.deferred;
    expect(Date.parse(retry_at) - Date.parse(first_at)).toBe(600_000);
    const detail = (await call('GET', `/${id}`)).json;
    expect([detail.progress.waiting, detail.next_retry_at]).toEqual([1, retry_at]);
  });

  it('is retried where it is unknown, as a list of its own', async () => {
    const id = await uploaded(FILE, { name: 'People' });
    expect((await call('POST', `/${id}/retry`, { validation_type: 'smtp' })).json.code).toBe('list_state');
    await call('POST', `/${id}/start`, { validation_type: 'mx' });
    await verifyChunks(lab, owner, id);
    const { status, json } = await call('POST', `/${id}/retry`, { validation_type: 'smtp' });
    expect([status, json.name, json.status, json.validation_type]).toEqual([201, 'Retry of People', 'running', 'smtp']);
    expect(json.rows).toMatchObject({ total: 1, addresses: 1 });
    expect((await rowsOf(json.id)).map(({ email }) => email)).toEqual(['ada@good.com']);
    expect((await call('GET', `/${json.id}`)).json.columns).toEqual(['Name', 'E-Mail', 'Other']);
    await call('POST', `/${json.id}/cancel`);
    expect((await call('POST', `/${json.id}/retry`, { validation_type: 'smtp' })).json.code).toBe('list_state');
    expect(await lab.store.accounts.audit()).toEqual([]);
  });

  it('has its rest verified once after it was canceled, and charged exactly', async () => {
    const file = 'email;who\nr1@good.com;a\nr2@good.com;b\nr3@good.com;c\nr2@GOOD.com;d\nr1@good.com;e\n';
    const id = await uploaded(file, { name: 'Sale' });
    await call('POST', `/${id}/start`, { validation_type: 'mx' });
    await verifyChunks(lab, owner, id, 100, 1);
    expect((await call('POST', `/${id}/rest`)).json.code).toBe('list_state');
    await call('POST', `/${id}/cancel`);
    expect((await call('GET', `/${id}`)).json).toMatchObject({ progress: { done: 1 }, rest_list: null });
    const both = await Promise.all([call('POST', `/${id}/rest`), call('POST', `/${id}/rest`)]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
    const rest = both.find(({ status }) => status === 201)!.json;
    expect(rest).toMatchObject({ name: 'Rest of Sale', status: 'running', validation_type: 'mx' });
    expect(rest.rows).toMatchObject({ total: 3, addresses: 2, duplicates: 1 });
    expect((await rowsOf(rest.id)).map(({ email }) => email)).toEqual(['r2@good.com', 'r3@good.com', 'r2@GOOD.com']);
    expect((await call('GET', `/${id}`)).json.rest_list).toBe(rest.id);
    await verifyChunks(lab, owner, rest.id);
    const done = (await call('GET', `/${rest.id}`)).json;
    expect([done.status, done.credits.used, done.credits.held]).toEqual(['completed', 2, 0]);
    expect((await call('POST', `/${rest.id}/rest`)).json.code).toBe('list_state');
    expect((await call('POST', `/${id}/rest`)).json.code).toBe('list_state');
    expect((await call('POST', `/${id}/rest`, undefined, stranger)).status).toBe(404);
    const cells = await rowsOf(rest.id, { limit: '1', cells: 'true' });
    expect(cells[0]!.cells).toEqual(['r2@good.com', 'b']);
    expect(await lab.store.accounts.audit()).toEqual([]);
  });

  it('gives the rows of a reason or a search as a file that is called so', async () => {
    const id = await uploaded('email\na@good.com\nb@no-mail.com\nc@no-mail.com\n', { name: 'Leads.csv' });
    await call('POST', `/${id}/start`, { validation_type: 'mx' });
    await verifyChunks(lab, owner, id);
    const file = async (query: string) => {
      const { headers, text } = await call('GET', `/${id}/results?${query}`);
      const [, ...rows] = text.trimEnd().split('\r\n');
      return [headers.get('content-disposition')!.split('"')[1], rows.map((line) => line.split(',')[0])];
    };
    const { reason } = (await rowsOf(id)).at(-1) as { reason: string };
    expect(await file(`reason=${reason}`)).toEqual([`Leads.${reason}.csv`, ['b@no-mail.com', 'c@no-mail.com']]);
    expect(await file(`reason=${reason}&query=C@`)).toEqual([`Leads.${reason}.search.csv`, ['c@no-mail.com']]);
    expect((await file('deliverability=unknown'))[0]).toBe('Leads.unknown.csv');
    expect((await file(''))[0]).toBe('Leads.results.csv');
  });

  it('is sorted and filtered among the others', async () => {
    const { account } = await lab.member();
    const who = await signedIn(lab, { account });
    for (const [name, rows] of [
      ['b', 3],
      ['a', 1],
      ['c', 2],
    ] as const)
      await upload(`email\n${'x@good.com\n'.repeat(rows)}`, { name }, account, who);
    const names = async (query: string) =>
      (await call('GET', `?${query}`, undefined, who, account)).json.lists.map(({ name }: { name: string }) => name);
    expect(await names('')).toEqual(['c', 'a', 'b']);
    expect(await names('sort=name')).toEqual(['a', 'b', 'c']);
    expect(await names('sort=rows')).toEqual(['b', 'c', 'a']);
    expect(await names('sort=rows&order=asc')).toEqual(['a', 'c', 'b']);
    expect(await names('status=running')).toEqual([]);
    expect((await call('GET', '?sort=size', undefined, who, account)).status).toBe(400);
  });

  it('does not exist for a stranger', async () => {
    const id = await uploaded();
    const replies: Reply[] = [];
    const elsewhere = (await stranger.call('GET', '/dashboard/session')).json.accounts[0].id;
    for (const [method, rest, body] of [
      ['GET', ''],
      ['GET', '/rows'],
      ['GET', '/preview'],
      ['GET', '/deferred'],
      ['GET', '/results'],
      ['DELETE', ''],
      ['POST', '/pause'],
      ['POST', '/start', { validation_type: 'mx' }],
      ['POST', '/retry', { validation_type: 'mx' }],
      ['POST', '/column', { column: 1, header: true }],
    ] as const) {
      replies.push(await call(method, `/${id}${rest}`, body, stranger));
      replies.push(await stranger.call(method, `/dashboard/accounts/${elsewhere}/lists/${id}${rest}`, body));
    }
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 404));
    expect((await call('GET', `/${id}`)).json.status).toBe('ready');
  });
});
