import { once } from 'node:events';
import { request as rawRequest } from 'node:http';
import type { Readable } from 'node:stream';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodyConfig, receiveBodies, setAsideContentType } from '../../src/http/input/body.ts';
import { inputReader } from '../../src/http/input/reader.ts';
import { sendError } from '../../src/http/reply.ts';

const LIMIT = 64 * 1024;
const input = { body: { stream: ['text/csv', 'text/plain'] }, bodyLimit: LIMIT } as const;

/** A route that counts the bytes of its body as they arrive. */
let app: FastifyInstance;
let url: string;
let firstChunks: number[];
beforeAll(async () => {
  app = Fastify();
  receiveBodies(app);
  app.addHook('onRequest', (request, _reply, done) => {
    setAsideContentType(request);
    done();
  });
  const read = inputReader({ access: 'api-key:lists', input });
  app.post('/upload', { config: bodyConfig(input) }, async (request, reply) => {
    try {
      const { input: received, problem } = await read(request);
      if (problem !== null) throw problem;
      let bytes = 0;
      for await (const chunk of received.body as Readable) {
        if (bytes === 0) firstChunks.push(performance.now());
        bytes += (chunk as Buffer).length;
      }
      return await reply.send({ bytes });
    } catch (error) {
      return sendError(request, reply, error);
    }
  });
  url = `${await app.listen({ port: 0, host: '127.0.0.1' })}/upload`;
});
afterAll(() => app.close());

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
