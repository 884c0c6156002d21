import { isUtf8 } from 'node:buffer';
import { parse } from 'node:querystring';
import Type, { type TSchema } from 'typebox';
import {
  type Decoders,
  fieldMessage,
  invalid,
  NO_WARNINGS,
  objectReader,
  type Parsed,
  type PropertyNotes,
  propertiesOf,
  unknownFields,
} from '../../contract/reader.ts';
import type { Read } from '../../contract/schema.ts';
import { fromIso } from '../../kernel/clock.ts';
import { PIECES_MAX } from '../../kernel/costs.ts';
import { encodingNamed } from '../../kernel/encoding-names.ts';
import { ApiError, type ErrorCode } from '../../kernel/errors.ts';
import { deliverabilitiesIn } from '../../kernel/facts/deliverability-choice.ts';
import { BODY_BYTES } from '../../kernel/facts/limits.ts';
import { kibibytes } from '../../kernel/format.ts';
import { canonicalIp } from '../../kernel/ip.ts';
import { UNSAFE_CHARACTERS } from '../../service/link-text.ts';
import type { HttpRequest, Params } from '../exchange.ts';
import { headerCount } from '../exchange.ts';
import { type AnyInput, hasWarnings, type Route, type RouteInput, type StreamBody, scopeOf } from '../route.ts';
import { ArrivingBody, whenLate } from './arrival.ts';

/** What no id and no name has, and what a store could not return unchanged: control characters, lone surrogates. */
const hasControls = (text: string): boolean => /[\p{Cc}\p{Cs}]/u.test(text);

const DECODERS: Decoders = {
  instant: fromIso,
  ip: canonicalIp,
  printable: (text) => (/^[\x20-\x7e]*$/.test(text) ? text : null),
  deliverabilities: deliverabilitiesIn,
  encoding: encodingNamed,
  plain: (text) => (text.search(UNSAFE_CHARACTERS) === -1 ? text : null),
};

/** Reads JSON objects of one schema, as `objectReader` does. */
export const jsonReader = <T extends TSchema>(schema: T) => objectReader(schema, DECODERS);

/** Everything a row declares as its input. `input` is complete where `problem` is null. */
export interface InputReading {
  readonly input: AnyInput;
  /** Holds the one to report: a 400 before a 422. */
  readonly problem: ApiError | null;
  /** The headers alone: an Idempotency-Key counts even where the rest is not valid. */
  readonly headers: Parsed<unknown>;
}
type ReadInput = (request: HttpRequest) => Promise<InputReading>;

type RequestPart = (request: HttpRequest) => Parsed<unknown>;
const ABSENT_PART: Parsed<unknown> = { ok: true, value: undefined };
const nothingRead: RequestPart = () => ABSENT_PART;

/** Makes the reader of a row's input, generated from its schemas. */
export function inputReader(route: Pick<Route, 'access' | 'input' | 'method' | 'output'>): ReadInput {
  const { access, input = {} } = route;
  // The dashboard rejects control characters in a query; on `/v1` they match nothing.
  const refusesControls = scopeOf(access) === null;
  const readParams = input.params ? paramsReader(input.params) : textParams;
  const querySchema = input.query ?? (hasWarnings(route) ? NO_PARAMETERS : undefined);
  const readQuery = querySchema ? queryReader(querySchema, refusesControls) : nothingRead;
  const readBody = bodyReader(input);
  const readHeaders = input.headers ? headerReader(input.headers) : nothingRead;
  const readIgnored = hasWarnings(route) && route.method !== 'GET' && !input.headers ? ignoredKey : noneIgnored;
  // An Idempotency-Key is bound to the bytes of the body, also where a route has no use for one.
  const needsBody = input.body !== undefined || input.headers !== undefined;
  return async (request) => {
    const arriving = needsBody ? bodyArrived(request, input) : null;
    if (arriving !== null) await arriving;
    const params = readParams(request);
    const query = params.ok ? readQuery(request) : ABSENT_PART;
    const body = params.ok && query.ok ? readBody(request) : ABSENT_PART;
    const headers = readHeaders(request);
    const main = params.ok ? (query.ok ? body : query) : params;
    return {
      input: {
        params: valueOfPart(params),
        query: valueOfPart(query),
        body: valueOfPart(body),
        headers: valueOfPart(headers),
        warnings: joinedWarnings(joinedWarnings(warningsIn(query), warningsIn(body)), readIgnored(request)),
      },
      problem: firstProblem(main, headers),
      headers,
    };
  };
}

/** Whoever sends the header would otherwise trust that a repeated request changes nothing. */
const KEY_IGNORED = ['Idempotency-Key does not apply to this request.'];
const ignoredKey = ({ headers }: HttpRequest) => (headers['idempotency-key'] === undefined ? NO_WARNINGS : KEY_IGNORED);
const noneIgnored = () => NO_WARNINGS;

