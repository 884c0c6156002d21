/** What was read of a file is said, and can be changed before the start. */
import { readSheet } from 'read-excel-file/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Lab, Member } from '../lab/service.ts';
import { runSql } from '../lab/stores.ts';
import { type Client, of, signedIn } from './dashboard/client.ts';
import { send, sendCsv, startListLab, verifyChunks } from './list-lab.ts';

let lab: Lab;
let owner: Member;
let user: Client;
beforeAll(async () => {
  lab = await startListLab();
  owner = await lab.member({ rateLimit: 100_000 });
  user = await signedIn(lab, { account: owner.account });
});
afterAll(() => lab.close());

const csv = (text: string, query = '') => sendCsv(lab, owner, text, query);
const get = async (id: string) => (await owner.call('GET', `/v1/lists/${id}`)).json;
const emails = async (id: string) => {
  const { json } = await owner.call('GET', `/v1/lists/${id}/rows`);
  return json.rows.map(({ email }: { email: string | null }) => email);
};
const files = async (id: string) => runSql(lab.databaseUrl, `SELECT piece FROM list_files WHERE list_id = '${id}'`);
const patch = (id: string, read: object) => owner.call('PATCH', `/v1/lists/${id}`, { read });

const TWO = 'Name;Work;Home\r\nAda;ada@good.com;ada@home.com\r\nBo;bo@good.com;\r\nCy;;cy@home.com\r\n';

describe('a list says how its file was read', () => {
  it('in the reply, the list, the page of lists and the dashboard', async () => {
    const { json } = await csv(TWO, '?columns=Work&start=false&unknown=1');
    expect(json.read).toMatchObject({
      format: 'csv',
      delimiter: ';',
      encoding: 'utf-8',
      sheet: null,
      entry: null,
      header_row: 1,
      column: 'Work',
      columns: ['Work'],
      other_address_columns: expect.any(Array),
      addresses_per_row: { max: 1, rows_with_several: expect.any(Number) },
    });
    expect(json.warnings).toContainEqual({ code: 'unknown_field', message: 'Unknown parameter "unknown".' });
    const same = await get(json.id);
    expect(same.read).toEqual(json.read);
    const page = (await owner.call('GET', '/v1/lists')).json.lists[0];
    expect([page.id, page.read]).toEqual([json.id, json.read]);
    const here = await user.call('GET', of(owner.account, `/lists/${json.id}`));
    expect(here.json).toMatchObject({ read: json.read, has_file: true, address_columns: [2] });
  });

  it('and does not start by itself where less than a third of the rows have an address', async () => {
    const { json } = await csv(`email,note\r\na@good.com,1\r\n${',note\r\n'.repeat(6)}b@good.com,2\r\n`);
    expect([json.status, json.error?.code, json.rows.addresses]).toEqual(['ready', 'few_addresses', 2]);
    const blank = await csv(`email\r\na@good.com\r\n${'\r\n'.repeat(9)}`);
    expect(blank.json.status).toBe('running');
    const started = await owner.call('POST', `/v1/lists/${json.id}/start`);
    expect([started.status, started.json.status, started.json.error]).toEqual([200, 'running', null]);
  });

  it('and is never completed where it has no address at all', async () => {
    const { status, json } = await csv('email,name\r\n,Ada\r\n,Bo\r\n', '?columns=email');
    expect([status, json.status, json.error]).toEqual([
      201,
      'ready',
      { code: 'no_addresses', error: 'No row of the list has an address.' },
    ]);
    const start = await owner.call('POST', `/v1/lists/${json.id}/start`);
    expect([start.status, start.json.code, (await get(json.id)).status]).toEqual([422, 'no_addresses', 'ready']);
  });
});

