/** The three forms of an upload: a multipart form, the file itself, a JSON object. */
import type { Readable } from 'node:stream';
import { ListUpload } from '../../contract/lists.ts';
import type { Read } from '../../contract/schema.ts';
import { encodingNamed } from '../../kernel/encoding-names.ts';
import { ApiError } from '../../kernel/errors.ts';
import { LIST_BYTES, LIST_JSON_BYTES, LIST_UPLOAD_EXTRA_BYTES, UNKNOWN_NAME_SHOWN } from '../../kernel/facts/limits.ts';
import type { UploadRequest } from '../../service/lists/service.ts';
import { type Spooled, spooled } from '../../service/lists/spooled.ts';
import type { HttpRequest } from '../exchange.ts';
import { JsonList } from './json-list.ts';
import { boundaryOf, readForm } from './multipart.ts';
import { readChoice } from './read-choice.ts';
import { fieldsReader, mediaType } from './reader.ts';

const MULTIPART = 'multipart/form-data';
const JSON_BODY = 'application/json';

/** Any other type, or none: the body is the file, and what it is is found out from its content. */
export const UPLOAD_TYPES: readonly string[] = [MULTIPART, JSON_BODY, 'text/csv', 'application/octet-stream'];

type Fields = Read<typeof ListUpload>;
const readFields = fieldsReader(ListUpload);

/** Is told of fields that an upload does not have. */
type Warn = (warnings: readonly string[]) => void;

/** Reads the body to its end. `query`: fields that the body may repeat. */
export async function readUpload(
  request: HttpRequest,
  body: Readable,
  query: Fields,
  warn: Warn = () => undefined,
): Promise<UploadRequest> {
  const type = mediaType(request);
  if (type === MULTIPART) return multipartUpload(request, body, query, warn);
  const file = await spooled(body, LIST_BYTES);
  if (type !== JSON_BODY || (await isArray(file))) return fileUpload(file, query, charsetOf(request));
  try {
    return await jsonUpload(file.input, query, warn);
  } finally {
    await file.close();
  }
}

const fileUpload = (file: Spooled, query: Fields, charset: string | null): UploadRequest => ({
  ...{ ...optionsOf(query), ...file, fileName: null, sentAs: { form: null, charset } },
});

/** A parameter of a media type; null: it has none, or one that is no encoding. */
const charsetOf = ({ headers }: HttpRequest): string | null => {
  const [, label = ''] = /;\s*charset="?([\w:.-]+)/i.exec(headers['content-type'] ?? '') ?? [];
  return encodingNamed(label);
};

/** Blanks and a byte order mark may stand before it. */
async function isArray({ input: { file } }: Spooled): Promise<boolean> {
  return /^[\s\u{FEFF}]*\[/u.test((await file.read(0, LIST_UPLOAD_EXTRA_BYTES)).toString('utf8'));
}

const optionsOf = ({ name, validation_type, policy, dedupe, start, patience_minutes, ...read }: Fields) => ({
  ...{ name, policy, level: validation_type, patienceMinutes: patience_minutes, read: readChoice(read), dedupe },
  start: start === undefined ? undefined : start === 'true',
});

async function multipartUpload(
  request: HttpRequest,
  body: Readable,
  query: Fields,
  warn: Warn,
): Promise<UploadRequest> {
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
        files.push({ ...(await spooled(content, LIST_BYTES)), field, name });
      },
    });
    const file = theFile(files, warn);
    // As in a query, an empty field is not filled in.
    const filled = texts.filter(([, text]) => text !== '');
    const options = optionsOf({ ...query, ...readFields(filled, warn) });
    await closeAll(files.filter((other) => other !== file));
    const sentAs = { form: null, charset: null };
    return { ...options, fileName: file.name, sentAs, input: file.input, close: file.close };
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
  const sent = files.filter(({ field, input }) => field === FILE || input.file.size > 0);
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

async function jsonUpload(body: AsyncIterable<Buffer>, query: Fields, warn: Warn): Promise<UploadRequest> {
  const json = new JsonList('emails', LIST_UPLOAD_EXTRA_BYTES);
  const { input, close } = await spooled(json.array(body), LIST_JSON_BYTES);
  try {
    const fields = json.fields();
    if (typeof fields !== 'object' || fields === null)
      throw new ApiError('missing_parameter', 'The parameter "emails" is missing, or not an array.', {
        field: 'emails',
      });
    const texts = Object.entries(fields).flatMap(([name, value]) => textOf(name, value));
    const options = optionsOf({ ...query, ...readFields(texts, warn) });
    return { ...options, fileName: null, sentAs: { form: 'json', charset: null }, input, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What a field is in JSON; as text, `true` and `false` stand in the other forms of an upload as well. */
const JSON_FIELDS: { readonly [F in keyof Fields]-?: { readonly types: readonly string[]; readonly are: string } } = {
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
  patience_minutes: { types: ['number'], are: 'a number' },
};
const isField = (name: string): name is keyof Fields => Object.hasOwn(JSON_FIELDS, name);

function textOf(field: string, value: unknown): [string, string][] {
  if (field === 'emails') return [];
  if (!isField(field)) return [[field, '']];
  if (field === 'validation_type') return [[field, typeof value === 'string' ? value : '']];
  const { types, are } = JSON_FIELDS[field];
  const isArray = Array.isArray(value);
  if (!types.includes(isArray ? 'array' : typeof value))
    throw new ApiError('invalid_parameter', `${field} must be ${are}.`, { field });
  return [[field, isArray ? JSON.stringify(value) : String(value)]];
}
