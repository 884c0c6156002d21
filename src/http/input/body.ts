import { isUtf8 } from 'node:buffer';
import { invalid, type Parsed } from '../../contract/reader.ts';
import { PIECES_MAX } from '../../kernel/costs.ts';
import { ApiError, type ErrorCode } from '../../kernel/errors.ts';
import { BODY_BYTES } from '../../kernel/facts/limits.ts';
import { kibibytes } from '../../kernel/format.ts';
import type { HttpRequest } from '../exchange.ts';
import type { RouteInput, StreamBody } from '../route.ts';
import { whenLate } from './arrival.ts';
import { ArrivingBody } from './arriving-body.ts';

const tooLarge = (limit: number, code: ErrorCode = 'body_too_large'): ApiError =>
  new ApiError(
    code,
    `The request body is larger than ${kibibytes(limit)}.`,
    code === 'body_too_large' ? {} : { limit },
  );

/**
 * Waits for the body of a request, and never fails; null where there is nothing to wait for. The contract reports a bad
 * key (401, 403, 429) before a bad body (400, 413, 415), and nobody without a key or a session makes us read one: so
 * this is called by a guard. A body that is read as a stream is left to the handler.
 */
export function bodyArrived(request: HttpRequest, { body, bodyLimit = BODY_BYTES }: RouteInput): Promise<void> | null {
  if (request.body !== null) return null;
  // A body that announces itself as too large need not arrive to be refused.
  const announcedTooLarge = Number(request.headers['content-length'] ?? 0) > bodyLimit;
  if (announcedTooLarge) request.body = 'too_large';
  else if (body === undefined || !('stream' in body)) return collect(request, bodyLimit);
  return null;
}

function collect(request: HttpRequest, limit: number): Promise<void> {
  const { raw: message } = request;
  return new Promise((resolve) => {
    // The first one counts.
    const give = (body: HttpRequest['body']) => {
      request.body ??= body;
      resolve();
    };
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) stop('too_large');
      else if (chunks.length === PIECES_MAX) stop('in_pieces');
      else chunks.push(chunk);
    };
    const stop = (why: 'too_large' | 'late' | 'in_pieces') => {
      message.off('data', onData).pause();
      give(why);
    };
    message.on('data', onData);
    message.on('end', () => {
      const [only] = chunks;
      give(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks));
    });
    // After the end it changes nothing; before it, the client has disconnected.
    message.on('close', () => give('cut_short'));
    whenLate(message, () => stop('late'));
  });
}

/** Null where it did not arrive whole. */
export const rawBody = ({ body }: HttpRequest): Buffer | null => (Buffer.isBuffer(body) ? body : null);

/** The media type without its parameters, in lower case; empty where there is none. */
export const mediaType = ({ headers }: HttpRequest): string =>
  (headers['content-type']?.split(';', 1)[0] ?? '').trim().toLowerCase();

const tooManyPieces = () =>
  invalid('malformed_request', `The request body comes in more than ${PIECES_MAX} chunks; send larger ones.`);

const isCompressed = ({ headers }: HttpRequest): boolean => {
  const coding = headers['content-encoding'];
  return coding !== undefined && coding !== 'identity';
};
const compressed = () =>
  invalid('unsupported_media_type', 'The request body must not be compressed (Content-Encoding).');

/** `lenient`: JSON whatever its media type, a form, or nothing, which is an object without fields. */
export function objectBody(request: HttpRequest, { bodyLimit, lenient }: RouteInput): Parsed<unknown> {
  if (lenient !== true) return jsonBody(request, bodyLimit);
  if (isForm(request)) return formBody(request, bodyLimit);
  return rawBody(request)?.length === 0 ? { ok: true, value: {} } : jsonBody(request, bodyLimit, lenient);
}

/** The body as JSON: 413, 415 and 400 (RFC 8259; UTF-8 only) in that order. `lenient`: whatever its media type. */
function jsonBody(request: HttpRequest, limit = BODY_BYTES, lenient = false): Parsed<unknown> {
  const { body } = request;
  if (body === 'too_large') return { ok: false, error: tooLarge(limit) };
  if (body === 'late') return invalid('request_timeout');
  if (body === 'in_pieces') return tooManyPieces();
  if (!lenient && mediaType(request) !== 'application/json') return invalid('unsupported_media_type');
  if (isCompressed(request)) return compressed();
  if (body === 'cut_short') return invalid('invalid_json', 'The request body ended early.');
  if (!Buffer.isBuffer(body) || body.length === 0)
    return invalid('invalid_json', 'The request body is empty; send a JSON object.');
  if (!isUtf8(body)) return invalid('invalid_json', 'The request body is not valid UTF-8.');
  try {
    return { ok: true, value: JSON.parse(withoutMark(body.toString('utf8'))) };
  } catch (error) {
    return invalid('invalid_json', `The request body is not valid JSON: ${positionOf(String(error))}`);
  }
}

/** A byte order mark may be ignored (RFC 8259, section 8.1); some clients write one. */
export const withoutMark = (text: string): string => (text.startsWith('\u{FEFF}') ? text.slice(1) : text);

const FORM_TYPE = 'application/x-www-form-urlencoded';
export const isForm = (request: HttpRequest): boolean => mediaType(request) === FORM_TYPE;

/** Empty where it did not arrive whole. */
export const formText = (request: HttpRequest): string => rawBody(request)?.toString('utf8') ?? '';

/** The fields of a form, each with its last value. */
function formBody(request: HttpRequest, limit = BODY_BYTES): Parsed<unknown> {
  const { body } = request;
  if (body === 'too_large') return { ok: false, error: tooLarge(limit) };
  if (body === 'late') return invalid('request_timeout');
  if (body === 'in_pieces') return tooManyPieces();
  if (!Buffer.isBuffer(body)) return invalid('malformed_request', 'The request body ended early.');
  return { ok: true, value: Object.fromEntries(new URLSearchParams(body.toString('utf8'))) };
}

/** The parser's message names the position; its quote of the body is cut. */
const positionOf = (message: string): string => {
  const position = /position (\d+)/.exec(message);
  return position ? `syntax error at character ${position[1]}.` : 'it ends early or has an unexpected character.';
};

/** The body as it arrives: 413 and 415; the stream fails with the same 413 once it is longer than its route takes. */
export function streamBody(
  request: HttpRequest,
  { stream: types, anyType, tooLarge: code }: StreamBody,
  limit = BODY_BYTES,
) {
  if (request.body === 'too_large') return { ok: false, error: tooLarge(limit, code) } as const;
  if (anyType !== true && !types.includes(mediaType(request)))
    return invalid('unsupported_media_type', `The request body must be sent as ${types.join(' or ')}.`);
  if (isCompressed(request)) return compressed();
  return { ok: true, value: new ArrivingBody(request.raw, limit, () => tooLarge(limit, code)) } as const;
}
