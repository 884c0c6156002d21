import { once } from 'node:events';
import { createServer, type IncomingMessage, request as rawRequest, type Server } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { HttpReply, HttpRequest } from '../../src/http/exchange.ts';
import type { ArrivingBody } from '../../src/http/input/arrival.ts';
import { inputReader } from '../../src/http/input/reader.ts';
import { PacedBody } from '../../src/http/paced-body.ts';
import { sendError } from '../../src/http/reply.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { COSTS } from '../../src/kernel/costs.ts';
import { createLogger } from '../../src/kernel/log.ts';
import { Costs } from '../../src/service/costs.ts';

const LIMIT = 64 * 1024;
const input = { body: { cost: 'list_upload', stream: ['text/csv', 'text/plain'] }, maxBodyBytes: LIMIT } as const;

/** Serves one exchange after the other on a free port. */
async function listening(serve: (request: HttpRequest, reply: HttpReply) => Promise<void>): Promise<[Server, string]> {
  const log = createLogger('silent');
  const server = createServer((raw, response) => {
    void serve(new HttpRequest(raw, { id: 'req_1', params: {}, log }), new HttpReply(response, []));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return [server, `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`];
}

/** A route that counts the bytes of its body as they arrive. */
let server: Server;
let url: string;
let firstChunks: number[];
let chunks = 0;
beforeAll(async () => {
  const read = inputReader({ method: 'POST', access: 'api-key:lists', input });
  [server, url] = await listening(async (request, reply) => {
    try {
      const { input: received, problem } = await read(request);
      if (problem !== null) throw problem;
      let bytes = 0;
      const place = await new Costs(systemClock).hold('list_upload', 'acc_1');
      for await (const chunk of (received.body as ArrivingBody).held(place)) {
        if (bytes === 0) firstChunks.push(performance.now());
        bytes += (chunk as Buffer).length;
        chunks += 1;
      }
      reply.send(200, JSON.stringify({ bytes }));
    } catch (error) {
      sendError(request, reply, error);
    }
  });
});
afterAll(() => server.close());

const upload = async (body: string | undefined, headers: Record<string, string> = { 'content-type': 'text/csv' }) => {
  firstChunks = [];
  const response = await fetch(url, { method: 'POST', headers, body: body ?? null });
  const json = (await response.json()) as { bytes?: number; code?: string };
  return [response.status, json.code ?? json.bytes];
};

/** Chunked, without Content-Length. */
async function uploadPieces(pieces: number, bytes: number): Promise<[number | undefined, string]> {
  firstChunks = [];
  const sent = rawRequest(url, { method: 'POST', headers: { 'content-type': 'text/plain; charset=utf-8' } });
  sent.on('error', () => undefined);
  const replied = once(sent, 'response');
  for (let i = 0; i < pieces && !sent.destroyed; i++) {
    sent.write('x'.repeat(bytes));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const end = performance.now();
  sent.end();
  const [response] = await replied;
  let text = '';
  for await (const chunk of response) text += chunk;
  if (response.statusCode === 200) expect(firstChunks[0]).toBeLessThan(end);
  return [response.statusCode, text];
}

describe('a streamed body', () => {
  it('reaches the handler as it arrives, up to the row’s limit', async () => {
    expect(await upload('a,b\r\n')).toEqual([200, 5]);
    expect(await upload('x'.repeat(LIMIT))).toEqual([200, LIMIT]);
    expect(await uploadPieces(8, 1000)).toEqual([200, '{"bytes":8000}']);
  });

  it('in very small pieces is the same, and reaches the handler in few', async () => {
    const { hostname, port } = new URL(url);
    const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: text/csv\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const socket = connect(Number(port), hostname);
    chunks = 0;
    firstChunks = [];
    socket.write(`${head}${'1\r\nx\r\n'.repeat(20_000)}0\r\n\r\n`);
    await vi.waitFor(async () => expect(String((await once(socket, 'data'))[0])).toContain('{"bytes":20000}'));
    expect(chunks).toBeLessThan(2000);
    socket.destroy();
  });

  it('is rejected if it announces more, and fails if more arrives', async () => {
    expect(await upload('x'.repeat(LIMIT + 1))).toEqual([413, 'body_too_large']);
    const [status, text] = await uploadPieces(20, 8 * 1024);
    expect([status, JSON.parse(text).code]).toEqual([413, 'body_too_large']);
  });

  it.each([
    ['another media type', 'a', { 'content-type': 'application/json' }, 415, 'unsupported_media_type'],
    ['none', 'a', { 'content-type': '' }, 415, 'unsupported_media_type'],
    ['a coding', 'a', { 'content-type': 'text/csv', 'content-encoding': 'gzip' }, 415, 'unsupported_media_type'],
    ['no body', undefined, { 'content-type': 'text/csv' }, 200, 0],
  ] as const)('with %s', async (_what, body, headers, status, code) => {
    expect(await upload(body, headers)).toEqual([status, code]);
  });
});

describe('a streamed reply', () => {
  /** Replies with what `pieces` yields; `streamed` is that stream. */
  async function fetching(
    pieces: () => AsyncGenerator<string, void, undefined>,
    use: (url: string, streamed: PacedBody) => Promise<void>,
  ) {
    const streamed = new PacedBody(await new Costs(systemClock).read('export', 'acc_1', pieces()));
    const [server, url] = await listening(async (request, reply) => {
      await reply.stream(200, streamed).catch((error: unknown) => sendError(request, reply, error));
    });
    await use(url, streamed);
    server.close();
  }
  async function* failingAfter(pieces: number) {
    for (let i = 0; i < pieces; i++) yield 'a,b\r\n';
    await new Promise(setImmediate);
    throw new Error('the store fails');
  }

  it('arrives whole', async () => {
    async function* pieces() {
      for (let i = 0; i < 1000; i++) yield 'a,b\r\n';
    }
    await fetching(pieces, async (url) => expect(await (await fetch(url)).text()).toBe('a,b\r\n'.repeat(1000)));
  });

  it('that fails before its first piece is an error', async () => {
    await fetching(
      () => failingAfter(0),
      async (url) => expect((await fetch(url)).status).toBe(500),
    );
  });

  it('that fails later ends with its connection', async () => {
    await fetching(
      () => failingAfter(3),
      async (url) => {
        const reply = await fetch(url);
        expect(reply.status).toBe(200);
        await expect(reply.text()).rejects.toThrow();
      },
    );
  });

  it('ends when nobody reads it any more', async () => {
    async function* endless() {
      for (;;) yield 'x'.repeat(64 * 1024);
    }
    await fetching(endless, async (url, streamed) => {
      const closed = new Promise((resolve) => streamed.once('close', resolve));
      const reply = await fetch(url);
      await reply.body?.cancel();
      await closed;
    });
    await fetching(endless, async (url, streamed) => {
      const reply = await fetch(url, { method: 'HEAD' });
      expect([reply.status, streamed.destroyed]).toEqual([200, true]);
    });
  });
});

describe('replies that are taken slowly', () => {
  const costs = new Costs(systemClock);
  const { perAccount, atOnce } = COSTS.export;
  async function* endless() {
    for (;;) yield 'x'.repeat(64 * 1024);
  }

  const bodies = new Map<string, PacedBody>();
  /** Serves an endless export to the account in the path. */
  const exporting = () =>
    listening(async (request, reply) => {
      try {
        const body = new PacedBody(await costs.read('export', request.url, endless()));
        bodies.set(request.url, body);
        await reply.stream(200, body);
      } catch (error) {
        sendError(request, reply, error);
      }
    });

  /** A reply of which nothing is read. */
  async function unread(url: string): Promise<IncomingMessage> {
    const request = rawRequest(url, { agent: false });
    request.on('error', () => undefined);
    request.end();
    const [reply]: IncomingMessage[] = await once(request, 'response');
    if (reply === undefined) throw new Error('There was no reply.');
    return reply.on('error', () => undefined);
  }

  it('leave a place for every account, and an account its own bound', async () => {
    const [server, url] = await exporting();
    const slow: IncomingMessage[] = [];
    for (let n = 0; n < atOnce; n++) slow.push(await unread(`${url}slow${n % (atOnce / perAccount)}`));
    expect(new Set(slow.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
    expect((await unread(`${url}slow0`)).statusCode).toBe(429);
    // As many others as there are places, one after the other, while all of them are held.
    for (let n = 0; n < atOnce; n++) {
      await vi.waitFor(async () => expect((await unread(`${url}other${n}`)).statusCode).toBe(200), {
        timeout: 20_000,
        interval: 100,
      });
    }
    for (const reply of slow) reply.destroy();
    server.closeAllConnections();
    server.close();
  });

  it('end when they are taken more slowly than the pace', async () => {
    const [server, url] = await exporting();
    const reply = await unread(`${url}drip`);
    const drip = setInterval(() => reply.read(512), 250);
    const [error] = await once(bodies.get('/drip') ?? reply, 'error');
    clearInterval(drip);
    expect(error).toMatchObject({ code: 'request_timeout' });
    reply.destroy();
    server.close();
  });

  it('go on for as long as they are taken at the pace', async () => {
    const [server, url] = await exporting();
    const reply = await unread(`${url}steady`);
    let bytes = 0;
    for await (const chunk of reply) {
      bytes += chunk.length;
      if (bytes > 64 * 1024 * 1024) break;
    }
    expect(bytes).toBeGreaterThan(64 * 1024 * 1024);
    server.close();
  });
});
