/**
 * What a request leaves in the store is a small multiple of what was sent, whatever kind of request it is, and what an
 * account keeps is bounded by its plan.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIST_RESULT_BYTES, LIST_STORED_FREE_BYTES } from '../../src/kernel/facts/limits.ts';
import { DEFAULT_PLANS, termsOf } from '../../src/kernel/facts/plans.ts';
import type { Lab, Member } from '../lab/service.ts';
import { ENGINE, runSql } from '../lab/stores.ts';
import { workbookOf } from '../lab/zip.ts';
import { type Client, of, signedIn } from './dashboard/client.ts';
import { send, sendCsv, startListLab } from './list-lab.ts';

let lab: Lab;
let owner: Member;
let user: Client;
beforeAll(async () => {
  lab = await startListLab();
  owner = await lab.member({ rateLimit: 100_000 });
  user = await signedIn(lab, { account: owner.account });
});
afterAll(() => lab.close());

/** Stored bytes for each that was sent, and what a request may take beside: rows of the list and the audit log. */
const TIMES = 10;
const BESIDE = 6 * 1024;

const COLUMNS =
  ENGINE === 'sqlite'
    ? "SELECT m.name AS t, c.name AS c FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'"
    : "SELECT table_name AS t, column_name AS c FROM information_schema.columns WHERE table_schema = 'public'";

/** Bytes of all values in all tables. */
async function stored(): Promise<number> {
  const columns = await runSql(lab.databaseUrl, COLUMNS);
  const tables = Map.groupBy(columns, ({ t }) => String(t));
  const sums = Array.from(tables, ([table, its]) => {
    const sizes = its.map(({ c }) => `coalesce(octet_length(CAST("${c}" AS TEXT)), 0)`);
    return `(SELECT coalesce(sum(${sizes.join(' + ')}), 0) FROM "${table}")`;
  });
  const [row] = await runSql(lab.databaseUrl, `SELECT ${sums.join(' + ')} AS bytes`);
  return Number(row?.bytes);
}

const header = Array.from({ length: 200 }, (_, i) => `c${i}`);
const sheet = (rows: string) => `<worksheet><sheetData>${rows}</sheetData></worksheet>`;
const CELL = '<c t="str"><v>a@good.com</v></c>';
const ROW = `<row>${CELL}</row>`;
const keys = JSON.stringify({ email: 'a@good.com', ...Object.fromEntries(header.slice(1).map((name) => [name, ''])) });
/** So many that the text begins as a list, and not as binary data. */
const LIST = 'a@good.com\n'.repeat(400);
const CSV = 'text/csv';
const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const NDJSON = 'application/x-ndjson';