describe('the file of a list that is not started', () => {
  it('is read in another way: rows, price and what was read follow', async () => {
    const { json } = await csv(TWO, '?columns=Work&start=false');
    expect(await emails(json.id)).toEqual(['ada@good.com', 'bo@good.com', null]);
    const home = await patch(json.id, { columns: ['Home'] });
    expect([home.status, home.json.id, home.json.read.column]).toEqual([200, json.id, 'Home']);
    expect((await emails(json.id))[0]).toBe('ada@home.com');
    const none = await patch(json.id, { columns: [2], header_row: 0 });
    expect(none.json).toMatchObject({ read: { header_row: 0 }, rows: { total: 4 } });
    expect((await emails(json.id)).slice(0, 2)).toEqual(['Work', 'ada@good.com']);
    const back = await patch(json.id, { column: 'Work', delimiter: 'semicolon', encoding: 'latin1' });
    expect(back.json).toMatchObject({ rows: { total: 3 }, credits: { price: back.json.rows.addresses } });
    await owner.call('POST', `/v1/lists/${json.id}/start`);
    await verifyChunks(lab, owner, json.id);
    expect(await get(json.id)).toMatchObject({ status: 'completed', progress: { done: back.json.rows.addresses } });
    expect(await runSql(lab.databaseUrl, `SELECT * FROM list_blocks WHERE list_id = '${json.id}'`)).toHaveLength(1);
    expect(await runSql(lab.databaseUrl, `SELECT * FROM list_chunks WHERE list_id = '${json.id}'`)).toEqual([]);
  });

  it('is read again in the dashboard, with its price', async () => {
    const { json } = await csv(TWO, '?columns=Work&start=false');
    const reply = await user.call('PATCH', of(owner.account, `/lists/${json.id}`), { read: { columns: ['Home'] } });
    expect([reply.status, reply.json.read.column]).toEqual([200, 'Home']);
  });

  it('and what was asked for is known in the dashboard, in the upload and afterwards', async () => {
    const { json } = await csv(TWO, '?columns=Work&delimiter=semicolon&start=false');
    const path = of(owner.account, `/lists/${json.id}`);
    const detected = { columns: null, header_row: null, delimiter: null, encoding: null, sheet: null, entry: null };
    const chosen = async () => (await user.call('GET', path)).json.chosen;
    expect(await chosen()).toEqual({ ...detected, columns: ['Work'], delimiter: ';' });
    await user.call('PATCH', path, { read: { columns: 'all', header_row: 1, encoding: 'latin1' } });
    expect(await chosen()).toEqual({ ...detected, columns: 'all', header_row: 1, encoding: 'windows-1252' });
    // It can be sent back as it is.
    const same = await user.call('PATCH', path, { read: await chosen() });
    expect([same.status, await chosen()]).toEqual([
      200,
      { ...detected, columns: 'all', header_row: 1, encoding: 'windows-1252' },
    ]);
    await user.call('PATCH', path, { read: { columns: ['Phone'] } });
    expect(await chosen()).toMatchObject({ columns: 'all', header_row: 1 });
  });

  it('stays as it is where it cannot be read like that', async () => {
    const { json } = await csv(TWO, '?columns=Work&start=false');
    const before = [await get(json.id), await emails(json.id)];
    for (const [read, status, code] of [
      [{ columns: ['Phone'] }, 422, 'no_address_column'],
      [{ encoding: 'klingon' }, 400, 'invalid_parameter'],
      [{ header_row: -1 }, 400, 'invalid_parameter'],
      [{ columns: '[1' }, 400, 'invalid_parameter'],
      ['all', 400, 'invalid_parameter'],
    ] as const) {
      const reply = await owner.call('PATCH', `/v1/lists/${json.id}`, { read });
      expect([read, reply.status, reply.json.code]).toEqual([read, status, code]);
    }
    expect([await get(json.id), await emails(json.id)]).toEqual(before);
  });

  it('is refused with the name of the field that is wrong, also within read', async () => {
    const { json } = await csv(TWO, '?columns=Work&start=false');
    for (const [read, field] of [
      [{ delimiter: 1 }, 'read.delimiter'],
      [{ header_row: 1, delimiter: 'x'.repeat(100) }, 'read.delimiter'],
      [{ header_row: -1 }, 'read.header_row'],
      [{ header: 'maybe' }, 'read.header'],
      [{ columns: [] }, 'read.columns'],
      [{ columns: ['Work', {}] }, 'read.columns'],
      [{ columns: '[1' }, 'read.columns'],
      [{ column: true }, 'read.column'],
      [{ sheet: 0 }, 'read.sheet'],
      [{ entry: [] }, 'read.entry'],
      [{ encoding: 'klingon' }, 'read.encoding'],
      ['all', 'read'],
      [[], 'read'],
    ] as const) {
      const reply = await owner.call('PATCH', `/v1/lists/${json.id}`, { read });
      expect([read, reply.status, reply.json.field]).toEqual([read, 400, field]);
      expect(reply.json.error).toMatch(new RegExp(`^${field.replace('.', '\\.')}\\b`));
    }
  });

  it('is read again as what it was sent as', async () => {
    const bytes = new Uint8Array(Buffer.from('note,email\r\n5 \xa4,ada@good.com\r\n', 'latin1'));
    const type = { 'content-type': 'text/csv; charset=iso-8859-15' };
    const { json: text } = await send(lab, owner, '/v1/lists?start=false', bytes, type);
    expect(text.read.encoding).toBe('iso-8859-15');
    expect((await patch(text.id, { header_row: 1 })).json.read.encoding).toBe('iso-8859-15');
    const texts = ['ada@good.com', 'not an address', 'foo'];
    const { json: stated } = await owner.call('POST', '/v1/lists', { emails: texts, start: false });
    expect(stated.rows).toMatchObject({ total: 3, addresses: 3 });
    expect((await patch(stated.id, {})).json.rows).toEqual(stated.rows);
    expect(await emails(stated.id)).toEqual(texts);
  });

  it('is kept until the start, the end, the deletion, or the erasure of an address; then it is refused', async () => {
    const ends: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
      start: (id) => owner.call('POST', `/v1/lists/${id}/start`),
      cancel: (id) => owner.call('POST', `/v1/lists/${id}/cancel`),
      erase: () => user.call('POST', of(owner.account, '/log/erase'), { email: 'somebody@else.com' }),
    };
    for (const [end, act] of Object.entries(ends)) {
      const { json } = await csv(TWO, '?columns=Work&start=false');
      expect([end, (await files(json.id)).length]).toEqual([end, 1]);
      await act(json.id);
      expect([end, await files(json.id)]).toEqual([end, []]);
      const { status, json: refused } = await patch(json.id, {});
      expect([end, status, refused.code]).toEqual([end, 409, 'list_state']);
    }
    const running = await csv(TWO, '?columns=Work');
    expect(await files(running.json.id)).toEqual([]);
    expect((await patch('lst_0000000000000000000000', {})).status).toBe(404);
  });

  it('counts as stored bytes', async () => {
    const one = await lab.member();
    const used = async () => (await one.call('GET', '/v1/usage')).json.storage.list_bytes.used;
    const { json } = await sendCsv(lab, one, TWO, '?columns=Work&start=false');
    const before = await used();
    await one.call('POST', `/v1/lists/${json.id}/start`);
    expect(before - (await used())).toBe(Buffer.from(TWO).toString('base64').length);
  });

  it('is whole, however long it is', async () => {
    const rows = Array.from({ length: 30_000 }, (_, i) => `a${i}@good.com,b${i}@home.com`).join('\r\n');
    const { json } = await csv(`work,home\r\n${rows}\r\n`, '?columns=work&start=false');
    expect(await files(json.id)).toHaveLength(Math.ceil((rows.length + 13) / (192 * 1024)));
    const { json: home } = await patch(json.id, { columns: ['home'] });
    expect([home.rows.total, home.rows.addresses]).toEqual([30_000, 30_000]);
    const { json: last } = await owner.call('GET', `/v1/lists/${json.id}/rows?after=29999`);
    expect(last.rows).toMatchObject([{ row: 30_000, email: 'b29999@home.com' }]);
    await owner.call('DELETE', `/v1/lists/${json.id}`);
  });
});

