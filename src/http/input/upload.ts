/** An upload has one of three forms: a multipart form, the file itself, a JSON object. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy } from '@fastify/busboy';
import { ListUpload } from '../../contract/lists.ts';
import type { Read } from '../../contract/schema.ts';
import { encodingNamed } from '../../kernel/encoding-names.ts';
import { ApiError } from '../../kernel/errors.ts';
import { LIST_BYTES, LIST_JSON_BYTES, LIST_UPLOAD_EXTRA_BYTES, UNKNOWN_NAME_SHOWN } from '../../kernel/facts/limits.ts';
import type { UploadRequest } from '../../service/lists/service.ts';
import { type Spooled, spooled } from '../../service/lists/spooled.ts';
import type { HttpRequest } from '../exchange.ts';
import { JsonList } from './json-list.ts';
import { readChoiceOf } from './read-choice.ts';
import { fieldsReader, mediaType } from './reader.ts';

const MULTIPART = 'multipart/form-data';
const JSON_BODY = 'application/json';

/** Any other type, or none: the body is the file, and what it is is found out from its content. */
export const UPLOAD_TYPES: readonly string[] = [MULTIPART, JSON_BODY, 'text/csv', 'application/octet-stream'];

type UploadFields = Read<typeof ListUpload>;
const readUploadFields = fieldsReader(ListUpload);

/** Called with fields that an upload does not have. */
type Warn = (warnings: readonly string[]) => void;

/** Reads the body to its end. `query`: fields that the body may repeat. */
export async function readUpload(
  request: HttpRequest,
  body: Readable,
  query: UploadFields,
  warn: Warn = () => undefined,
): Promise<UploadRequest> {
  const sent = await readFileUpload(request, body, { query, readFields: readUploadFields, maxBytes: LIST_BYTES }, warn);
  const { name, charset, fields, isObject, ...file } = sent;
  if (!isObject) return { ...uploadOptions(fields), ...file, fileName: name, sentAs: { form: null, charset } };
  try {
    return await jsonUpload(file.input, query, warn);
  } finally {
    await file.close();
  }
}

interface FileUpload<F> extends Spooled {
  /** Names the part of a form. */
  readonly name: string | null;
  /** The charset comes from the media type of the upload. */
  readonly charset: string | null;
  /** The fields come from the query and the form. */
  readonly fields: F;
  /** Whether it was sent as JSON, and is no array. */
  readonly isObject: boolean;
}

interface UploadRules<F> {
  readonly query: F;
  readonly readFields: (sent: Iterable<readonly [string, string]>, warn: Warn) => F;
  readonly maxBytes: number;
}

/** A file as the body, whatever its type, or as a part of a form with the other fields. Reads the body to its end. */
export async function readFileUpload<F>(
  request: HttpRequest,
  body: Readable,
  rules: UploadRules<F>,
  warn: Warn,
): Promise<FileUpload<F>> {
  const type = mediaType(request);
  if (type === MULTIPART) return multipartUpload(request, body, rules, warn);
  const file = await spooled(body, rules.maxBytes);
  const isObject = type === JSON_BODY && !(await isArray(file));
  return { ...file, name: null, charset: charsetOf(request), fields: rules.query, isObject };
}

/** A parameter of a media type; null: it has none, or one that is no encoding. */
const charsetOf = ({ headers }: HttpRequest): string | null => {
  const [, label = ''] = /;\s*charset="?([\w:.-]+)/i.exec(headers['content-type'] ?? '') ?? [];
  return encodingNamed(label);
};

