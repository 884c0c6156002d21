import { isUtf8 } from 'node:buffer';
import { parse } from 'node:querystring';
import Type, { type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Decoded, Decoding, Read, RefusedFields } from '../../contract/schema.ts';
import { fromIso } from '../../kernel/clock.ts';
import { encodingNamed } from '../../kernel/encoding-names.ts';
import { ApiError, type ErrorCode, type ErrorDetails } from '../../kernel/errors.ts';
import { deliverabilitiesIn } from '../../kernel/facts/deliverability-choice.ts';
import { BODY_BYTES, UNKNOWN_NAME_SHOWN, WARNINGS_MAX } from '../../kernel/facts/limits.ts';
import { grouped, kibibytes } from '../../kernel/format.ts';
import { canonicalIp } from '../../kernel/ip.ts';
import { nearest } from '../../kernel/nearest.ts';
import { UNSAFE_CHARACTERS } from '../../service/link-text.ts';
import { type HttpRequest, headerCount, type Params } from '../exchange.ts';
import { type AnyInput, hasWarnings, type Route, type RouteInput, type StreamBody, scopeOf } from '../route.ts';
import { ArrivingBody, whenLate } from './arrival.ts';
/** A body that is read whole comes in so many pieces at most. */
export const PIECES_MAX = 1_000;

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
  /** This problem is reported: a 400 comes before a 422. */
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
  const { body, maxBodyBytes } = input;
  if (body === undefined) return nothingRead;
  if ('stream' in body) {
    return (request) => streamBody(request, body, maxBodyBytes);
  }
  const read = jsonReader(body);
  return (request) => {
    const json = objectBody(request, input);
    return json.ok ? read(json.value) : json;
  };
}

