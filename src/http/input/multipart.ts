/**
 * multipart/form-data (RFC 7578, RFC 2046 §5.1) as it arrives, parsed by busboy: bounded whatever the sender does. A
 * part that busboy would skip, because its headers are missing, too long or of another kind, is an error.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy } from '@fastify/busboy';
import { ApiError } from '../../kernel/errors.ts';

interface FormFile {
  /** Of its part. */
  readonly field: string;
  /** Without its path; null: the part has no file name. */
  readonly name: string | null;
  /** To be read to its end. */
  readonly body: Readable;
}

interface FormReading {
  readonly boundary: string;
  /** The name of the part that is a file without a file name too; others without one are fields. */
  readonly file: string;
  /** Bytes of a field. */
  readonly fieldBytes: number;
  /** Called for each file; names differ. */
  readonly take: (file: FormFile) => Promise<void>;
}

const HEAD_BYTES = 8 * 1024;
const HEADERS_MAX = 32;
const PARTS_MAX = 32;
const CRLF = Buffer.from('\r\n');
const [CR, TAB, SPACE, DASH] = [0x0d, 0x09, 0x20, 0x2d];
/** Blanks behind a boundary. */
const PADDING_BYTES = 512;

const malformed = (what: string): ApiError => new ApiError('malformed_request', `The multipart body ${what}.`);
const NO_NAME = malformed('has a part without a name');
const invalidField = (field: string, what: string): ApiError => new ApiError('invalid_parameter', what, { field });

/** The boundary of a Content-Type; null: none, or one that RFC 2046 does not allow. */
export function boundaryOf(contentType: string): string | null {
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
    limits: { parts: PARTS_MAX, headerSize: HEAD_BYTES, headerPairs: HEADERS_MAX, fieldSize: fieldBytes },
  });
  const fields: [string, string][] = [];
  const taken: { readonly field: string; readonly body: Readable; readonly done: Promise<void> }[] = [];
  /** What went wrong first; busboy's own errors all mean that the end is missing. */
  let failure: unknown = null;
  const fail = (error: unknown): void => {
    failure ??= error;
    form.destroy();
  };
  form.on('partsLimit', () => fail(malformed(`has more than ${PARTS_MAX} parts`)));
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
    await pipeline(Readable.from(withoutPadding(noting(input, fail), boundary, parts)), form);
    await Promise.all(taken.map(({ done }) => done));
  } catch {
    failure ??= malformed('ended early');
  }
  if (failure === null && fields.length + taken.length !== parts.begun)
    failure = malformed(`has a part without a name, or with headers of more than ${HEAD_BYTES} bytes`);
  if (failure === null) return fields;
  for (const { body } of taken) body.destroy();
  await Promise.allSettled(taken.map(({ done }) => done));
  throw failure;
}

async function* noting(input: AsyncIterable<Buffer>, fail: (error: unknown) => void) {
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
