import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { type Readable, Transform } from 'node:stream';
import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify';
import { invalid, type Parsed } from '../../contract/reader.ts';
import { ApiError } from '../../kernel/errors.ts';
import { kibibytes } from '../../kernel/format.ts';
import { BODY_BYTES } from '../../kernel/limits.ts';
import type { RouteInput } from '../route.ts';
import { whenLate } from './arrival.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Largest body of this route, in bytes; BODY_BYTES where absent. */
    bodyLimit?: number;
    /** BODY_WITHIN_SECONDS where absent. */
    bodySeconds?: number;
    /** The handler reads the body as it arrives. */
    streamsBody?: boolean;
  }
}

/** How the body of a row is received. */
export const bodyConfig = ({ body, bodyLimit = BODY_BYTES, bodySeconds }: RouteInput = {}): FastifyContextConfig => ({
  bodyLimit,
  ...(bodySeconds === undefined ? {} : { bodySeconds }),
  streamsBody: body !== undefined && 'stream' in body,
});

const limitOf = (request: FastifyRequest): number => request.routeOptions.config.bodyLimit ?? BODY_BYTES;

const tooLarge = (limit: number): ApiError =>
  new ApiError('body_too_large', `The request body is larger than ${kibibytes(limit)}.`);

/** The received body, not yet parsed; a stream until it is read. */
type RawBody = Buffer | Readable | 'too_large' | 'cut_short' | 'late';

/**
 * Leaves every body, of whatever media type, where it is: the contract reports a bad key (401, 403, 429) before a bad body
 * (400, 413, 415), and nobody without a key or a session makes us read one.
 */
export function receiveBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
}

/**
 * Waits for the body of a request, up to the limit and the time of its route, and never fails. A body that is read as a
 * stream is left to the handler.
 */
export async function bodyArrived(request: FastifyRequest): Promise<void> {
  const body = receivedBody(request);
  if (body === undefined || typeof body === 'string' || Buffer.isBuffer(body)) return;
  const limit = limitOf(request);
  // A body that announces itself as too large need not arrive to be refused.
  const announcedTooLarge = Number(request.headers['content-length'] ?? 0) > limit;
  if (announcedTooLarge) request.body = 'too_large';
  else if (request.routeOptions.config.streamsBody !== true) request.body = await collect(request.raw, body, limit);
}

function collect(message: IncomingMessage, payload: Readable, limit: number): Promise<RawBody> {
  const collected = Promise.withResolvers<RawBody>();
  const chunks: Buffer[] = [];
  let size = 0;
  const onData = (chunk: Buffer) => {
    size += chunk.length;
    if (size > limit) give('too_large');
    else chunks.push(chunk);
  };
  const give = (body: RawBody) => {
    if (body === 'too_large' || body === 'late') payload.off('data', onData).pause();
    collected.resolve(body);
  };
  payload.on('data', onData);
  payload.on('end', () => {
    const [only] = chunks;
    give(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks));
  });
  payload.on('error', () => give('cut_short'));
  payload.on('close', () => give('cut_short'));
  whenLate(message, () => give('late'));
  return collected.promise;
}

const sentTypes = new WeakMap<FastifyRequest, string>();

/**
 * The framework refuses media types that it cannot parse before the key or the path was checked; the body's own reader
 * does that later, so the type is put aside and replaced by a neutral one.
 */
export function setAsideContentType(request: FastifyRequest): void {
  const { headers } = request.raw;
  const type = headers['content-type'];
  if (type !== undefined) sentTypes.set(request, type);
  if (type !== undefined || request.method === 'QUERY') headers['content-type'] = 'application/octet-stream';
}

const receivedBody = (request: FastifyRequest): RawBody | undefined => {
  const { body } = request as { body: RawBody | undefined };
  return body;
};

/** Null where there is none, or it did not arrive whole. */
export const rawBody = (request: FastifyRequest): Buffer | null => {
  const body = receivedBody(request);
  return Buffer.isBuffer(body) ? body : null;
};

/** The media type without its parameters, in lower case; empty where there is none. */
const mediaType = (request: FastifyRequest): string =>
  (sentTypes.get(request)?.split(';', 1)[0] ?? '').trim().toLowerCase();

const isCompressed = ({ headers }: FastifyRequest): boolean => {
  const coding = headers['content-encoding'];
  return coding !== undefined && coding !== 'identity';
};
const compressed = () =>
  invalid('unsupported_media_type', 'The request body must not be compressed (Content-Encoding).');

/** The body as JSON: 413, 415 and 400 (RFC 8259; UTF-8 only) in that order. */
export function jsonBody(request: FastifyRequest): Parsed<unknown> {
  const body = receivedBody(request);
  if (body === 'too_large') return { ok: false, error: tooLarge(limitOf(request)) };
  if (body === 'late') return invalid('request_timeout');
  if (mediaType(request) !== 'application/json') return invalid('unsupported_media_type');
  if (isCompressed(request)) return compressed();
  if (body === 'cut_short') return invalid('invalid_json', 'The request body ended early.');
  if (!Buffer.isBuffer(body) || body.length === 0)
    return invalid('invalid_json', 'The request body is empty; send a JSON object.');
  if (!isUtf8(body)) return invalid('invalid_json', 'The request body is not valid UTF-8.');
  try {
    return { ok: true, value: JSON.parse(body.toString('utf8')) };
  } catch (error) {
    return invalid('invalid_json', `The request body is not valid JSON: ${positionOf(String(error))}`);
  }
}

/** The parser's message names the position; its quote of the body is cut. */
const positionOf = (message: string): string => {
  const position = /position (\d+)/.exec(message);
  return position ? `syntax error at character ${position[1]}.` : 'it ends early or has an unexpected character.';
};

/** The body as it arrives: 413 and 415; the stream fails with `body_too_large` once it is longer than its route takes. */
export function streamBody(request: FastifyRequest, types: readonly string[]): Parsed<Readable> {
  const body = receivedBody(request);
  const limit = limitOf(request);
  if (body === 'too_large') return { ok: false, error: tooLarge(limit) };
  if (!types.includes(mediaType(request)))
    return invalid('unsupported_media_type', `The request body must be sent as ${types.join(' or ')}.`);
  if (isCompressed(request)) return compressed();
  if (body === undefined || typeof body === 'string' || Buffer.isBuffer(body))
    return invalid('invalid_parameter', 'The request body is empty.');
  return { ok: true, value: bounded(request.raw, body, limit) };
}

function bounded(message: IncomingMessage, source: Readable, limit: number): Readable {
  let size = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      if (size > limit) done(tooLarge(limit));
      else done(null, chunk);
    },
  });
  whenLate(message, () => stream.destroy(new ApiError('request_timeout')));
  source.on('error', (error) => stream.destroy(error));
  source.on('aborted', () => stream.destroy(new ApiError('malformed_request', 'The request body ended early.')));
  return source.pipe(stream);
}