describe('results', () => {
  const results = async (id: string, query = '') => {
    const response = await fetch(`${lab.url}/v1/lists/${id}/results${query}`, {
      headers: { authorization: `Bearer ${owner.key}` },
    });
    return { response, bytes: Buffer.from(await response.arrayBuffer()) };
  };

  it('have the delimiter, encoding and mark of the file, or those of the query', async () => {
    const bytes = Buffer.from('\u{FEFF}Name;E-Mail\r\n"Müller; A";ada@good.com\r\n', 'utf16le');
    const { json } = await send(lab, owner, '/v1/lists', new Uint8Array(bytes), { 'content-type': 'text/csv' });
    await verifyChunks(lab, owner, json.id);
    const same = await results(json.id);
    const text = new TextDecoder('utf-16le', { ignoreBOM: true }).decode(same.bytes);
    if (json.read.encoding === 'utf-16le') {
      expect(text).toMatch(/^\u{FEFF}Name;E-Mail;mailvet_status;/u);
      expect(text).toContain('\r\n"Müller; A";ada@good.com;good;');
      expect(same.response.headers.get('content-type')).toBe('text/csv; charset=utf-16le');
    }
    const other = await results(json.id, '?delimiter=tab&encoding=latin1&bom=false');
    expect(other.bytes.toString('latin1')).toMatch(/\r\nMüller; A\tada@good.com\tgood\t/);
    expect(other.response.headers.get('content-type')).toBe('text/csv; charset=windows-1252');
    const marked = await results(json.id, '?delimiter=comma&encoding=utf-8&bom=true');
    expect(marked.bytes.subarray(0, 8).toString('utf8')).toBe('\u{FEFF}Name,');
    for (const query of ['?encoding=klingon', '?delimiter=%26', '?bom=maybe', '?encoding=iso-2022-jp'])
      expect([query, (await results(json.id, query)).response.status]).toEqual([query, 400]);
  });

  it('of a list that has not ended say so, and mark what is pending', async () => {
    const { json } = await csv('email\r\nada@good.com\r\n\r\nbo@good.com\r\n', '?name=June.csv');
    await verifyChunks(lab, owner, json.id, 0);
    const early = await results(json.id);
    expect(early.response.headers.get('x-mailvet-partial')).toBe('true');
    expect(early.response.headers.get('content-disposition')).toContain('June.results-partial.csv');
    expect(early.bytes.toString()).toContain('\r\nada@good.com,pending,');
    expect(JSON.parse((await results(json.id, '?format=jsonl')).bytes.toString().split('\n')[0] ?? '').status).toBe(
      'pending',
    );
    await verifyChunks(lab, owner, json.id);
    const done = await results(json.id);
    expect([done.response.headers.get('x-mailvet-partial'), done.bytes.includes('pending')]).toEqual([null, false]);
  });

  it('are those of several verdicts, or of all but some', async () => {
    const { json } = await csv('email\r\nada@good.com\r\nx@mailinator.com\r\nnot-an-address\r\n');
    await verifyChunks(lab, owner, json.id);
    const of = async (text: string) => {
      const query = `?deliverability=${encodeURIComponent(text)}`;
      const { bytes } = await results(json.id, query);
      const { json: page } = await owner.call('GET', `/v1/lists/${json.id}/rows${query}`);
      const written = bytes.toString().trim().split('\r\n').length - 1;
      expect(page.rows).toHaveLength(written);
      return written;
    };
    const all = ['deliverable', 'undeliverable', 'risky', 'unknown'];
    expect(await of(all.join(','))).toBe(3);
    expect((await of('!undeliverable')) + (await of('undeliverable'))).toBe(3);
    expect(await of('!undeliverable,!risky')).toBe(await of('unknown,deliverable'));
    for (const text of ['!', 'good', 'risky,', all.map((one) => `!${one}`).join(',')]) {
      const { response } = await results(json.id, `?deliverability=${encodeURIComponent(text)}`);
      expect([text, response.status]).toEqual([text, 400]);
    }
  });

  it('in XLSX can be opened while the list runs', async () => {
    const { json } = await csv('email\r\nada@good.com\r\n');
    const sheet = await readSheet((await results(json.id, '?format=xlsx')).bytes);
    expect(sheet[1]?.slice(0, 2)).toEqual(['ada@good.com', 'pending']);
  });
});

