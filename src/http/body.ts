import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Parsed, refused } from '../contract/schema.ts';

/** RFC 9110 leaves the limit to the server: one address needs no more. */
export const BODY_LIMIT = 16 * 1024;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a body of this route may have; BODY_LIMIT where it is not said. */
    bytes?: number;
  }
}

/** Asked for only by a body that is above the usual limit. */
const limitOf = (request: FastifyRequest): number => request.routeOptions.config.bytes ?? BODY_LIMIT;

/** What arrived, unjudged: whether it is usable is said only after the key and the rate window were. */
type RawBody = Buffer | 'too_large' | 'cut_short';

/**
 * Reads every body, of whatever type, into at most the bytes that its route takes, and never fails: the contract refuses a bad key
 * (401, 403, 429) before a bad body (400, 413, 415), so parsing has to wait until the key is judged.
 */
export function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (request, payload, done) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let finished = false;
    const finish = (body: RawBody) => {
      if (finished) return;
      finished = true;
      done(null, body);
    };
    const tooLarge = (bytes: number) => bytes > BODY_LIMIT && bytes > limitOf(request);
    // What is announced as too large need not arrive to be refused.
    if (tooLarge(Number(request.headers['content-length'] ?? 0))) finish('too_large');
    payload.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (tooLarge(size)) {
        chunks.length = 0;
        finish('too_large');
      } else if (!finished) chunks.push(chunk);
    });
    payload.on('end', () => finish(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    payload.on('error', () => finish('cut_short'));
    payload.on('close', () => finish('cut_short'));
  });
}

const sentTypes = new WeakMap<FastifyRequest, string>();

/**
 * The framework refuses media types that it cannot parse before anybody has looked at the key or the path; the body's
 * own reader does that later, so the type is put aside and replaced by one that says nothing.
 */
export function setAsideContentType(request: FastifyRequest): void {
  const { headers } = request.raw;
  const type = headers['content-type'];
  if (type !== undefined) sentTypes.set(request, type);
  if (type !== undefined || request.method === 'QUERY') headers['content-type'] = 'application/octet-stream';
}

export const rawBody = (request: FastifyRequest): Buffer | null =>
  Buffer.isBuffer(request.body) ? (request.body as Buffer) : null;

/** The body as JSON: 413, 415 and 400 (RFC 8259; UTF-8 only) in that order. */
export function jsonBody(request: FastifyRequest): Parsed<unknown> {
  const body = request.body as RawBody | undefined;
  if (body === 'too_large') {
    return refused('body_too_large', `The request body is larger than ${limitOf(request) / 1024} KiB.`);
  }
  const type = sentTypes.get(request);
  if (type === undefined || !/^application\/json\s*(;|$)/i.test(type.trim())) return refused('unsupported_media_type');
  const coding = request.headers['content-encoding'];
  if (coding !== undefined && coding !== 'identity') {
    return refused('unsupported_media_type', 'The request body must not be compressed (Content-Encoding).');
  }
  if (body === 'cut_short') return refused('invalid_json', 'The request body ended too early.');
  if (body === undefined || body.length === 0)
    return refused('invalid_json', 'The request body is empty; send a JSON object.');
  if (!isUtf8(body)) return refused('invalid_json', 'The request body is not valid UTF-8.');
  try {
    return { ok: true, value: JSON.parse(body.toString('utf8')) };
  } catch (error) {
    return refused('invalid_json', `The request body is not valid JSON: ${plain((error as Error).message)}`);
  }
}

/** The parser's own words name the place; what they quote of the body is left out. */
const plain = (message: string): string => {
  const position = /position (\d+)/.exec(message);
  return position ? `the mistake is at character ${position[1]}.` : 'it ends too early or holds something unexpected.';
};