describe('the stored bytes of a list', () => {
  it.each<[title: string, type: string, status: 201 | 413, body: () => string | Buffer<ArrayBuffer>]>([
    [
      'XLSX rows that refer to one long shared text',
      XLSX,
      413,
      () =>
        Buffer.from(
          workbookOf(
            { before: '<worksheet><sheetData>', text: '<row><c t="s"><v>0</v></c></row>', times: 20_000 },
            `<sst><si><t>a@good.com ${'x'.repeat(60_000)}</t></si></sst>`,
          ),
        ),
    ],
    [
      'XLSX with a row far down',
      XLSX,
      413,
      () => Buffer.from(workbookOf(sheet(`${ROW}<row r="900000">${CELL}</row>`))),
    ],
    [
      'XLSX with one cell in a far column of each row',
      XLSX,
      413,
      () => {
        const row = '<row><c r="A1" t="str"><v>a@good.com</v></c><c r="GR1"><v>1</v></c></row>';
        return Buffer.from(workbookOf({ before: '<worksheet><sheetData>', text: row.repeat(100), times: 100 }));
      },
    ],
    [
      'line ends under a header of 200 columns',
      CSV,
      201,
      () => `${header.join()}\na@good.com\n${'\n'.repeat(100_000)}`,
    ],
    ['delimiters alone', CSV, 201, () => `email\na@good.com\n${`${','.repeat(199)}\n`.repeat(2_000)}`],
    ['NDJSON of empty objects', NDJSON, 201, () => `${keys}\n${'{}\n'.repeat(100_000)}`],
    ['an array of empty objects', 'application/json', 201, () => `{"emails":[${keys}${',{}'.repeat(50_000)}]}`],
    ['an array of empty texts', 'application/json', 201, () => `{"emails":["a@good.com"${',""'.repeat(50_000)}]}`],
    ['lines of one character', 'text/plain', 201, () => LIST + 'a\n'.repeat(100_000)],
    [
      'short addresses',
      'text/plain',
      201,
      () => LIST + Array.from({ length: 50_000 }, (_, i) => i.toString(36)).join('\n'),
    ],
    ['control characters', 'text/plain', 201, () => LIST + `${'\u0001'.repeat(80)}\n`.repeat(5_000)],
    [
      'distinct texts of control characters',
      'text/plain',
      201,
      () => LIST + Array.from({ length: 20_000 }, (_, i) => `${'\u0001'.repeat(20)}${i}`).join('\n'),
    ],
    ['quotes', CSV, 201, () => `email,x\n${`a@good.com,"${'""'.repeat(50)}"\n`.repeat(3_000)}`],
    ['broken quotes', CSV, 201, () => `email,x\na@good.com,1\n${'""y\n'.repeat(50_000)}`],
    [
      'bytes of Windows-1252 that are longer in UTF-8',
      CSV,
      201,
      () => Buffer.from(`email,x\n${`a@good.com,${'\x80'.repeat(10_000)}\n`.repeat(20)}`, 'latin1'),
    ],
    ['names of columns', CSV, 201, () => `email,${`\u0001${'x'.repeat(11)}`.repeat(5_000)}\na@good.com\n`],
  ])('%s', async (_title, type, expected, make) => {
    const body = make();
    const before = await stored();
    const { status, json } = await send(lab, owner, '/v1/lists?start=false', body, { 'content-type': type });
    expect(status).toBe(expected);
    if (status === 413) expect(json).toMatchObject({ code: 'list_too_large', error: /more than [\d,]+ bytes/ });
    const grown = (await stored()) - before;
    const least = (LIST_STORED_FREE_BYTES / 8) * TIMES;
    expect(grown).toBeLessThan(Math.max(least, Buffer.byteLength(body) * TIMES) + BESIDE);
  });
});

describe('the stored bytes of other requests', () => {
  const long = 'İ'.repeat(500);
  const ips = Array.from({ length: 200 }, (_, i) => `192.0.2.${i}`);
  const lines = Array.from({ length: 200 }, (_, i) => ({ value: `spam${i}.example.com`, reason: long.slice(0, 200) }));
  const key = { 'idempotency-key': 'k'.repeat(255) };
  const account = (rest: string) => of(owner.account, rest);
  it.each<[title: string, call: () => ReturnType<Member['call']>, body: object]>([
    ['a verification', () => owner.verify(`${'a'.repeat(1_000)}@good.com`, {}, key), { email: 'a'.repeat(1_000) }],
    ['a request that is refused', () => owner.verify('x'.repeat(10_000)), { email: 'x'.repeat(10_000) }],
    ...(
      [
        ['a filter', 'POST', '/v1/filters', { value: `${'a'.repeat(60)}.example.com`, reason: long }],
        ['a webhook', 'POST', '/v1/webhooks', { url: `https://8.8.8.8/${'a'.repeat(1_900)}`, events: ['*'] }],
      ] as const
    ).map(([title, method, path, body]): [string, () => ReturnType<Member['call']>, object] => [
      title,
      () => owner.call(method, path, body, key),
      body,
    ]),
    ...(
      [
        ['an import of filters', 'POST', '/filters/import', { lines }],
        ['a saved view', 'POST', '/views', { page: 'log', name: 'x'.repeat(60), search: 'q=İ&'.repeat(800) }],
        ['a key', 'POST', '/keys', { name: 'İ'.repeat(200), allow_ips: ips }],
        ['the name of an account', 'PATCH', '', { name: 'İ'.repeat(200) }],
        ['an invitation', 'POST', '/invitations', { email: `${'a'.repeat(60)}@good.com`, role: 'viewer' }],
      ] as const
    ).map(([title, method, path, body]): [string, () => ReturnType<Member['call']>, object] => [
      title,
      () => user.call(method, account(path), body),
      body,
    ]),
  ])('%s', async (_title, call, body) => {
    const before = await stored();
    const { status, text } = await call();
    expect([200, 201, 400], text).toContain(status);
    expect((await stored()) - before).toBeLessThan(JSON.stringify(body).length * TIMES + BESIDE);
  });
});

