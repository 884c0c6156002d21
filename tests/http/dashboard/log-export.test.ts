import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COSTS } from '../../../src/kernel/costs.ts';
import type { Row, Tables } from '../../../src/store/tables.ts';
import { type Lab, type Member, startLab } from '../../lab/service.ts';
import { type Client, of, signedIn } from './client.ts';

let lab: Lab;
let member: Member;
let user: Client;
beforeAll(async () => {
  lab = await startLab();
  member = await lab.member({ credits: 500, rateLimit: 1000 });
  user = await signedIn(lab, { account: member.account });
});
afterAll(() => lab.close());

const path = (ending: string, query: Record<string, string> = {}, of_ = member) =>
  `${of(of_.account, `/log${ending}`)}?${new URLSearchParams(query)}`;
const linesOf = (text: string, end: string) => text.split(end).slice(0, -1);
const exported = async (query: Record<string, string> = {}, of_ = member, who = user) =>
  linesOf((await who.call('GET', path('.jsonl', query, of_))).text, '\n').map((line) => JSON.parse(line));

/** Copies of the account's only verification, so many. */
async function copies(of_: Member, count: number, change: (n: number) => Partial<Row<'verifications'>>): Promise<void> {
  const db = lab.store.authDatabase.db as Kysely<Tables>;
  const { seq: _seq, ...row } = await db
    .selectFrom('verifications')
    .selectAll()
    .where('account_id', '=', of_.account.id)
    .executeTakeFirstOrThrow();
  const rows = Array.from({ length: count }, (_, n) => ({ ...row, id: `${row.id}${n}`, ...change(n) }));
  for (let at = 0; at < count; at += 500)
    await db
      .insertInto('verifications')
      .values(rows.slice(at, at + 500))
      .execute();
}

