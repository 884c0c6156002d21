/** Rows of one mailbox in several spellings are verified and charged once, where that is asked for. */
import { readSheet } from 'read-excel-file/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, type Member, startLab } from '../lab/service.ts';
import { type Client, of, signedIn } from './dashboard/client.ts';
import { send, sendCsv, verifyChunks } from './list-lab.ts';

let lab: Lab;
let owner: Member;
let user: Client;
beforeAll(async () => {
  const mail = { MX: [[10, 'mx.good.com']] as [number, string][] };
  const net = { 'gmail.com': mail, 'googlemail.com': mail, 'icloud.com': mail, 'me.com': mail };
  lab = await startLab({ MAILVET_ROLE: 'api' }, { net });
  owner = await lab.member({ rateLimit: 100_000 });
  user = await signedIn(lab, { account: owner.account });
});
afterAll(() => lab.close());

const csv = (text: string, query = '') => sendCsv(lab, owner, text, query);
const get = async (id: string) => (await owner.call('GET', `/v1/lists/${id}`)).json;
interface RowReply {
  row: number;
  email: string | null;
  status: string | null;
  canonical_email: string | null;
  is_duplicate: boolean | null;
  credits_used: number | null;
}
const rowsOf = async (id: string): Promise<RowReply[]> => (await owner.call('GET', `/v1/lists/${id}/rows`)).json.rows;
const used = async () => (await owner.call('GET', '/v1/usage')).json.credits.used;

/** Four mailboxes by their providers' rules; seven addresses, one of them twice. */
const FILE = [
  'Name,Email',
  'Jane,J.Doe@gmail.com',
  'Bo,bo+x@good.com',
  'Jane,jdoe+news@GoogleMail.com',
  'Bo,bo@good.com',
  'Nobody,',
  'Mac,mac@me.com',
  'Mac,Mac+shop@icloud.com',
  'Jane,J.Doe@gmail.com',
  'Two,"jdoe@gmail.com; bo@good.com"',
].join('\r\n');
const FORM = 'email\r\nJ.Doe@gmail.com\r\njdoe@gmail.com\r\n';