const NO_PARAMETERS = Type.Object({});
const warningsIn = (parsed: Parsed<unknown>): readonly string[] => (parsed.ok && parsed.warnings) || NO_WARNINGS;
const joinedWarnings = (some: readonly string[], more: readonly string[]): readonly string[] =>
  some.length === 0 ? more : more.length === 0 ? some : [...some, ...more];

const valueOfPart = (parsed: Parsed<unknown>): unknown => (parsed.ok ? parsed.value : undefined);

/** A problem of a header (400) comes with those of the rest, before what is 422 there. */
function firstProblem(main: Parsed<unknown>, headers: Parsed<unknown>): ApiError | null {
  if (!main.ok && main.error.status !== 422) return main.error;
  if (!headers.ok) return headers.error;
  return main.ok ? null : main.error;
}

function bodyReader(input: RouteInput): RequestPart {
  const { body, bodyLimit } = input;
  if (body === undefined) return nothingRead;
  if ('stream' in body) {
    return (request) => streamBody(request, body, bodyLimit);
  }
  const read = jsonReader(body);
  return (request) => {
    const json = objectBody(request, input);
    return json.ok ? read(json.value) : json;
  };
}

/** Below the largest exact integer even as a page times its size. */
const WHOLE_NUMBER = /^-?\d{1,13}$/;
const fromText = (text: string, { type }: PropertyNotes): string | number =>
  type === 'integer' && WHOLE_NUMBER.test(text) ? Number(text) : text;

/**
 * Each parameter at most once, since a repeated one is ambiguous; then whatever the schema says. An empty one is not
 * there: forms send those that nobody has filled in.
 */
function queryReader(schema: TSchema, refusesControls: boolean): RequestPart {
  const fields = Object.entries(propertiesOf(schema));
  const read = jsonReader(schema);
  const unknown = unknownFields(schema, 'parameter');
  return (request) => {
    const sent = request.query;
    const values: Record<string, unknown> = {};
    const understood: string[] = [];
    for (const [field, notes] of fields) {
      const text = sent[field];
      if (text === undefined) continue;
      if (typeof text !== 'string') return repeated(field);
      if (text === '') continue;
      if (refusesControls && hasControls(text))
        return invalid('invalid_parameter', `${field} must not have control characters.`, { field });
      const meant = withPluses(request.url.slice(request.url.indexOf('?') + 1), field, text, 'blank');
      if (meant !== text) understood.push(`${field} was read as ${JSON.stringify(meant)}: write + as %2B.`);
      values[field] = fromText(meant, notes);
    }
    const parsed = read(values);
    const warnings = [...unknown(sent), ...understood];
    return parsed.ok && warnings.length > 0 ? { ...parsed, warnings } : parsed;
  };
}
const repeated = (field: string) => invalid('invalid_parameter', `${field} was sent more than once.`, { field });

/**
 * A reader of fields that a handler finds in a streamed body, of the same schema as a query. Throws ApiError. `warn`:
 * told of unknown ones.
 */
export function fieldsReader<T extends TSchema>(
  schema: T,
): (sent: Iterable<readonly [string, string]>, warn: (warnings: readonly string[]) => void) => Read<T> {
  const notes = new Map(Object.entries(propertiesOf(schema)));
  const read = jsonReader(schema);
  const unknown = unknownFields(schema, 'field');
  return (sent, warn) => {
    const values: Record<string, unknown> = {};
    const others: Record<string, true> = {};
    for (const [field, text] of sent) {
      const note = notes.get(field);
      if (note === undefined) {
        others[field] = true;
        continue;
      }
      if (Object.hasOwn(values, field)) throw repeated(field).error;
      values[field] = fromText(text, note);
    }
    const parsed = read(values);
    if (!parsed.ok) throw parsed.error;
    warn(unknown(others));
    return parsed.value;
  };
}

/** What cannot be an id names nothing, just as an id that does not exist. */
function paramsReader(schema: TSchema): RequestPart {
  const fields = Object.entries(propertiesOf(schema));
  const read = jsonReader(schema);
  return (request) => {
    const sent = request.params;
    const values = Object.fromEntries(fields.map(([name, notes]) => [name, paramOf(sent[name] ?? '', notes)]));
    const parsed = read(values);
    return parsed.ok ? parsed : { ok: false, error: new ApiError('not_found', parsed.error.message) };
  };
}
const paramOf = (text: string, notes: PropertyNotes): string | number =>
  notes.type !== 'integer' || /^[1-9]\d*$/.test(text) ? fromText(text, notes) : text;

/** Parameters of the path, or `not_found` where one has characters that no id has. */
export function textParams({ params }: HttpRequest): Parsed<Params> {
  for (const name in params) if (hasControls(params[name] ?? '')) return invalid('not_found');
  return { ok: true, value: params };
}

/** Names in an error as they are usually written: `Idempotency-Key`. */
const headerName = (name: string): string => name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());

const NO_HEADERS: Parsed<unknown> = { ok: true, value: {} };

