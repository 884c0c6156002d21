/** How many lists an account may keep, how many downloads may be under way, and what a name may have. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { COSTS } from '../../src/kernel/costs.ts';
import { LISTS_MAX } from '../../src/kernel/facts/limits.ts';
import type { Lab, Member } from '../lab/service.ts';
import { runSql } from '../lab/stores.ts';
import { send, sendCsv, startListLab } from './list-lab.ts';

let lab: Lab;
let owner: Member;
beforeAll(async () => {
  lab = await startListLab();
  owner = await lab.member({ rateLimit: 100_000 });
});
afterAll(() => lab.close());

const WAIT = { timeout: 30_000, interval: 50 };

/** A download whose reply is not read beyond its head. */
async function download({ key }: Member, id: string): Promise<IncomingMessage> {
  const request = get(`${lab.url}/v1/lists/${id}/results`, {
    agent: false,
    headers: { authorization: `Bearer ${key}` },
  });
  const [reply]: IncomingMessage[] = await once(request, 'response');
  if (reply === undefined) throw new Error('There was no reply.');
  return reply;
}

it('a JSON array has at most 100,000 addresses', async () => {
  const upload = (count: number) =>
    owner.call('POST', '/v1/lists', {
      start: false,
      emails: Array.from({ length: count }, (_, i) => `a${i}@good.com`),
    });
  const { status, json } = await upload(100_001);
  expect([status, json.code, json.limit]).toEqual([413, 'list_too_large', 100_000]);
  expect((await upload(100_000)).status).toBe(201);
});

describe('downloads of results', () => {
  it('are few at once for an account, and each that ends makes room for another', async () => {
    const row = `,${'x'.repeat(50_000)}\r\n`;
    const rows = Array.from({ length: 400 }, (_, i) => `a${i}@good.com${row}`);
    const { json } = await sendCsv(lab, owner, `email,data\r\n${rows.join('')}`, '?start=false');
    const open: IncomingMessage[] = [];
    for (let n = 0; n < COSTS.list_download.perAccount; n++) open.push(await download(owner, json.id));
    expect(open.map(({ statusCode }) => statusCode)).toEqual(open.map(() => 200));
    const refused = await owner.call('GET', `/v1/lists/${json.id}/results`);
    expect([refused.status, refused.json.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const other = await lab.member();
    const small = await sendCsv(lab, other, 'email\r\na@good.com\r\n', '?start=false');
    const theirs = await download(other, small.json.id);
    expect(theirs.statusCode).toBe(200);
    theirs.resume();
    open[0]?.destroy();
    await vi.waitFor(async () => {
      const next = await download(owner, json.id);
      open.push(next);
      expect(next.statusCode).toBe(200);
    }, WAIT);
    for (const reply of open) reply.destroy();
  });
});

describe('a download whose list is deleted', () => {
  it('breaks off, so that nobody takes what there is for all of it', async () => {
    const rows = Array.from({ length: 400 }, (_, i) => `a${i}@good.com,${'x'.repeat(50_000)}\r\n`);
    const who = await lab.member({ rateLimit: 100_000 });
    const { json } = await sendCsv(lab, who, `email,data\r\n${rows.join('')}`, '?start=false');
    const whole = await download(who, json.id);
    expect((await buffer(whole)).length).toBeGreaterThan(400 * 50_000);
    const reply = await download(who, json.id);
    expect((await who.call('DELETE', `/v1/lists/${json.id}`)).status).toBe(200);
    await expect(buffer(reply)).rejects.toThrow('aborted');
  });
});

describe('the lists of an account', () => {
  it('are bounded in number; deleting one makes room', async () => {
    const who = await lab.member({ rateLimit: 100_000 });
    const { json: first } = await sendCsv(lab, who, 'email\r\na@good.com\r\n', '?start=false');
    const columns = `account_id, key_id, client_ip, name, name_folded, status, validation_type, patience_minutes, layout,
      breakdown, unit_price, created_at, changed_at`;
    await runSql(
      lab.databaseUrl,
      `WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ${LISTS_MAX})
       INSERT INTO lists (id, ${columns}) SELECT 'lst_' || n.i, ${columns} FROM n, lists WHERE id = '${first.id}'`,
    );
    const refused = await sendCsv(lab, who, 'email\r\na@good.com\r\n');
    expect([refused.status, refused.json.code]).toEqual([422, 'too_many_lists']);
    expect((await who.call('DELETE', `/v1/lists/${first.id}`)).status).toBe(200);
    expect((await sendCsv(lab, who, 'email\r\na@good.com\r\n', '?start=false')).status).toBe(201);
  });
});

it('names of lists have no characters that nobody sees', async () => {
  // Override of direction, zero-width space, soft hyphen, byte order mark, NUL.
  for (const hidden of ['\u202e', '\u200b', '\u00ad', '\ufeff', '\u0000']) {
    const name = `June${hidden}fdp.csv`;
    const given = await owner.call('POST', '/v1/lists', { emails: ['a@good.com'], name, start: false });
    expect([given.status, given.json.field]).toEqual([400, 'name']);
    expect(given.json.error).toContain('invisible');
  }
  const form = new FormData();
  form.set('file', new Blob(['a@good.com\n'], { type: 'text/csv' }), 'June\u202efdp.csv');
  form.set('start', 'false');
  expect((await send(lab, owner, '/v1/lists', form)).json.name).toBe('Junefdp.csv');
});
