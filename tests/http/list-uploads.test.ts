/** Uploads of senders who want to break them, over real sockets: each ends with an error, and nothing is left of it. */
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { COSTS } from '../../src/kernel/costs.ts';
import { LIST_BYTES } from '../../src/kernel/facts/limits.ts';
import { openRaw, statusIn } from '../lab/raw-connection.ts';
import type { Lab, Member } from '../lab/service.ts';
import { runSql } from '../lab/stores.ts';
import { send, sendCsv, startListLab } from './list-lab.ts';

let lab: Lab;
let owner: Member;
let temporary: string;
const before = process.env.TMPDIR;
beforeAll(async () => {
  lab = await startListLab();
  owner = await lab.member({ rateLimit: 100_000 });
  temporary = mkdtempSync(join(tmpdir(), 'mailvet-uploads-'));
  process.env.TMPDIR = temporary;
});
afterAll(async () => {
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
  rmSync(temporary, { recursive: true, force: true });
  await lab.close();
});

const WAIT = { timeout: 30_000, interval: 20 };
/** Lists that are there or under way, and temporary files. */
const left = async () => {
  const rows = await runSql(lab.databaseUrl, "SELECT status FROM lists WHERE status <> 'deleted'");
  return [...rows.map(({ status }) => status), ...readdirSync(temporary)];
};
afterEach(() => vi.waitFor(async () => expect(await left()).toEqual([]), WAIT));

const head = (type: string, more: string, query = '') =>
  `POST /v1/lists${query} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${owner.key}\r\nContent-Type: ${type}\r\n${more}\r\n\r\n`;
const FORM = 'multipart/form-data; boundary=XX';
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked';

/** Sends a request whole; status and code of the reply. */
async function sent(type: string, body: string): Promise<[number | null, string | undefined]> {
  const { socket, closed, received } = await openRaw(lab.url);
  socket.write(head(type, `Connection: close\r\nContent-Length: ${Buffer.byteLength(body)}`) + body);
  await closed;
  const [, code] = /"code":"(\w+)"/.exec(received()) ?? [];
  return [statusIn(received()), code];
}

const part = (name: string, body: string, more = '') =>
  `--XX\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${body}\r\n`;
const file = (body: string) => part('file', body, '; filename="x.csv"');