describe('what an account keeps', () => {
  const { listBytes, filters } = termsOf(DEFAULT_PLANS, 'starter');
  const usage = async (who: Member) => (await who.call('GET', '/v1/usage')).json.storage;

  it('is bounded for lists: the rows of all of them, with room for their results', async () => {
    const who = await lab.member({ rateLimit: 100_000, plan: 'starter' });
    const { json: first } = await sendCsv(lab, who, 'email\r\na@good.com\r\nb@good.com\r\n', '?start=false');
    const { list_bytes } = await usage(who);
    expect(list_bytes.limit).toBe(listBytes);
    expect(list_bytes.used - 2 * LIST_RESULT_BYTES).toSatisfy((rows: number) => rows > 40 && rows < 200);
    const fill = (room: number) =>
      runSql(
        lab.databaseUrl,
        `UPDATE lists SET bytes = ${listBytes - room} - 2 * ${LIST_RESULT_BYTES} WHERE id = '${first.id}'`,
      );
    const full = { status: 422, json: expect.objectContaining({ code: 'list_storage_full', limit: listBytes }) };
    await fill(0);
    expect(await sendCsv(lab, who, 'email\r\nc@good.com\r\n', '?start=false')).toMatchObject(full);
    await fill(LIST_RESULT_BYTES);
    expect(await sendCsv(lab, who, 'email\r\nc@good.com\r\n', '?start=false')).toMatchObject(full);
    await fill(2 * LIST_RESULT_BYTES);
    expect((await sendCsv(lab, who, 'email\r\nc@good.com\r\n', '?start=false')).status).toBe(201);
    expect((await who.call('DELETE', `/v1/lists/${first.id}`)).status).toBe(200);
    expect((await usage(who)).list_bytes.used).toBeLessThan(2 * LIST_RESULT_BYTES);
  });

  it('is bounded for filters; one that exists already is no further one', async () => {
    const who = await lab.member({ rateLimit: 100_000, plan: 'starter' });
    const admin = await signedIn(lab, { account: who.account });
    const add = (value: string) => who.call('POST', '/v1/filters', { value });
    const bring = (...values: string[]) =>
      admin.call('POST', of(who.account, '/filters/import'), { lines: values.map((value) => ({ value })) });
    await runSql(lab.databaseUrl, `UPDATE accounts SET filter_ips = ${filters - 2} WHERE id = '${who.account.id}'`);
    expect((await add('a.example.com')).status).toBe(201);
    const full = { status: 422, json: expect.objectContaining({ code: 'too_many_filters', limit: filters }) };
    expect(await bring('b.example.com', 'c.example.com')).toMatchObject(full);
    expect((await bring('b.example.com', 'a.example.com')).status).toBe(200);
    expect(await add('c.example.com')).toMatchObject(full);
    expect(await bring('c.example.com')).toMatchObject(full);
    expect((await bring('b.example.com')).json).toMatchObject({ added: 0, existing: 1 });
    expect((await add('b.example.com')).json.code).toBe('filter_exists');
    expect((await usage(who)).filters).toEqual({ used: filters, limit: filters });
  });
});