/** Headers are optional: each may be sent once. */
function headerReader(schema: TSchema): RequestPart {
  const fields = Object.entries(propertiesOf(schema));
  const read = jsonReader(schema);
  return (request) => {
    if (fields.every(([name]) => request.headers[name] === undefined)) return NO_HEADERS;
    const values: Record<string, unknown> = {};
    for (const [name, notes] of fields) {
      const value = request.headers[name];
      if (value === undefined) continue;
      if (typeof value !== 'string' || headerCount(request.raw, name) !== 1) return wrongHeader(name, notes);
      values[name] = value;
    }
    const parsed = read(values);
    if (parsed.ok) return parsed;
    const name = parsed.error.details.field ?? '';
    return wrongHeader(name, propertiesOf(schema)[name]);
  };
}

function wrongHeader(name: string, notes: PropertyNotes | undefined) {
  const field = headerName(name);
  return invalid('invalid_parameter', fieldMessage(field, notes), { field });
}

/** What has a meaning of its own around an address, such as a name before it; within quotes a blank is a blank. */
const NOT_PLAIN = /["<>(),:;]/;

/**
 * An address from a query or a form, where `+` stands for a blank (application/x-www-form-urlencoded, WHATWG URL §5.1).
 * Many clients put an address into a URL as it is, and an unquoted local part has no blanks (RFC 5321 §4.1.2), so a
 * blank there that was sent as `+` is a plus. `encoded`: the query or form; `text`: the parameter as it was decoded. A
 * client that encodes `@` may mean blanks around an address; `encodes`: what it means by `+` within one.
 */
export function withPluses(encoded: string, field: string, text: string, encodes: 'plus' | 'blank'): string {
  const at = text.lastIndexOf('@');
  if (at < 0 || !text.includes(' ') || NOT_PLAIN.test(text.slice(0, at))) return text;
  for (const part of encoded.split('&')) {
    if (!part.includes('+') || parse(part)[field] !== text) continue;
    const isEncoded = part.includes('%40', part.indexOf('='));
    if (isEncoded && encodes === 'blank') return text;
    // Of the same length: both a blank and a plus are one character.
    const kept = String(parse(part.replaceAll('+', '%2B'))[field]);
    const start = isEncoded ? text.length - text.trimStart().length : 0;
    return text.slice(0, start) + kept.slice(start, at) + text.slice(at);
  }
  return text;
}

const bodyTooLarge = (limit: number, code: ErrorCode = 'body_too_large'): ApiError =>
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
    // The first one is taken, and later ones change nothing.
    const give = (body: HttpRequest['body']) => {
      request.body ??= body;
      resolve();
    };
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    const onData = (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes > limit) stop('too_large');
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

/** Reads the body as JSON: 413, 415 and 400 (RFC 8259; UTF-8 only) in that order. `lenient` takes any media type. */
function jsonBody(request: HttpRequest, limit = BODY_BYTES, lenient = false): Parsed<unknown> {
  const { body } = request;
  if (body === 'too_large') return { ok: false, error: bodyTooLarge(limit) };
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
    return invalid('invalid_json', `The request body is not valid JSON: ${errorPosition(String(error))}`);
  }
}

/** A byte order mark may be ignored (RFC 8259, section 8.1); some clients write one. */
export const withoutMark = (text: string): string => (text.startsWith('\u{FEFF}') ? text.slice(1) : text);

const FORM_TYPE = 'application/x-www-form-urlencoded';
export const isForm = (request: HttpRequest): boolean => mediaType(request) === FORM_TYPE;

/** Empty where it did not arrive whole. */
export const formText = (request: HttpRequest): string => rawBody(request)?.toString('utf8') ?? '';

/** Reads the fields of a form, each with its last value. */
function formBody(request: HttpRequest, limit = BODY_BYTES): Parsed<unknown> {
  const { body } = request;
  if (body === 'too_large') return { ok: false, error: bodyTooLarge(limit) };
  if (body === 'late') return invalid('request_timeout');
  if (body === 'in_pieces') return tooManyPieces();
  if (!Buffer.isBuffer(body)) return invalid('malformed_request', 'The request body ended early.');
  return { ok: true, value: Object.fromEntries(new URLSearchParams(body.toString('utf8'))) };
}

/** The parser's message names the position; its quote of the body is cut. */
const errorPosition = (message: string): string => {
  const position = /position (\d+)/.exec(message);
  return position ? `syntax error at character ${position[1]}.` : 'it ends early or has an unexpected character.';
};

/** The body as it arrives: 413 and 415; the stream fails with the same 413 once it is longer than its route takes. */
export function streamBody(
  request: HttpRequest,
  { stream: types, anyType, tooLarge: code }: StreamBody,
  limit = BODY_BYTES,
) {
  if (request.body === 'too_large') return { ok: false, error: bodyTooLarge(limit, code) } as const;
  if (anyType !== true && !types.includes(mediaType(request)))
    return invalid('unsupported_media_type', `The request body must be sent as ${types.join(' or ')}.`);
  if (isCompressed(request)) return compressed();
  return { ok: true, value: new ArrivingBody(request.raw, limit, () => bodyTooLarge(limit, code)) } as const;
}