describe('a list with dedupe=mailbox', () => {
  it('has the result of the first spelling in every row of a mailbox, charged once', async () => {
    const before = await used();
    const { status, json } = await csv(FILE, '?dedupe=mailbox');
    expect([status, json]).toMatchObject([
      201,
      {
        dedupe: 'mailbox',
        status: 'running',
        credits: { price: 4, held: 4 },
        rows: { total: 9, addresses: 4, duplicates: 5, blank: 1, unreadable: 0 },
      },
    ]);
    await verifyChunks(lab, owner, json.id);
    expect(await get(json.id)).toMatchObject({
      status: 'completed',
      progress: { done: 4, percent: 100, good: 4 },
      credits: { price: 4, held: 0, used: 4 },
    });
    // The single calls of this test cost as much again.
    expect(await used()).toBe(before + 8);
    const rows = (await rowsOf(json.id)).map(({ row, email, status, canonical_email, is_duplicate, credits_used }) => [
      row,
      email,
      status,
      canonical_email,
      is_duplicate,
      credits_used,
    ]);
    expect(rows).toEqual([
      [1, 'J.Doe@gmail.com', 'good', 'jdoe@gmail.com', false, 1],
      [2, 'bo+x@good.com', 'good', 'bo@good.com', false, 1],
      [3, 'jdoe+news@GoogleMail.com', 'good', 'jdoe@gmail.com', true, 0],
      [4, 'bo@good.com', 'good', 'bo@good.com', false, 1],
      [5, null, null, null, null, null],
      [6, 'mac@me.com', 'good', 'mac@icloud.com', false, 1],
      [7, 'Mac+shop@icloud.com', 'good', 'mac@icloud.com', true, 0],
      [8, 'J.Doe@gmail.com', 'good', 'jdoe@gmail.com', true, 0],
      [9, 'jdoe@gmail.com', 'good', 'jdoe@gmail.com', true, 0],
      [9, 'bo@good.com', 'good', 'bo@good.com', true, 0],
    ]);
    const here = await user.call('GET', of(owner.account, `/lists/${json.id}/rows?kind=duplicate`));
    expect(here.json.rows.map(({ row }: { row: number }) => row)).toEqual([3, 7, 8, 9, 9]);
    expect(await lab.store.accounts.audit()).toEqual([]);
  });

  it('says so in results of every format', async () => {
    const { json } = await csv(FILE, '?dedupe=mailbox');
    await verifyChunks(lab, owner, json.id);
    const download = async (format: string) => {
      const headers = { authorization: `Bearer ${owner.key}` };
      const response = await fetch(`${lab.url}/v1/lists/${json.id}/results?format=${format}`, { headers });
      return Buffer.from(await response.arrayBuffer());
    };
    const wanted = [
      ['jdoe@gmail.com', 'false'],
      ['bo@good.com', 'false'],
      ['jdoe@gmail.com', 'true'],
    ];
    const lines = (await download('csv')).toString().split('\r\n');
    const [names = [], ...rows] = lines.map((line) => line.split(','));
    const places = ['mailvet_canonical_email', 'mailvet_is_duplicate'].map((name) => names.indexOf(name));
    expect(rows.slice(0, 3).map((row) => places.map((at) => row[at]))).toEqual(wanted);
    const [head, ...cells] = await readSheet(await download('xlsx'));
    expect(head).toEqual(names);
    expect(cells.slice(0, 3).map((row) => places.map((at) => String(row[at])))).toEqual(wanted);
    const objects = (await download('jsonl'))
      .toString()
      .trim()
      .split('\n')
      .slice(0, 3)
      .map((line) => JSON.parse(line));
    expect(objects.map((row) => [row.canonical_email, String(row.is_duplicate)])).toEqual(wanted);
  });

  it('is asked for in every form of an upload, and address is the default', async () => {
    const form = (dedupe: string | null) => {
      const data = new FormData();
      if (dedupe !== null) data.set('dedupe', dedupe);
      data.set('file', new File([FORM], 'list.csv'));
      return send(lab, owner, '/v1/lists', data);
    };
    const emails = ['J.Doe@gmail.com', 'jdoe@gmail.com'];
    const dashboard = async (query: string) =>
      (await user.call('POST', of(owner.account, `/lists${query}`), FORM, { 'content-type': 'text/csv' })).json;
    const found = {
      form: (await form('mailbox')).json,
      raw: (await csv(FORM, '?dedupe=mailbox')).json,
      json: (await owner.call('POST', '/v1/lists', { emails, dedupe: 'mailbox' })).json,
      dashboard: await dashboard('?dedupe=mailbox'),
    };
    for (const [way, json] of Object.entries(found))
      expect([way, json.dedupe, json.rows.addresses, json.rows.duplicates]).toEqual([way, 'mailbox', 1, 1]);
    for (const { json } of [await form(null), await form('address'), await owner.call('POST', '/v1/lists', { emails })])
      expect([json.dedupe, json.rows.addresses, json.credits.price]).toEqual(['address', 2, 2]);
    for (const { status, json } of [
      await form('person'),
      await csv(FORM, '?dedupe=person'),
      await owner.call('POST', '/v1/lists', { emails, dedupe: 'person' }),
      await owner.call('POST', '/v1/lists', { emails, dedupe: true }),
    ])
      expect([status, json.code, json.field]).toEqual([400, 'invalid_parameter', 'dedupe']);
  });

  it('can be chosen until the start: price and rows follow, and how the file is read stays', async () => {
    const { json } = await csv(FORM.replaceAll('\r\n', ';x\r\n'), '?start=false&columns=1&delimiter=semicolon');
    expect(json.credits.price).toBe(2);
    const path = `/v1/lists/${json.id}`;
    const folded = await owner.call('PATCH', path, { dedupe: 'mailbox' });
    expect([folded.status, folded.json]).toMatchObject([
      200,
      { dedupe: 'mailbox', rows: { addresses: 1, duplicates: 1 }, credits: { price: 1 } },
    ]);
    const detail = of(owner.account, `/lists/${json.id}`);
    expect((await user.call('GET', detail)).json.chosen).toMatchObject({ columns: ['1'], delimiter: ';' });
    const again = await owner.call('PATCH', path, { read: {} });
    expect(again.json).toMatchObject({ dedupe: 'mailbox', credits: { price: 1 } });
    const back = await user.call('PATCH', detail, { read: {}, dedupe: 'address' });
    expect(back.json).toMatchObject({ dedupe: 'address', credits: { price: 2 } });
    for (const [body, code, field] of [
      [{}, 'missing_parameter', 'read'],
      [{ dedupe: 'person' }, 'invalid_parameter', 'dedupe'],
    ] as const) {
      const refused = await owner.call('PATCH', path, body);
      expect([refused.status, refused.json.code, refused.json.field]).toEqual([400, code, field]);
    }
  });

  it('keeps apart what no provider documents: tags and capitals elsewhere, domains that only DNS tells', async () => {
    const emails = ['Jane@good.com', 'jane@good.com', 'jane+x@good.com'];
    const hosted = ['j.doe+a@google-hosted.com', 'j.doe@google-hosted.com'];
    const { json } = await owner.call('POST', '/v1/lists', { emails: [...emails, ...hosted], dedupe: 'mailbox' });
    expect(json.rows).toMatchObject({ addresses: 5, duplicates: 0 });
    await verifyChunks(lab, owner, json.id);
    expect((await rowsOf(json.id)).map((row) => row.canonical_email)).toEqual([
      'jane@good.com',
      'jane@good.com',
      'jane@good.com',
      'j.doe@google-hosted.com',
      'j.doe@google-hosted.com',
    ]);
  });

  it('loses a row whose spelling is erased, and all of a mailbox whose first spelling is', async () => {
    const { json } = await csv(FILE, '?dedupe=mailbox');
    await verifyChunks(lab, owner, json.id);
    const erase = (email: string) => user.call('POST', of(owner.account, '/log/erase'), { email });
    const emails = async () => (await rowsOf(json.id)).map(({ email, status }) => [email, status]);
    expect((await erase('JDOE+news@googlemail.com')).status).toBe(200);
    expect((await emails())[2]).toEqual([null, null]);
    expect((await emails())[0]).toEqual(['J.Doe@gmail.com', 'good']);
    await erase('mac@me.com');
    expect((await emails()).slice(5, 7)).toEqual([
      [null, null],
      [null, null],
    ]);
    const { text } = await owner.call('GET', `/v1/lists/${json.id}/results`);
    expect(text).not.toMatch(/news@|mac@/i);
  });

  it('is the same list again with the same Idempotency-Key, and another one is refused', async () => {
    const post = (query: string) =>
      send(lab, owner, `/v1/lists${query}`, FORM, { 'content-type': 'text/csv', 'idempotency-key': 'by-mailbox' });
    const first = await post('?dedupe=mailbox');
    expect((await post('?dedupe=mailbox')).json.id).toBe(first.json.id);
    expect((await post('')).json.code).toBe('idempotency_key_reused');
  });
});