describe('the export of the log', () => {
  it('has the rows of the page, newest first, as JSON Lines and as CSV', async () => {
    await member.verify('ada@good.com');
    await member.call('POST', '/v1/verify', { emial: 'x' }, { 'x-request-id': 'trace-1' });
    // Verifications have the time of the store, which may be some milliseconds behind that of this process.
    await setTimeout(50);
    await member.verify('=cmd@good.com');
    await user.call('POST', of(member.account, '/verify'), { email: 'cy@mailinator.com', validation_type: 'mx' });
    const page = async () => (await user.call('GET', path('', { limit: '100' }))).json;
    await expect.poll(async () => (await page()).rejected.length, { timeout: 30_000 }).toBe(1);
    const { entries, rejected } = await page();
    const lines = await user.call('GET', path('.jsonl'));
    expect(lines.headers.get('content-disposition')).toMatch(/^attachment; filename="log\.\d{4}-\d\d-\d\d\.jsonl"$/);
    const verification = (n: number) => ({ kind: 'verification', ...entries[n] });
    expect(linesOf(lines.text, '\n').map((line) => JSON.parse(line))).toEqual([
      verification(0),
      verification(1),
      { kind: 'rejected', ...rejected[0] },
      verification(2),
    ]);

    const { text, headers } = await user.call('GET', path('.csv'));
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename="log\.\d{4}-\d\d-\d\d\.csv"$/);
    const [head, ...rows] = linesOf(text, '\r\n').map((line) => line.split(','));
    const cell = (row: number, name: string) => rows[row]![head!.indexOf(name)];
    expect(rows.map((row) => row.length)).toEqual(rows.map(() => head!.length));
    expect(rows.map((_, i) => [cell(i, 'kind'), cell(i, 'at'), cell(i, 'email'), cell(i, 'key_id')])).toEqual([
      ['verification', entries[0].created_at, 'cy@mailinator.com', ''],
      // Text for a spreadsheet, not a formula.
      ['verification', entries[1].created_at, "'=cmd@good.com", member.keyId],
      ['rejected', rejected[0].at, '', member.keyId],
      ['verification', entries[2].created_at, 'ada@good.com', member.keyId],
    ]);
    expect([cell(0, 'reason'), cell(0, 'status'), cell(0, 'http_status'), cell(0, 'credits_used')]).toEqual([
      'disposable_domain',
      'bad',
      '',
      '1',
    ]);
    expect([cell(2, 'request_id'), cell(2, 'http_status'), cell(2, 'count'), cell(2, 'status')]).toEqual([
      'trace-1',
      '400',
      '1',
      '',
    ]);
  });

  it.each([
    [{ query: 'good.com' }, ['=cmd@good.com', 'ada@good.com']],
    [{ reason: 'disposable_domain' }, ['cy@mailinator.com']],
    [{ origin: 'dashboard' }, ['cy@mailinator.com']],
    [{ key: 'dashboard', status: 'good' }, []],
    [{ status: 'rejected' }, ['400']],
    [{ query: 'trace-1' }, ['400']],
    [{ deliverability: 'not_checked' }, ['=cmd@good.com', 'ada@good.com']],
    [{ to: '2020-01-01' }, []],
  ])('is narrowed by %j', async (query, found) => {
    const rows = await exported(query);
    expect(rows.map(({ email, status }) => email ?? String(status))).toEqual(found);
  });

  it.each([
    [{ reason: 'disposable_domain', not: 'reason' }, 'log.not-disposable_domain'],
    [{ mail: 'arrived' }, 'log.search'],
    [{ confidence: '90-100' }, 'log.search'],
    [{ status: 'good', key: 'dashboard', from: '2020-01-01' }, 'log.good.search'],
  ])('says in the name of the file what was searched for: %j', async (query, name) => {
    const { headers } = await user.call('GET', path('.csv', query));
    expect(headers.get('content-disposition')).toContain(`filename="${name}.20`);
  });

  it('refuses a wrong filter by name, and who is not a member', async () => {
    const wrong = await user.call('GET', path('.csv', { level: 'dns' }));
    expect([wrong.status, wrong.json.field]).toEqual([400, 'level']);
    const stranger = await signedIn(lab, { account: (await lab.member()).account });
    for (const ending of ['.csv', '.jsonl']) expect((await stranger.call('GET', path(ending))).status).toBe(404);
  });

  it('is complete, however long, also where matches are far apart', async () => {
    const own = await lab.member({ credits: 10 });
    const who = await signedIn(lab, { account: own.account });
    await own.verify('first@good.com');
    await copies(own, 11_000, (n) => ({ email: n % 4000 === 0 ? `rare${n}@a.example` : `p${n}@b.example` }));
    const all = await exported({}, own, who);
    expect(new Set(all.map(({ id }) => id)).size).toBe(11_001);
    expect(all.at(-1).email).toBe('first@good.com');
    const rare = await exported({ query: 'a.example' }, own, who);
    expect(rare.map(({ email }) => email)).toEqual(['rare8000@a.example', 'rare4000@a.example', 'rare0@a.example']);
  });

  it('is bounded at once for each account, and ends when the client goes', async () => {
    const own = await lab.member({ credits: 10 });
    const who = await signedIn(lab, { account: own.account });
    await own.verify('first@good.com');
    // More than what the sockets take while nobody reads.
    await copies(own, 10_000, (n) => ({ email: `${'x'.repeat(900)}${n}@a.example` }));
    const open = () =>
      new Promise<IncomingMessage>((resolve, reject) =>
        get(`${lab.url}${path('.jsonl', {}, own)}`, { headers: { cookie: who.cookie }, agent: false }, resolve).once(
          'error',
          reject,
        ),
      );
    const unread: IncomingMessage[] = [];
    for (let n = 0; n < COSTS.export.perAccount; n++) unread.push(await open());
    expect(unread.map(({ statusCode }) => statusCode)).toEqual(unread.map(() => 200));
    const one = await who.call('GET', path('.csv', {}, own));
    expect([one.status, one.json.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(one.headers.get('retry-after')).toMatch(/^\d+$/);
    // Filters, ledger and audit log share the bound.
    const others = ['filters.csv', 'ledger.csv', 'ledger.jsonl', 'audit-log.csv', 'audit-log.jsonl'];
    for (const file of others) {
      const { status } = await who.call('GET', `/dashboard/accounts/${own.account.id}/${file}`);
      expect([file, status]).toEqual([file, 429]);
    }
    // Others have their own.
    expect((await user.call('GET', path('.csv'))).status).toBe(200);
    const closed = unread.map((reply) => once(reply.destroy(), 'close'));
    await Promise.all(closed);
    const again = async () => (await who.call('GET', path('.csv', { status: 'rejected' }, own))).status;
    await expect.poll(again, { timeout: 10_000 }).toBe(200);
    for (const file of [...others, ...others]) {
      const { status } = await who.call('GET', `/dashboard/accounts/${own.account.id}/${file}`);
      expect([file, status]).toEqual([file, 200]);
    }
  });
});
