/** What an account does that costs much leaves places and turns to others: counts and order, not times. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { PIECES_MAX } from '../../src/http/input/reader.ts';
import { ROUTES } from '../../src/http/routes.ts';
import { COSTS } from '../../src/kernel/costs.ts';
import type { HeldPlace } from '../../src/kernel/fair-queue.ts';
import { Costs, PLACE_WAIT_SECONDS } from '../../src/service/costs.ts';
import { clockAhead } from '../lab/clock.ts';
import { openRaw, type RawConnection } from '../lab/raw-connection.ts';
import { type Lab, type Member, request } from '../lab/service.ts';
import { send, sendCsv, startListLab } from './list-lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startListLab();
});
afterAll(() => lab.close());

const WAIT = { timeout: 30_000, interval: 200 };
const newMember = (): Promise<Member> => lab.member({ rateLimit: 100_000 });

const csv = (rows: number, tail = ''): string =>
  `email\r\n${Array.from({ length: rows }, (_, i) => `a${i}@good.com${tail}\r\n`).join('')}`;

async function uploaded(who: Member, rows: number): Promise<string> {
  const { status, json } = await sendCsv(lab, who, csv(rows), '?start=false');
  expect(status).toBe(201);
  return json.id;
}

describe('searches of the rows of a list', () => {
  it('of one account wait for each other, and nobody else waits for them', async () => {
    const [greedy, other] = [await newMember(), await newMember()];
    const [large, small] = [await uploaded(greedy, 10_000), await uploaded(other, 10)];
    let done = 0;
    const search = async (who: Member, id: string) => (await who.call('GET', `/v1/lists/${id}/rows?query=zzz`)).status;
    const many = Array.from({ length: COSTS.query.waiting }, async () => {
      expect(await search(greedy, large)).toBe(200);
      done += 1;
    });
    await vi.waitFor(() => expect(done).toBeGreaterThan(0), { ...WAIT, interval: 1 });
    const before = done;
    expect(await search(other, small)).toBe(200);
    // In turn, it waits for one of the two under way; in order of arrival, it would wait for all of the greedy ones.
    expect(done - before).toBeLessThan(COSTS.query.waiting / 2);
    await Promise.all(many);
  });

  it('beyond a bound are refused, with live and test key counted together', async () => {
    const live = await newMember();
    const test = await lab.testMember(live);
    const [id, testId] = [await uploaded(live, 10_000), await uploaded(test, 10_000)];
    const statuses = await Promise.all(
      Array.from({ length: 4 * COSTS.query.waiting }, async (_, n) => {
        const [who, list] = n % 2 === 0 ? [live, id] : [test, testId];
        return (await who.call('GET', `/v1/lists/${list}/rows?query=zzz`)).status;
      }),
    );
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect(statuses.filter((status) => status === 200).length).toBeLessThan(3 * COSTS.query.waiting);
  });
});

const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const SILENT = [
  ['/v1/lists', 'text/csv', 'email\r\na@good.com\r\n'],
  ['/v1/lists', 'application/json', '{"emails":["a@good.com"'],
  ['/compat/reacher/v1/bulk', 'application/json', '{"input":["a@good.com"'],
] as const;

describe('uploads that stay silent', () => {
  it.each(SILENT)(
    'at %s as %s take no place of an account that has none',
    { timeout: 60_000 },
    async (path, type, start) => {
      const { perAccount, atOnce } = COSTS.list_upload;
      const silent: RawConnection[] = [];
      for (let n = 0; n < atOnce / perAccount; n++) {
        const { key } = await newMember();
        for (let k = 0; k < perAccount; k++) {
          const connection = await openRaw(lab.url);
          const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: ${type}\r\n${CHUNKED}\r\n`;
          connection.socket.write(`${head}${start.length.toString(16)}\r\n${start}\r\n`);
          silent.push(connection);
        }
      }
      for (let n = 0; n < 3; n++) {
        const other = await newMember();
        await vi.waitFor(async () => {
          const reply = await send(lab, other, '/v1/lists?start=false', csv(3), { 'content-type': 'text/csv' });
          expect(reply.status).toBe(201);
        }, WAIT);
      }
      for (const { socket } of silent) socket.destroy();
    },
  );
});

describe('pieces of a download', () => {
  /** What ten pieces take, each of which takes 20 ms to make by the clock of the service. */
  async function msOfTen(callsMeanwhile: boolean): Promise<number> {
    const { clock, pass } = clockAhead();
    let calls = 0;
    async function* pieces() {
      for (let n = 0; n < 10; n++) {
        if (callsMeanwhile) calls += 1;
        pass(20);
        yield n;
      }
    }
    const reading = await new Costs(clock, () => calls).read('list_download', 'acc_1', pieces());
    const began = performance.now();
    for await (const _ of reading.pieces()) await new Promise(setImmediate);
    return performance.now() - began;
  }

  it('are followed by a rest twice as long while single calls come', async () => {
    expect(await msOfTen(true)).toBeGreaterThanOrEqual(9 * 2 * 20 - 10);
  });
});