describe('a hostile upload', () => {
  it.each([
    ['multipart/form-data', file('a@good.com'), 'malformed_request'],
    [`multipart/form-data; boundary=${'X'.repeat(71)}`, file('a@good.com'), 'malformed_request'],
    [FORM, '', 'malformed_request'],
    [FORM, 'preamble\r\n--XX\r\n', 'malformed_request'],
    [FORM, '--XY\r\n', 'malformed_request'],
    [FORM, '--XX\r\n\r\nno headers\r\n--XX--', 'malformed_request'],
    [FORM, '--XX\r\nContent-Disposition: attachment\r\n\r\nx\r\n--XX--', 'malformed_request'],
    [FORM, `--XX\r\nX-Long: ${'x'.repeat(100_000)}\r\n\r\nx\r\n--XX--`, 'malformed_request'],
    [FORM, `${part('field', 'x').repeat(40)}--XX--`, 'malformed_request'],
    [FORM, file('email\r\na@good.com\r\n'), 'malformed_request'],
    [FORM, `${file('a@good.com')}${file('b@good.com')}--XX--`, 'invalid_parameter'],
    [FORM, `${part('name', 'a')}${part('name', 'b')}${file('a@good.com')}--XX--`, 'invalid_parameter'],
    [FORM, `${file('a@good.com')}${part('column', 'x'.repeat(70_000))}--XX--`, 'invalid_parameter'],
    [FORM, `${part('name', 'a')}--XX--`, 'missing_parameter'],
    [FORM, `${file('')}--XX--`, 'unreadable_file'],
  ])('%s %#', async (type, body, code) => {
    expect((await sent(type, body))[1]).toBe(code);
  });

  it('that arrives byte by byte, with boundaries cut anywhere, is the same upload', async () => {
    const { socket, received } = await openRaw(lab.url);
    const body = `${part('start', 'false')}${file('email\r\n--XY@good.com\r\na@good.com\r\n--X')}--XX--\r\nepilogue`;
    socket.setNoDelay(true);
    socket.write(head(FORM, CHUNKED));
    for (const byte of body) socket.write(chunk(byte));
    socket.write('0\r\n\r\n');
    await vi.waitFor(() => expect(statusIn(received())).toBe(201), WAIT);
    const [, id] = /"id":"(\w+)"/.exec(received()) ?? [];
    const { json } = await owner.call('GET', `/v1/lists/${id}`);
    expect(json.rows).toMatchObject({ total: 3, addresses: 3 });
    socket.destroy();
    await owner.call('DELETE', `/v1/lists/${id}`);
  });

  it('may have a file name that looks like a parameter', async () => {
    const named = '--XX\r\nContent-Disposition: form-data; filename="a; name=b.csv"; Name=file\r\n\r\na@good.com\r\n';
    const { status, json } = await send(lab, owner, '/v1/lists?start=false', `${named}--XX--`, {
      'content-type': FORM,
    });
    expect([status, json.name]).toEqual([201, 'a; name=b.csv']);
    await owner.call('DELETE', `/v1/lists/${json.id}`);
  });

  it('that announces too much is refused at once, and one that sends it, when it does', async () => {
    const announced = await openRaw(lab.url);
    announced.socket.write(head('text/csv', `Content-Length: ${LIST_BYTES * 2}`));
    await vi.waitFor(
      () => expect(announced.received()).toMatch(/^HTTP\/1\.1 413 [\s\S]*"code":"list_too_large"/),
      WAIT,
    );
    announced.socket.destroy();
    const sending = await openRaw(lab.url);
    sending.socket.write(head('text/csv', CHUNKED));
    const long = `email${',x'.repeat(100_000)}\r\n`;
    sending.socket.write(`${chunk(long)}0\r\n\r\n`);
    await vi.waitFor(() => expect(sending.received()).toMatch(/^HTTP\/1\.1 413 [\s\S]*"limit":1000/), WAIT);
    sending.socket.destroy();
  });

  it('that arrives too slowly is ended', async () => {
    const slow = await openRaw(lab.url);
    slow.socket.write(head('text/csv', CHUNKED) + chunk('email\r\n'));
    const dripping = setInterval(() => slow.socket.write(chunk('a@good.com\r\n')), 500);
    await vi.waitFor(() => expect(slow.received()).toMatch(/^HTTP\/1\.1 408 [\s\S]*"code":"request_timeout"/), {
      ...WAIT,
      timeout: 110_000,
    });
    clearInterval(dripping);
    slow.socket.destroy();
  });

  it('that is cut off or stalls leaves nothing, and no more than a few of an account are read at once', async () => {
    const open: Socket[] = [];
    for (let n = 0; n < COSTS.list_upload.perAccount; n++) {
      const { socket } = await openRaw(lab.url);
      socket.write(head('text/csv', CHUNKED) + chunk(`email\r\n${'a@good.com\r\n'.repeat(20_000)}`));
      open.push(socket);
    }
    await vi.waitFor(async () => {
      const third = await sendCsv(lab, owner, 'email\r\na@good.com\r\n', '?start=maybe');
      expect(third.status).toBe(400);
      const next = await sendCsv(lab, owner, 'email\r\na@good.com\r\n', '?start=false');
      if (next.status === 201) await owner.call('DELETE', `/v1/lists/${next.json.id}`);
      expect([next.status, next.json.code, next.headers.get('retry-after')]).toEqual([503, 'overloaded', '5']);
    }, WAIT);
    for (const socket of open) {
      socket.destroy();
      await once(socket, 'close');
    }
    await vi.waitFor(async () => expect(await left()).toEqual([]), WAIT);
    await vi.waitFor(async () => {
      const { status, json } = await sendCsv(lab, owner, 'email\r\na@good.com\r\n', '?start=false');
      expect(status).toBe(201);
      await owner.call('DELETE', `/v1/lists/${json.id}`);
    }, WAIT);
  });
});

describe('a field of the wrong type in JSON', () => {
  it.each<[object, number, object]>([
    [{ emails: [], name: 5 }, 400, { code: 'invalid_parameter', field: 'name', error: 'name must be a string.' }],
    [{ emails: [], name: null }, 400, { code: 'invalid_parameter', field: 'name' }],
    [{ emails: [], start: 0 }, 400, { field: 'start', error: 'start must be true or false.' }],
    [{ emails: [], header: 1 }, 400, { code: 'invalid_parameter', field: 'header' }],
    [{ emails: [], retry_minutes: '5' }, 400, { field: 'retry_minutes' }],
    [{ emails: [], patience_minutes: '5' }, 400, { field: 'patience_minutes' }],
    ...['', null, 5, true, ['mx'], {}].map((level): [object, number, object] => [
      { emails: [], validation_type: level },
      422,
      { code: 'invalid_validation_type' },
    ]),
  ])('is named: %j', async (body, status, error) => {
    const reply = await owner.call('POST', '/v1/lists', body);
    expect([reply.status, reply.json]).toMatchObject([status, error]);
  });

  it('also one that is nested too deeply to be made a text again', async () => {
    const { status, json } = await owner.call(
      'POST',
      '/v1/lists',
      `{"emails":[],"validation_type":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
    );
    expect([status, json.code]).toEqual([422, 'invalid_validation_type']);
  });
});