/** Such a number is below the largest exact integer even as a page times its size. */
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
 * A reader of fields that a handler finds in a streamed body, of the same schema as a query. Throws ApiError. `warn`
 * is called with a warning for each unknown one.
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
    // Both have the same length, as a blank and a plus are one character each.
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
export function bodyArrived(
  request: HttpRequest,
  { body, maxBodyBytes = BODY_BYTES }: RouteInput,
): Promise<void> | null {
  if (request.body !== null) return null;
  // A body that announces itself as too large need not arrive to be refused.
  const announcedTooLarge = Number(request.headers['content-length'] ?? 0) > maxBodyBytes;
  if (announcedTooLarge) request.body = 'too_large';
  else if (body === undefined || !('stream' in body)) return collect(request, maxBodyBytes);
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
export function objectBody(request: HttpRequest, { maxBodyBytes, lenient }: RouteInput): Parsed<unknown> {
  if (lenient !== true) return jsonBody(request, maxBodyBytes);
  if (isForm(request)) return formBody(request, maxBodyBytes);
  return rawBody(request)?.length === 0 ? { ok: true, value: {} } : jsonBody(request, maxBodyBytes, lenient);
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

/** What a request is checked against as a whole: of items with an error of their own, only how many there are. */
const wholeSchema = <T extends TSchema>(schema: T): T => {
  const properties = Object.entries(propertiesOf(schema));
  if (!properties.some(([, property]) => '~rows' in property)) return schema;
  const checked = properties.map(([name, property]) => [
    name,
    '~rows' in property ? { ...property, items: {} } : property,
  ]);
  return { ...schema, properties: Object.fromEntries(checked) };
};

export const NO_WARNINGS: readonly string[] = [];

/** Returns the property that each other name of one stands for. */
const alsoCalled = (properties: Readonly<Record<string, object>>): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(properties).flatMap(([name, property]) =>
      '~also' in property && Array.isArray(property['~also'])
        ? property['~also'].map((also) => [String(also), name] as const)
        : [],
    ),
  );

/**
 * Tells of the properties of an object that a schema does not have, at most WARNINGS_MAX of them. `noun`: what they are
 * called. `but`: names that do not count.
 */
function unknownFields(
  schema: TSchema,
  noun: 'field' | 'parameter',
  but: readonly string[] = [],
): (sent: object) => readonly string[] {
  const properties: Readonly<Record<string, object>> = Object('properties' in schema ? schema.properties : {});
  const names = Object.keys(properties);
  const known: ReadonlySet<string> = new Set([...names, ...but]);
  const meant = alsoCalled(properties);
  const spellings = [...names, ...meant.keys()];

  const warningOf = (name: string): string => {
    const close = nearest(name, spellings);
    const suggestion = close === null ? '.' : `; did you mean "${meant.get(close) ?? close}"?`;
    return `Unknown ${noun} ${JSON.stringify(name.slice(0, UNKNOWN_NAME_SHOWN))}${suggestion}`;
  };

  return (sent) => {
    let unknown: string[] | null = null;
    for (const name in sent) {
      if (known.has(name)) continue;
      unknown ??= [];
      unknown.push(name);
    }
    if (unknown === null) return NO_WARNINGS;
    const warnings = unknown.slice(0, WARNINGS_MAX).map(warningOf);
    const rest = unknown.length - warnings.length;
    if (rest > 0) warnings.push(`${grouped(rest)} more unknown ${noun}s are not listed.`);
    return warnings;
  };
}

/** `warnings`: of properties that the schema does not have; absent where there are none. */
export type Parsed<T> = { ok: true; value: T; warnings?: readonly string[] } | { ok: false; error: ApiError };

export const invalid = (code: ErrorCode, message?: string, details?: ErrorDetails): { ok: false; error: ApiError } => ({
  ok: false,
  error: new ApiError(code, message, details),
});

/** Null for a text that cannot be decoded. */
type Decoders = { readonly [D in Decoding]: (text: string) => Decoded[D] | null };

/** What a property's schema says of itself, for its reader. */
interface PropertyNotes {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly default?: unknown;
  /** The error has this message. */
  readonly 'x-error'?: string;
  /** The error has this code; `invalid_parameter` is the default. */
  readonly 'x-code'?: ErrorCode;
  readonly '~decode'?: Decoding;
  /** The value may be one of these. */
  readonly anyOf?: readonly PropertyNotes[];
}

const propertiesOf = (schema: object): Readonly<Record<string, PropertyNotes>> =>
  'properties' in schema ? (schema.properties as Record<string, PropertyNotes>) : {};

type JsonObject = Record<string, unknown>;
const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * A reader for JSON objects of one schema. Nothing is coerced, nothing is stripped: `{"email": false}` is refused, not
 * read as "false". Where several properties are wrong, a missing one comes first, then a 400 before a 422. Defaults are
 * filled in and texts decoded in the object itself. A schema with `~wrapper` also takes `{"<wrapper>": {…}}`, all or
 * some of it. What the schema does not know changes nothing.
 */
function objectReader<T extends TSchema>(schema: T, decoders: Decoders): (value: unknown) => Parsed<Read<T>> {
  // Compiling takes milliseconds that the start of the process need not wait for.
  let validator: ReturnType<typeof Compile> | undefined;
  const properties = propertiesOf(schema);
  const wrapper = '~wrapper' in schema ? String(schema['~wrapper']) : null;
  const strict = '~strict' in schema && Array.isArray(schema['~strict']) ? schema['~strict'].map(String) : null;
  const unknown = unknownFields(schema, 'field', strict ?? []);
  const refused = refusedFields(schema);
  const defaults = Object.entries(properties).filter(([, { default: value }]) => value !== undefined);
  const decodings = Object.entries(properties).flatMap(([name, { '~decode': decoding }]) =>
    decoding === undefined ? [] : [{ name, decode: decoders[decoding] }],
  );

  /** Decodes in place; the names of what could not be. */
  const decode = (object: JsonObject): string[] => {
    const failed: string[] = [];
    for (const { name, decode: decoder } of decodings) {
      const text = object[name];
      if (typeof text !== 'string') continue;
      const value = decoder(text);
      if (value === null) failed.push(name);
      else object[name] = value;
    }
    return failed;
  };

  return (value) => {
    const sent = wrapper === null ? value : unwrappedObject(value, wrapper);
    if (!isJsonObject(sent)) return invalid('invalid_json', 'The request body must be a JSON object.');
    validator ??= Compile(wholeSchema(schema));
    const errors = validator.Check(sent) ? [] : validator.Errors(sent);
    const missing = errors.find((e) => e.keyword === 'required' && e.instancePath === '');
    // What is missing further in makes the property around it a wrong one.
    if (missing?.keyword === 'required') return missingParameter(missing.params.requiredProperties[0] ?? '');
    const undecoded = decode(sent);
    if (errors.length + undecoded.length > 0) {
      const wrong = errors.map(({ instancePath }) => propertyAt(instancePath, properties));
      return wrongParameter([...wrong, ...undecoded.map((field) => ({ field, notes: properties[field] }))]);
    }
    const refusal = refused(sent);
    if (refusal !== null) return refusal;
    for (const [name, notes] of defaults) sent[name] ??= notes.default;
    const warnings = unknown(sent);
    if (strict !== null && warnings.length > 0) {
      const field = Object.keys(sent).find((name) => !Object.hasOwn(properties, name) && !strict.includes(name));
      return invalid('invalid_parameter', warnings.join(' '), { field: (field ?? '').slice(0, UNKNOWN_NAME_SHOWN) });
    }
    const read = sent as Read<T>;
    return warnings.length === 0 ? { ok: true, value: read } : { ok: true, value: read, warnings };
  };
}

/** Says which field of an object is refused; null: none is. */
function refusedFields(schema: TSchema): (sent: JsonObject) => ReturnType<typeof invalid> | null {
  const fields = '~refused' in schema ? schema['~refused'] : null;
  if (!(fields instanceof Map)) return () => null;
  const table: ReadonlyMap<string, RefusedFields[string]> = fields;
  const decisive = '~decisive' in schema && Array.isArray(schema['~decisive']) ? schema['~decisive'].map(String) : [];
  const properties = propertiesOf(schema);
  const spellings = [...Object.keys(properties), ...alsoCalled(properties).keys()];
  return (sent) => {
    for (const field in sent) {
      if (Object.hasOwn(properties, field)) continue;
      const close = nearest(field, spellings);
      const misspelled =
        close !== null && decisive.includes(close) ? { harmless: [], instead: `write "${close}"` } : undefined;
      const row = table.get(field) ?? table.get(field.toLowerCase()) ?? misspelled;
      const value = sent[field];
      const changesNothing = (harmless: unknown) =>
        harmless === value || (Array.isArray(harmless) && Array.isArray(value) && value.length === 0);
      if (row === undefined || row.harmless.some(changesNothing)) continue;
      return invalid('invalid_filter', `${field} cannot be set here, and is not ignored: ${row.instead}.`, { field });
    }
    return null;
  };
}

/** Returns the object in the wrapper, with what is beside it. */
function unwrappedObject(value: unknown, wrapper: string): unknown {
  if (!isJsonObject(value) || !Object.hasOwn(value, wrapper)) return value;
  const { [wrapper]: inner, ...beside } = value;
  return isJsonObject(inner) ? { ...beside, ...inner } : inner;
}

const missingParameter = (field: string) =>
  invalid('missing_parameter', `The parameter "${field}" is missing.`, { field });

/** A property, `read.delimiter` where it is one of an object, with what its schema says. */
interface NotedProperty {
  readonly field: string;
  readonly notes: PropertyNotes | undefined;
}

/** The deepest property on the path (RFC 6901) that has a message of its own. */
function propertyAt(path: string, properties: Readonly<Record<string, PropertyNotes>>): NotedProperty {
  const [field = '', ...below] = path.split('/').slice(1);
  let found: NotedProperty = { field, notes: properties[field] };
  for (const name of below) {
    const notes = found.notes && ownNotes(propertiesOf(found.notes)[name]);
    if (notes?.['x-error'] === undefined) break;
    found = { field: `${found.field}.${name}`, notes };
  }
  return found;
}

/** If a property may be null, these are the notes of what else it may be. */
const ownNotes = (notes: PropertyNotes | undefined): PropertyNotes | undefined =>
  notes?.['x-error'] === undefined ? (notes?.anyOf?.find((one) => one['x-error'] !== undefined) ?? notes) : notes;

function wrongParameter(wrong: readonly NotedProperty[]) {
  const found = wrong.map(
    ({ field, notes }) => ({ field, notes, code: notes?.['x-code'] ?? 'invalid_parameter' }) as const,
  );
  const first = found.find(({ code }) => code === 'invalid_parameter') ?? found[0];
  const field = first?.field ?? '';
  return invalid(first?.code ?? 'invalid_parameter', fieldMessage(field, first?.notes), { field });
}

/** The property's own message, or one made of its values. */
const fieldMessage = (field: string, notes: PropertyNotes = {}): string =>
  notes['x-error'] ??
  (notes.enum ? `${field} must be one of ${notes.enum.join(', ')}.` : `The parameter "${field}" has an invalid value.`);