describe('downloads of results', () => {
  it('of a test key count with those of its live account', async () => {
    const live = await newMember();
    const test = await lab.testMember(live);
    const { json } = await sendCsv(lab, live, csv(400, `,${'x'.repeat(50_000)}`), '?start=false');
    const small = await uploaded(test, 3);
    const open: IncomingMessage[] = [];
    for (let n = 0; n < COSTS.list_download.perAccount; n++) {
      const headers = { authorization: `Bearer ${live.key}` };
      const request = get(`${lab.url}/v1/lists/${json.id}/results`, { agent: false, headers });
      const [reply]: IncomingMessage[] = await once(request, 'response');
      if (reply !== undefined) open.push(reply);
    }
    expect(open.map(({ statusCode }) => statusCode)).toEqual(open.map(() => 200));
    expect((await test.call('GET', `/v1/lists/${small}/results`)).status).toBe(429);
    for (const reply of open) reply.destroy();
  });
});

describe('bodies in pieces of one byte', () => {
  it('are refused where a body is read whole', async () => {
    const { key } = await newMember();
    const { socket, received } = await openRaw(lab.url);
    const head = `POST /v1/verify HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n${CHUNKED}\r\n`;
    socket.write(head + '1\r\n \r\n'.repeat(PIECES_MAX + 1));
    await vi.waitFor(() => expect(received()).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"malformed_request"/), WAIT);
    expect(received()).toContain('send larger ones');
    socket.destroy();
  });

  it('of as many uploads as there may be leave others served', async () => {
    const other = await newMember();
    const { perAccount, atOnce } = COSTS.list_upload;
    const open: RawConnection[] = [];
    for (let n = 0; n < atOnce / perAccount; n++) {
      const { key } = await newMember();
      for (let k = 0; k < perAccount; k++) {
        const connection = await openRaw(lab.url);
        const head = `POST /v1/lists HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: text/csv\r\n${CHUNKED}\r\n`;
        connection.socket.write(head);
        const pieces = '1\r\na\r\n'.repeat(20_000);
        const go = (): void => void (connection.socket.destroyed || connection.socket.write(pieces, go));
        go();
        open.push(connection);
      }
    }
    for (let n = 0; n < 20; n++) {
      expect((await other.call('GET', '/v1/usage')).status).toBe(200);
      expect((await other.verify('a@good.com')).status).toBe(200);
    }
    for (const { socket } of open) socket.destroy();
  });
});

/** As large as one may be. */
const largeMessage = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: {
    name: 'create_list',
    arguments: { emails: Array.from({ length: 15_000 }, (_, i) => `a${i}@x.co`), validation_type: 'none' },
  },
};

describe('large messages at /mcp', () => {
  it('of one account wait for each other within a bound, and nobody else waits for them', async () => {
    const [greedy, other] = [await newMember(), await newMember()];
    const send = async (who: Member) =>
      (await request(lab.url, 'POST', '/mcp', largeMessage, { authorization: `Bearer ${who.key}` })).status;
    const many = Array.from({ length: 10 * COSTS.mcp_message.waiting }, () => send(greedy));
    expect(await send(other)).toBe(200);
    expect((await other.verify('a@good.com')).status).toBe(200);
    const statuses = await Promise.all(many);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
  });

  it('are not read before the key is known', async () => {
    const { socket, received } = await openRaw(lab.url);
    const head = `POST /mcp HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer mv_live_${'x'.repeat(32)}\r\nContent-Type: application/json\r\nContent-Length: 200000\r\n\r\n`;
    socket.write(head);
    await vi.waitFor(() => expect(received()).toMatch(/^HTTP\/1\.1 401 /), { timeout: 10_000 });
    socket.destroy();
  });
});

describe('a place', () => {
  const costs = () => {
    const { clock, pass } = clockAhead();
    return { costs: new Costs(clock), pass };
  };
  async function filled(all: Costs): Promise<HeldPlace[]> {
    const { atOnce, forFirst } = COSTS.list_upload;
    const held: HeldPlace[] = [];
    for (let n = 0; n < atOnce + forFirst; n++) {
      const place = await all.hold('list_upload', `acc_${n}`);
      place.keep();
      held.push(place);
    }
    return held;
  }

  it('is found by an account that has none, beside as many uploads as are stored at once', async () => {
    const { costs: all } = costs();
    const { atOnce, perAccount } = COSTS.list_upload;
    for (let n = 0; n < atOnce; n++) (await all.hold('list_upload', `acc_${Math.floor(n / perAccount)}`)).keep();
    expect(await all.hold('list_upload', 'acc_new')).toBeTypeOf('object');
  });

  it('is waited for where all are being stored, and not for ever', async () => {
    const { costs: all, pass } = costs();
    const [first] = await filled(all);
    const waiting = all.hold('list_upload', 'acc_late');
    const tooLate = all.hold('list_upload', 'acc_later');
    tooLate.catch(() => undefined);
    first?.release();
    expect(await waiting).toBeTypeOf('object');
    pass(PLACE_WAIT_SECONDS * 1000);
    await expect(tooLate).rejects.toMatchObject({ code: 'overloaded' });
  });
});

describe('the table of costs', () => {
  it('has a turn for reads without a query that look through many rows', () => {
    const turns = ROUTES.filter(({ cost }) => cost === 'query').map(({ path }) => path);
    const account = '/dashboard/accounts/:account';
    expect(turns).toEqual(
      expect.arrayContaining([`${account}/overview`, `${account}/lists/:id/preview`, `${account}/key-usage`]),
    );
  });

  it('has a turn for each route with a query that is answered as JSON, but for those an index answers', () => {
    const rows = ROUTES.filter(
      ({ method, input, output, cost }) =>
        method === 'GET' && input?.query !== undefined && typeof output?.content === 'object' && cost === null,
    );
    expect(rows.map(({ path }) => path)).toEqual(['/v1/usage', '/dashboard/accounts/:account/views']);
  });
});
