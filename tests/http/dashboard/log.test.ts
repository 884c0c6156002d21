import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REASON_FILTERS } from '../../../src/kernel/facts/reasons.ts';
import { type Lab, type Member, startLab } from '../../lab/service.ts';
import { runSql } from '../../lab/stores.ts';
import { sendCsv } from '../list-lab.ts';
import { type Client, of, signedIn } from './client.ts';

let lab: Lab;
let member: Member;
let admin: Client;
let stranger: Client;
let other: Member;
beforeAll(async () => {
  lab = await startLab({ MAILVET_RETENTION_DAYS: '20' });
  member = await lab.member({ credits: 500, rateLimit: 1000 });
  other = await lab.member();
  admin = await signedIn(lab, { account: member.account, role: 'admin' });
  stranger = await signedIn(lab, { account: other.account });
});
afterAll(() => lab.close());

const search = (query: Record<string, string> = {}, account = member.account, who = admin) =>
  who.call('GET', `${of(account, '/log')}?${new URLSearchParams(query)}`);
const emails = (reply: { json: { entries: { email: string }[] } }) => reply.json.entries.map(({ email }) => email);

describe('the log', () => {
  it('lists verifications, newest first, each with its full response', async () => {
    const first = (await member.verify('Ada@good.com')).json;
    await member.verify('bob@mailinator.com');
    await admin.call('POST', of(member.account, '/verify'), { email: 'cy@good.com', validation_type: 'mx' });
    const { json } = await search();
    expect(json).toMatchObject({ next: null, searched_to: null, retention_days: 20 });
    expect(json.entries).toMatchObject([
      { email: 'cy@good.com', key: null },
      {
        email: 'bob@mailinator.com',
        status: 'bad',
        reason: 'disposable_domain',
        key: { id: member.keyId, name: 'test' },
      },
      { email: 'Ada@good.com', id: first.id, requested: 'mx', validation_type: 'mx', credits_used: 1 },
    ]);
    const detail = await admin.call('GET', of(member.account, `/log/${first.id}`));
    expect(detail.json.reply).toEqual(first);
    expect(detail.json.entry).toEqual(json.entries[2]);
  });

  it('has every check of a reply that another version stored, and so has the list of it', async () => {
    const own = await lab.member({ credits: 20 });
    const reader = await signedIn(lab, { account: own.account, role: 'viewer' });
    const list = (await sendCsv(lab, own, 'email\nzoe@good.com\n')).json.id;
    const entries = async () => (await search({}, own.account, reader)).json.entries;
    await expect.poll(entries, { timeout: 30_000 }).toHaveLength(1);
    const [{ id }] = await entries();
    const { body = '' } = (await lab.store.verifications.get(own.account.id, id)) ?? {};
    const { checks, ...stored } = JSON.parse(body);
    const { smtp: _, ...others } = checks;
    const text = JSON.stringify({ ...stored, checks: others });
    await runSql(lab.databaseUrl, `UPDATE verifications SET body = '${text}' WHERE id = '${id}'`);
    const completed = { ...others, smtp: { result: 'skipped' } };
    const { reply } = (await reader.call('GET', of(own.account, `/log/${id}`))).json;
    expect(reply).toEqual({ ...stored, checks: completed });
    const { rows } = (await own.call('GET', `/v1/lists/${list}/rows`)).json;
    expect(rows).toMatchObject([{ checks: completed, egress: null }]);
  });

  it('finds the results of lists', async () => {
    const own = await lab.member({ credits: 20 });
    const reader = await signedIn(lab, { account: own.account, role: 'viewer' });
    const [one, two] = [
      await sendCsv(lab, own, 'email\nzoe@good.com\n'),
      await sendCsv(lab, own, 'email\nyan@good.com\n'),
    ];
    await own.verify('xi@good.com');
    const found = async (query: Record<string, string>) => emails(await search(query, own.account, reader)).sort();
    await expect.poll(() => found({}), { timeout: 30_000 }).toHaveLength(3);
    expect(await found({ list: one.json.id })).toEqual(['zoe@good.com']);
    expect(await found({ list: `${one.json.id},${two.json.id}` })).toEqual(['yan@good.com', 'zoe@good.com']);
    expect(await found({ list: one.json.id, not: 'list' })).toEqual(['xi@good.com', 'yan@good.com']);
    expect(await found({ list: 'list_nothing' })).toEqual([]);
  });

  it.each([
    [{ email: 'ADA' }, ['Ada@good.com']],
    [{ email: 'ada@good.com' }, ['Ada@good.com']],
    [{ email: '@good.com' }, []],
    [{ email: '%' }, []],
    [{ reason: 'disposable_domain' }, ['bob@mailinator.com']],
    [{ reason: 'none' }, ['cy@good.com', 'Ada@good.com']],
    [{ reason: 'none,disposable_domain', limit: '2' }, ['cy@good.com', 'bob@mailinator.com']],
    [{ reason: 'none,greylisted', not: 'reason' }, ['bob@mailinator.com']],
    [{ status: 'bad' }, ['bob@mailinator.com']],
    [{ reason: REASON_FILTERS.join() }, ['cy@good.com', 'bob@mailinator.com', 'Ada@good.com']],
    [{ status: 'bad,rejected' }, ['bob@mailinator.com']],
    [{ status: 'bad,rejected', not: 'status' }, ['cy@good.com', 'Ada@good.com']],
    [{ deliverability: 'risky,undeliverable' }, ['bob@mailinator.com']],
    [{ origin: 'dashboard,list' }, ['cy@good.com']],
    [{ level: 'mx,smtp', key: 'dashboard,key_none' }, ['cy@good.com']],
    [{ key: 'dashboard' }, ['cy@good.com']],
    [{ key: 'dashboard', status: 'bad' }, []],
    [{ id: 'ver_nothing' }, []],
    [{ query: 'good.com' }, ['cy@good.com', 'Ada@good.com']],
    [{ query: 'GOOD.c' }, ['cy@good.com', 'Ada@good.com']],
    [{ query: '@good.com' }, ['cy@good.com', 'Ada@good.com']],
    [{ query: 'ada@g' }, ['Ada@good.com']],
    [{ query: 'da@good' }, ['Ada@good.com']],
    [{ query: 'ob@MAIL', limit: '1' }, ['bob@mailinator.com']],
    [{ query: '%' }, []],
    [{ query: ' ' }, ['cy@good.com', 'bob@mailinator.com', 'Ada@good.com']],
    [{ query: 'good.com', origin: 'api' }, ['Ada@good.com']],
    [{ origin: 'dashboard' }, ['cy@good.com']],
    [{ level: 'smtp' }, []],
    [{ deliverability: 'undeliverable' }, []],
    [{ deliverability: 'not_checked' }, ['cy@good.com', 'Ada@good.com']],
    [{ deliverability: 'unknown' }, []],
    [{ deliverability: 'risky', reason: 'disposable_domain' }, ['bob@mailinator.com']],
    [{ operator: 'none' }, ['cy@good.com', 'Ada@good.com']],
    [{ operator: 'Google' }, []],
    [{ operator: 'google,none' }, ['cy@good.com', 'Ada@good.com']],
    [{ operator: 'google,none', not: 'operator' }, ['bob@mailinator.com']],
    [{ operator: '"},"' }, []],
    [{ egress: 'default' }, []],
    [{ egress: 'default', not: 'egress' }, ['cy@good.com', 'bob@mailinator.com', 'Ada@good.com']],
    [{ query: 'good.com', origin: 'api', not: 'origin' }, ['cy@good.com']],
    [{ level: 'smtp', not: 'level' }, ['cy@good.com', 'bob@mailinator.com', 'Ada@good.com']],
    [{ deliverability: 'not_checked', not: 'deliverability' }, ['bob@mailinator.com']],
    [{ deliverability: 'risky', origin: 'dashboard', not: 'deliverability,origin' }, ['Ada@good.com']],
    // Those without a reason do not have this one either.
    [{ reason: 'disposable_domain', not: 'reason' }, ['cy@good.com', 'Ada@good.com']],
    [{ reason: 'none', not: 'reason' }, ['bob@mailinator.com']],
    [{ key: 'dashboard', not: 'key' }, ['bob@mailinator.com', 'Ada@good.com']],
    [{ status: 'bad', not: 'status' }, ['cy@good.com', 'Ada@good.com']],
    [{ status: 'rejected', not: 'status' }, ['cy@good.com', 'bob@mailinator.com', 'Ada@good.com']],
    [{ operator: 'Google', not: 'operator' }, ['cy@good.com', 'bob@mailinator.com', 'Ada@good.com']],
    [{ not: 'status' }, ['cy@good.com', 'bob@mailinator.com', 'Ada@good.com']],
    [{ to: '2020-01-01' }, []],
    [{ from: '2020-01-01' }, ['cy@good.com', 'bob@mailinator.com', 'Ada@good.com']],
    [{ limit: '1' }, ['cy@good.com']],
  ])('is searched by %j', async (query, found) => {
    expect(emails(await search(query as unknown as Record<string, string>))).toEqual(found);
  });

  it('filters by id and by key', async () => {
    const [entry] = (await search({ email: 'bob' })).json.entries;
    expect(emails(await search({ id: entry.id }))).toEqual(['bob@mailinator.com']);
    expect(emails(await search({ query: entry.id }))).toEqual(['bob@mailinator.com']);
    expect(emails(await search({ key: member.keyId }))).toEqual(['bob@mailinator.com', 'Ada@good.com']);
  });

  it('pages through each entry once', async () => {
    const own = await lab.member({ credits: 500, rateLimit: 1000 });
    const who = await signedIn(lab, { account: own.account });
    const sent = Array.from({ length: 23 }, (_, i) => `p${i}@good.com`);
    for (const email of sent) await own.verify(email);
    const seen: string[] = [];
    for (let before: string | null = null; ; ) {
      const page: Awaited<ReturnType<typeof search>> = await search(
        { limit: '10', ...(before === null ? {} : { before }) },
        own.account,
        who,
      );
      seen.push(...emails(page));
      if (page.json.next === null) break;
      before = String(page.json.next);
    }
    expect(seen).toEqual(sent.toReversed());
  });

  it.each([
    { status: 'ugly' },
    { reason: 'none,ugly' },
    { reason: 'none,' },
    { limit: '0' },
    { before: 'x' },
    { email: 'a\u0000b' },
    { id: 'x'.repeat(65) },
    { level: 'dns' },
    { deliverability: 'good' },
    { origin: 'webhook' },
    { operator: 'x'.repeat(1_001) },
    { from: '2026-13-45' },
    { query: 'x'.repeat(5000) },
  ])('%j is refused by name', async (query) => {
    const { status, json } = await search(query);
    expect([status, json.field]).toEqual([400, Object.keys(query)[0]]);
  });

  it('is not visible to other accounts', async () => {
    const [entry] = (await search()).json.entries;
    expect((await search({}, member.account, stranger)).status).toBe(404);
    expect((await stranger.call('GET', of(other.account, `/log/${entry.id}`))).json.code).toBe('not_found');
    expect(emails(await search({ id: entry.id }, other.account, stranger))).toEqual([]);
  });

  it('erases an address, in every notation, and nothing else; charges remain', async () => {
    const own = await lab.member({ credits: 100 });
    const who = await signedIn(lab, { account: own.account, role: 'admin' });
    await own.verify('Eve@good.com');
    await own.verify('eve@GOOD.com');
    await own.verify('eve2@good.com');
    const erase = (email: string) => who.call('POST', of(own.account, '/log/erase'), { email });
    for (const scope of ['signup', 'trial']) await own.verify('Eve+2@good.com', { scope });
    await own.verify('eve2@good.com', { scope: 'signup' });
    // Her records, those that name her address as their canonical one, and her mailbox in two scopes.
    expect((await erase('EVE@good.com')).json).toEqual({ erased: 6 });
    expect((await own.verify('eve2@good.com', { scope: 'signup' })).json.seen).toMatchObject({ before: true });
    expect((await own.verify('eve+3@good.com', { scope: 'signup' })).json.seen).toMatchObject({ before: false });
    await erase('eve+2@good.com');
    await erase('eve+3@good.com');
    expect((await erase('EVE@good.com')).json).toEqual({ erased: 0 });
    expect(emails(await search({}, own.account, who))).toEqual(['eve2@good.com', 'eve2@good.com', 'eve2@good.com']);
    expect((await who.call('GET', of(own.account, '/overview'))).json).toMatchObject({
      credits: { remaining: 92, used: 8 },
      totals: { requests: 8 },
    });
    const auditLog = await who.call('GET', of(own.account, '/audit-log'));
    expect(auditLog.json.entries.map(({ action }: { action: string }) => action)).toContain('log.erased');
    expect(auditLog.text.toLowerCase()).not.toContain('eve@good.com');
    expect(await lab.store.accounts.audit()).toEqual([]);
  });
});
