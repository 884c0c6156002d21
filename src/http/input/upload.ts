/** The three forms of an upload: a multipart form, the file itself, a JSON object. */
import type { Readable } from 'node:stream';
import { ListUpload } from '../../contract/lists.ts';
import type { Read } from '../../contract/schema.ts';
import { ApiError } from '../../kernel/errors.ts';
import { LIST_BYTES, LIST_JSON_BYTES, LIST_UPLOAD_EXTRA_BYTES } from '../../kernel/facts/limits.ts';
import type { UploadRequest } from '../../service/lists/service.ts';
import { type Spooled, spooled } from '../../service/lists/spooled.ts';
import type { HttpRequest } from '../exchange.ts';
import { mediaType } from './body.ts';
import { JsonList } from './json-list.ts';
import { boundaryOf, readForm } from './multipart.ts';
import { fieldsReader } from './reader.ts';

const MULTIPART = 'multipart/form-data';
const JSON_BODY = 'application/json';
/** Files that are the body. */
const FILES = {
  'text/csv': 'csv',
  'text/plain': 'text',
  'text/tab-separated-values': 'tsv',
  'application/x-ndjson': 'ndjson',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
} as const;
type FileType = keyof typeof FILES;
const isFileType = (type: string): type is FileType => Object.hasOwn(FILES, type);

export const UPLOAD_TYPES: readonly string[] = [MULTIPART, JSON_BODY, ...Object.keys(FILES)];

type Fields = Read<typeof ListUpload>;
const readFields = fieldsReader(ListUpload);
const NOTHING_TO_CLOSE = () => Promise.resolve();

/** Is told of fields that an upload does not have. */
type Warn = (warnings: readonly string[]) => void;

/** Reads as far as the file. `query`: fields that the body may repeat. */
export async function readUpload(
  request: HttpRequest,
  body: Readable,
  query: Fields,
  warn: Warn = () => undefined,
): Promise<UploadRequest> {
  const type = mediaType(request);
  if (type === MULTIPART) return multipartUpload(request, body, query, warn);
  if (type === JSON_BODY) return jsonUpload(body, query, warn);
  const form = isFileType(type) ? FILES[type] : null;
  return { ...optionsOf(query), fileName: null, form, input: body, close: NOTHING_TO_CLOSE };
}

const optionsOf = ({ name, validation_type, column, header, start, patience_minutes }: Fields) => ({
  ...{ name, column, level: validation_type, patienceMinutes: patience_minutes },
  header: header === undefined || header === 'auto' ? header : header === 'true',
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
  const files: (Spooled & { readonly name: string | null })[] = [];
  try {
    const texts = await readForm(body, {
      boundary,
      file: 'file',
      fieldBytes: LIST_UPLOAD_EXTRA_BYTES,
      // Its options may come after it.
      take: async ({ name, body: content }) => {
        files.push({ ...(await spooled(content, LIST_BYTES)), name });
      },
    });
    const [file] = files;
    if (file === undefined) throw new ApiError('missing_parameter', 'The part "file" is missing.', { field: 'file' });
    const { name: fileName, input, close } = file;
    // As in a query, an empty field is not filled in.
    const filled = texts.filter(([, text]) => text !== '');
    return { ...optionsOf({ ...query, ...readFields(filled, warn) }), fileName, form: null, input, close };
  } catch (error) {
    await files[0]?.close();
    throw error;
  }
}

async function jsonUpload(body: Readable, query: Fields, warn: Warn): Promise<UploadRequest> {
  const json = new JsonList('emails', LIST_UPLOAD_EXTRA_BYTES);
  const { input, close } = await spooled(json.array(body), LIST_JSON_BYTES);
  try {
    const fields = json.fields();
    if (typeof fields !== 'object' || fields === null)
      throw new ApiError('missing_parameter', 'The parameter "emails" is missing, or not an array.', {
        field: 'emails',
      });
    const texts = Object.entries(fields).flatMap(([name, value]) => textOf(name, value));
    return { ...optionsOf({ ...query, ...readFields(texts, warn) }), fileName: null, form: 'json', input, close };
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
  column: { types: ['string', 'number'], are: 'a string or a number' },
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
  if (!types.includes(typeof value)) throw new ApiError('invalid_parameter', `${field} must be ${are}.`, { field });
  return [[field, String(value)]];
}