describe('a row with several addresses', () => {
  it('is verified and charged for each, and written for each with its cells', async () => {
    const { json } = await csv('name,email\r\nAda,ada@good.com; x@mailinator.com\r\nBo,ADA@good.com; bo@good.com\r\n');
    expect(json).toMatchObject({
      rows: { total: 2, addresses: 4, duplicates: 0, blank: 0 },
      credits: { price: 4 },
      read: { addresses_per_row: { max: 2, rows_with_several: 2 } },
    });
    await verifyChunks(lab, owner, json.id);
    const { json: page } = await owner.call('GET', `/v1/lists/${json.id}/rows?limit=1`);
    expect(page).toMatchObject({
      rows: [
        { row: 1, part: 1, parts: 2, email: 'ada@good.com', status: 'good', column: null },
        { row: 1, part: 2, parts: 2, email: 'x@mailinator.com', status: 'bad' },
      ],
      next: 1,
    });
    const { json: rest } = await owner.call('GET', `/v1/lists/${json.id}/rows?after=1`);
    expect(rest.rows.map(({ email }: { email: string }) => email)).toEqual(['ADA@good.com', 'bo@good.com']);
    const { text } = await owner.call('GET', `/v1/lists/${json.id}/results`);
    const lines = text.trim().split('\r\n').slice(1);
    expect(lines.map((line) => /^(\w+),([^,]*),(\w+),.*,(\d of \d),/.exec(line)?.slice(1))).toEqual([
      ['Ada', 'ada@good.com; x@mailinator.com', 'good', '1 of 2'],
      ['Ada', 'ada@good.com; x@mailinator.com', 'bad', '2 of 2'],
      ['Bo', 'ADA@good.com; bo@good.com', 'good', '1 of 2'],
      ['Bo', 'ADA@good.com; bo@good.com', 'good', '2 of 2'],
    ]);
    const erase = (email: string) => user.call('POST', of(owner.account, '/log/erase'), { email });
    expect((await erase('x@mailinator.com')).status).toBe(200);
    const { json: left } = await owner.call('GET', `/v1/lists/${json.id}/rows`);
    expect(left.rows.map(({ email }: { email: string }) => email)).toEqual([
      'ada@good.com',
      'ADA@good.com',
      'bo@good.com',
    ]);
  });
});
