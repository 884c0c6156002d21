import { once } from 'node:events';
import { createServer, request as rawRequest, type Server } from 'node:http';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpReply, HttpRequest } from '../../src/http/exchange.ts';
import { inputReader } from '../../src/http/input/reader.ts';
import { sendError } from '../../src/http/reply.ts';
import { createLogger } from '../../src/kernel/log.ts';

const LIMIT = 64 * 1024;
const input = { body: { stream: ['text/csv', 'text/plain'] }, bodyLimit: LIMIT } as const;

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
beforeAll(async () => {
  const read = inputReader({ method: 'POST', access: 'api-key:lists', input });
  [server, url] = await listening(async (request, reply) => {
    try {
      const { input: received, problem } = await read(request);
      if (problem !== null) throw problem;
      let bytes = 0;
      for await (const chunk of received.body as Readable) {
        if (bytes === 0) firstChunks.push(performance.now());
        bytes += (chunk as Buffer).length;
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
    pieces: () => AsyncGenerator<string>,
    use: (url: string, streamed: Readable) => Promise<void>,
  ) {
    const streamed = Readable.from(pieces());
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