/** Blanks and a byte order mark may be before it. */
async function isArray({ input: { file } }: Spooled): Promise<boolean> {
  return /^[\s\u{FEFF}]*\[/u.test((await file.read(0, LIST_UPLOAD_EXTRA_BYTES)).toString('utf8'));
}

const uploadOptions = ({ name, validation_type, policy, dedupe, start, ...rest }: UploadFields) => {
  const { retry_minutes, patience_minutes, ...read } = rest;
  return {
    name,
    policy,
    level: validation_type,
    read: readChoiceOf(read),
    dedupe,
    start: start === undefined ? undefined : start === 'true',
    retryMinutes: retry_minutes ?? patience_minutes,
  };
};

async function multipartUpload<F>(
  request: HttpRequest,
  body: Readable,
  { query, readFields: fieldsIn, maxBytes }: UploadRules<F>,
  warn: Warn,
): Promise<FileUpload<F>> {
  const boundary = boundaryOf(request.headers['content-type'] ?? '');
  if (boundary === null) throw new ApiError('malformed_request', 'The multipart Content-Type has no valid boundary.');
  const files: SentFile[] = [];
  try {
    const texts = await readForm(body, {
      boundary,
      file: FILE,
      fieldBytes: LIST_UPLOAD_EXTRA_BYTES,
      // Its options may come after it.
      take: async ({ field, name, body: content }) => {
        files.push({ ...(await spooled(content, maxBytes)), field, name });
      },
    });
    const file = theFile(files, warn);
    // As in a query, an empty field is not filled in.
    const filled = texts.filter(([, text]) => text !== '');
    const fields = { ...query, ...fieldsIn(filled, warn) };
    await closeAll(files.filter((other) => other !== file));
    return { input: file.input, close: file.close, name: file.name, charset: null, fields, isObject: false };
  } catch (error) {
    await closeAll(files);
    throw error;
  }
}

/** The part that is the file. */
const FILE = 'file';
type SentFile = Spooled & { readonly field: string; readonly name: string | null };
const closeAll = (files: readonly SentFile[]) => Promise.all(files.map((file) => file.close()));

/** The one that is called so, or the only one; browsers send empty ones for fields that nobody has filled in. */
function theFile(files: readonly SentFile[], warn: Warn): SentFile {
  const sent = files.filter(({ field, input }) => field === FILE || input.file.sizeBytes > 0);
  const file = sent.find(({ field }) => field === FILE) ?? (sent.length === 1 ? sent[0] : undefined);
  const shown = (field: string) => JSON.stringify(field.slice(0, UNKNOWN_NAME_SHOWN));
  if (file === undefined) {
    const several = sent.length === 0 ? '' : ` Call one of ${sent.map(({ field }) => shown(field)).join(', ')} so.`;
    throw new ApiError('missing_parameter', `The part "${FILE}" is missing.${several}`, { field: FILE });
  }
  if (file.field !== FILE) warn([`The part ${shown(file.field)} was taken for the file: call it "${FILE}".`]);
  const others = sent.filter((other) => other !== file);
  warn(others.map(({ field }) => `The file in the part ${shown(field)} was not read.`));
  return file;
}

async function jsonUpload(body: AsyncIterable<Buffer>, query: UploadFields, warn: Warn): Promise<UploadRequest> {
  const json = new JsonList('emails', LIST_UPLOAD_EXTRA_BYTES);
  const { input, close } = await spooled(json.array(body), LIST_JSON_BYTES);
  try {
    const fields = json.fields();
    if (typeof fields !== 'object' || fields === null)
      throw new ApiError('missing_parameter', 'The parameter "emails" is missing, or not an array.', {
        field: 'emails',
      });
    const texts = Object.entries(fields).flatMap(([name, value]) => fieldTexts(name, value));
    const options = uploadOptions({ ...query, ...readUploadFields(texts, warn) });
    return { ...options, fileName: null, sentAs: { form: 'json', charset: null }, input, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What a field is in JSON; as text, `true` and `false` are in the other forms of an upload as well. */
const JSON_FIELDS: {
  readonly [F in keyof UploadFields]-?: { readonly types: readonly string[]; readonly are: string };
} = {
  name: { types: ['string'], are: 'a string' },
  // Whatever is no level is 422, of whichever type.
  validation_type: { types: [], are: 'a level' },
  policy: { types: ['string'], are: 'a string' },
  dedupe: { types: ['string'], are: 'a string' },
  columns: { types: ['string', 'array'], are: 'a string or an array' },
  column: { types: ['string', 'number'], are: 'a string or a number' },
  header_row: { types: ['number'], are: 'a number' },
  delimiter: { types: ['string'], are: 'a string' },
  encoding: { types: ['string'], are: 'a string' },
  sheet: { types: ['string', 'number'], are: 'a string or a number' },
  entry: { types: ['string'], are: 'a string' },
  header: { types: ['string', 'boolean'], are: '"auto", true or false' },
  start: { types: ['string', 'boolean'], are: 'true or false' },
  retry_minutes: { types: ['number'], are: 'a number' },
  patience_minutes: { types: ['number'], are: 'a number' },
};
const isField = (name: string): name is keyof UploadFields => Object.hasOwn(JSON_FIELDS, name);

function fieldTexts(field: string, value: unknown): [string, string][] {
  if (field === 'emails') return [];
  if (!isField(field)) return [[field, '']];
  if (field === 'validation_type') return [[field, typeof value === 'string' ? value : '']];
  const { types, are } = JSON_FIELDS[field];
  const isArray = Array.isArray(value);
  if (!types.includes(isArray ? 'array' : typeof value))
    throw new ApiError('invalid_parameter', `${field} must be ${are}.`, { field });
  return [[field, isArray ? JSON.stringify(value) : String(value)]];
}

// multipart/form-data (RFC 7578, RFC 2046 §5.1) as it arrives, parsed by busboy: bounded whatever the sender does. A
// part that busboy would skip, because its headers are missing, too long or of another kind, is an error.

interface FormFile {
  /** Names its part. */
  readonly field: string;
  /** The path is removed; null means that the part has no file name. */
  readonly name: string | null;
  /** To be read to its end. */
  readonly body: Readable;
}

interface FormReading {
  readonly boundary: string;
  /** The name of the part that is a file without a file name too; others without one are fields. */
  readonly file: string;
  /** A field has at most this many bytes. */
  readonly fieldBytes: number;
  /** Called for each file; names differ. */
  readonly take: (file: FormFile) => Promise<void>;
}

const PART_HEAD_BYTES = 8 * 1024;
const HEADERS_MAX = 32;
const PARTS_MAX = 32;
const CRLF = Buffer.from('\r\n');
const [CR, TAB, SPACE, DASH] = [0x0d, 0x09, 0x20, 0x2d];
/** A boundary has at most this many blanks behind it. */
const PADDING_BYTES = 512;

const malformedMultipart = (what: string): ApiError => new ApiError('malformed_request', `The multipart body ${what}.`);
const NO_NAME = malformedMultipart('has a part without a name');
const invalidField = (field: string, what: string): ApiError => new ApiError('invalid_parameter', what, { field });

/** The boundary of a Content-Type; null: none, or one that RFC 2046 does not allow. */
function boundaryOf(contentType: string): string | null {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]*)"|([^\s;"]+))\s*(?:;|$)/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain ?? '';
  return /^[\w'()+,\-./:=? ]{0,69}[\w'()+,\-./:=?]$/.test(boundary) ? boundary : null;
}

