import type { Kysely } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LOG_SEARCH_ROWS } from '../../../src/kernel/facts/limits.ts';
import type { Tables } from '../../../src/store/tables.ts';
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

const search = (query: Record<string, string> = {}, of_ = member, who = user) =>
  who.call('GET', `${of(of_.account, '/log')}?${new URLSearchParams(query)}`);

/** Waits until the log has so many rejected requests: they are written in the background. */
async function rejected(count: number, of_ = member, who = user) {
  await expect
    .poll(async () => (await search({ status: 'rejected' }, of_, who)).json.rejected?.length, { timeout: 30_000 })
    .toBe(count);
  return (await search({ status: 'rejected' }, of_, who)).json.rejected;
}

describe('rejected requests', () => {
  it('are in the log with status, code, route, key, IP and request ID, but nothing of their body', async () => {
    await member.verify('ada@good.com');
    const wrong = await member.call('POST', '/v1/verify', { emial: 'secret@good.com' }, { 'x-request-id': 'trace-1' });
    expect(wrong.status).toBe(400);
    const unknown = await member.call('GET', '/v1/lists/lst_none', undefined, { 'x-request-id': 'trace-2' });
    await member.verify('bob@good.com');
    const rows = await rejected(2);
    expect(rows).toEqual([
      {
        id: expect.any(Number),
        at: expect.any(String),
        request_id: 'trace-2',
        key: { id: member.keyId, name: 'test' },
        client_ip: '127.0.0.1',
        route: 'GET /v1/lists/:id',
        status: unknown.status,
        code: 'not_found',
        via: null,
        answer: null,
        count: 1,
      },
      expect.objectContaining({ request_id: 'trace-1', route: 'POST /v1/verify', status: 400, code: wrong.json.code }),
    ]);
    const { json, text } = await search();
    expect(json.entries).toHaveLength(2);
    expect(json.rejected).toEqual(rows);
    expect(text).not.toContain('secret');
    const detail = await user.call('GET', of(member.account, `/log/rejected/${rows[1].id}`));
    expect(detail.json.rejected).toEqual(rows[1]);
    expect(detail.json.fix).toMatch(/\w/);
  });

  it('are not recorded of a request without a valid key, nor shown to another account', async () => {
    const other = await lab.member();
    const stranger = await signedIn(lab, { account: other.account });
    await other.call('POST', '/v1/verify', {}, { authorization: 'Bearer mv_live_00000000000000000000000000000000' });
    await other.call('POST', '/v1/verify', {}, { 'x-request-id': 'own' });
    const rows = await rejected(1, other, stranger);
    expect(rows[0].request_id).toBe('own');
    const foreign = await stranger.call('GET', of(other.account, `/log/rejected/${(await rejected(2))[0].id}`));
    expect(foreign.status).toBe(404);
  });

  it.each([
    [{ query: 'trace-2' }, ['trace-2']],
    [{ query: 'not_found' }, ['trace-2']],
    [{ query: '127.0.0.1' }, ['trace-2', 'trace-1']],
    [{ query: 'good.com' }, []],
    [{ origin: 'api' }, ['trace-2', 'trace-1']],
    [{ origin: 'dashboard' }, []],
    [{ from: '2020-01-01' }, ['trace-2', 'trace-1']],
    [{ to: '2020-01-01' }, []],
    [{ deliverability: 'risky' }, []],
    [{ key: 'key_none' }, []],
  ])('are searched by %j', async (query, found) => {
    const { json } = await search({ status: 'rejected', ...(query as unknown as Record<string, string>) });
    expect(json.rejected.map((row: { request_id: string }) => row.request_id)).toEqual(found);
    expect(json.entries).toEqual([]);
  });

  it('stand among verifications by time, each once, however small the pages are', async () => {
    const own = await lab.member({ credits: 500, rateLimit: 1000 });
    const who = await signedIn(lab, { account: own.account });
    const sent: string[] = [];
    for (let i = 0; i < 12; i++) {
      const id = `p${i}`;
      sent.push(id);
      if (i % 3 === 0) await own.call('POST', '/v1/verify', {}, { 'x-request-id': id });
      else await own.verify(`${id}@good.com`);
    }
    await rejected(4, own, who);
    const seen: { at: string; id: string }[] = [];
    for (let before: string | null = null; ; ) {
      const { json }: Awaited<ReturnType<typeof search>> = await search(
        { limit: '2', ...(before === null ? {} : { before }) },
        own,
        who,
      );
      expect(json.entries.length + json.rejected.length).toBeLessThanOrEqual(2);
      const page = [
        ...json.entries.map((row: { created_at: string; email: string }) => ({
          at: row.created_at,
          id: row.email.slice(0, row.email.indexOf('@')),
        })),
        ...json.rejected.map((row: { at: string; request_id: string }) => ({ at: row.at, id: row.request_id })),
      ];
      seen.push(...page.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0)));
      if (json.next === null) break;
      before = json.next;
    }
    expect(seen.map(({ id }) => id).sort()).toEqual(sent.sort());
    expect(seen.map(({ at }) => at)).toEqual(
      seen
        .map(({ at }) => at)
        .sort()
        .reverse(),
    );
  });

  it('are found by their ID on the first page, with as many newer verifications as there are', async () => {
    const own = await lab.member({ credits: 500, rateLimit: 1000 });
    const who = await signedIn(lab, { account: own.account });
    const { requestId } = await own.call('POST', '/v1/verify', {}).then(({ headers }) => ({
      requestId: headers.get('x-request-id') ?? '',
    }));
    await own.call('POST', '/v1/verify', {}, { 'x-request-id': 'order-77' });
    for (const email of ['order-77.a@good.com', 'order-77.b@good.com']) await own.verify(email);
    await rejected(2, own, who);
    // As many rows as one search reads, so that verifications of the text may follow on the next pages.
    const db = lab.store.authDatabase.db as Kysely<Tables>;
    const { seq: _seq, ...row } = await db
      .selectFrom('verifications')
      .selectAll()
      .where('account_id', '=', own.account.id)
      .limit(1)
      .executeTakeFirstOrThrow();
    const copies = Array.from({ length: LOG_SEARCH_ROWS }, (_, n) => ({ ...row, id: `${row.id}${n}`, email: 'x@y.z' }));
    for (let at = 0; at < copies.length; at += 500)
      await db
        .insertInto('verifications')
        .values(copies.slice(at, at + 500))
        .execute();
    const { json } = await search({ query: requestId }, own, who);
    expect(json).toMatchObject({ entries: [], rejected: [{ request_id: requestId }], next: null });
    const chosen = await search({ query: 'order-77' }, own, who);
    expect(chosen.json).toMatchObject({ entries: [], rejected: [{ request_id: 'order-77' }] });
    const more = await search({ query: 'order-77', before: chosen.json.next }, own, who);
    expect(more.json).toMatchObject({ entries: [{}, {}], rejected: [], next: null });
  });

  it('beyond some in a minute are one row with their number', async () => {
    const own = await lab.member({ credits: 500, rateLimit: 10_000 });
    const who = await signedIn(lab, { account: own.account });
    const sent = 60;
    await Promise.all(Array.from({ length: sent }, () => own.call('POST', '/v1/verify', {})));
    const total = async () => {
      const { json } = await search({ status: 'rejected', limit: '100' }, own, who);
      return json.rejected.reduce((sum: number, row: { count: number }) => sum + row.count, 0);
    };
    await expect.poll(total, { timeout: 30_000 }).toBe(sent);
    // At most two minutes.
    expect((await search({ status: 'rejected', limit: '100' }, own, who)).json.rejected.length).toBeLessThan(43);
  });
});