/** The fields in their order. Throws ApiError, and what the input or `take` throws; then the file has been ended. */
export async function readForm(input: AsyncIterable<Buffer>, reading: FormReading): Promise<[string, string][]> {
  const { boundary, file, fieldBytes, take } = reading;
  const form = new Busboy({
    headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
    isPartAFile: (name, _type, fileName) => name === file || fileName !== undefined,
    limits: { parts: PARTS_MAX, headerSize: PART_HEAD_BYTES, headerPairs: HEADERS_MAX, fieldSize: fieldBytes },
  });
  const fields: [string, string][] = [];
  const taken: { readonly field: string; readonly body: Readable; readonly done: Promise<void> }[] = [];
  /** What went wrong first; busboy's own errors all mean that the end is missing. */
  let failure: unknown = null;
  const fail = (error: unknown): void => {
    failure ??= error;
    form.destroy();
  };
  form.on('partsLimit', () => fail(malformedMultipart(`has more than ${PARTS_MAX} parts`)));
  form.on('field', (name: string | undefined, value, _isNameCut, isCut) => {
    if (name === undefined) fail(NO_NAME);
    else if (isCut) fail(invalidField(name, `The part ${JSON.stringify(name)} is too long.`));
    else fields.push([name, value]);
  });
  form.on('file', (field: string | undefined, body, name: string | undefined) => {
    const again = taken.some((before) => before.field === field);
    if (field === undefined || again) {
      body.on('error', () => {}).resume();
      fail(field === undefined ? NO_NAME : invalidField(field, `${field} was sent more than once.`));
      return;
    }
    let cut: unknown = null;
    body.on('error', (error: unknown) => {
      cut = error;
    });
    // Browsers write a quote as %22 (HTML, "multipart form data").
    const done = take({ field, name: name?.replaceAll('%22', '"') ?? null, body });
    done.catch((error: unknown) => {
      if (error !== cut) fail(error);
    });
    taken.push({ field, body, done });
  });
  const parts = { begun: 0 };
  try {
    await pipeline(Readable.from(withoutPadding(notingFailedRead(input, fail), boundary, parts)), form);
    await Promise.all(taken.map(({ done }) => done));
  } catch {
    failure ??= malformedMultipart('ended early');
  }
  if (failure === null && fields.length + taken.length !== parts.begun)
    failure = malformedMultipart(`has a part without a name, or with headers of more than ${PART_HEAD_BYTES} bytes`);
  if (failure === null) return fields;
  for (const { body } of taken) body.destroy();
  await Promise.allSettled(taken.map(({ done }) => done));
  throw failure;
}

async function* notingFailedRead(input: AsyncIterable<Buffer>, fail: (error: unknown) => void) {
  try {
    yield* input;
  } catch (error) {
    fail(error);
    throw error;
  }
}

/**
 * Blanks may follow a boundary on its line (RFC 2046 §5.1.1, "transport-padding"); busboy takes them for a header.
 * Counts the parts that begin. What follows the last boundary is read and dropped.
 */
async function* withoutPadding(
  input: AsyncIterable<Buffer>,
  boundary: string,
  parts: { begun: number },
): AsyncGenerator<Buffer, void, undefined> {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  // The first boundary need not follow a line.
  let held: Buffer = CRLF;
  let isOver = false;
  for await (const chunk of input) {
    if (isOver) continue;
    held = Buffer.concat([held, chunk]);
    for (let at = held.indexOf(delimiter); at >= 0 && !isOver; at = held.indexOf(delimiter)) {
      const end = at + delimiter.length;
      const behind = afterBlanks(held, end);
      // What follows decides: the end of the line, or two dashes.
      if (held.length < behind + 2) break;
      isOver = held[end] === DASH && held[end + 1] === DASH;
      if (!isOver) parts.begun += 1;
      yield held.subarray(0, isOver ? end + 2 : end);
      held = held.subarray(held[behind] === CR ? behind : end);
    }
    if (isOver || held.includes(delimiter)) continue;
    // The beginning of a boundary may have arrived.
    const sure = held.length - delimiter.length + 1;
    if (sure <= 0) continue;
    yield held.subarray(0, sure);
    held = held.subarray(sure);
  }
  if (!isOver) yield held;
}

function afterBlanks(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && at - from < PADDING_BYTES && (bytes[at] === SPACE || bytes[at] === TAB)) at += 1;
  return at;
}
