/** What a file is, by its bytes: opened for its form. */

import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { FileForm } from '../kernel/facts/lists.ts';
import { counted } from '../kernel/format.ts';
import { ListSplitter } from './address-list.ts';
import { readLdif, readVCards } from './contacts.ts';
import { type DecodeNotes, decodeText, type TextBlock } from './decode-text.ts';
import { cutterOf, detectShape, type TextShape } from './dialect.ts';
import { detectEncoding, type Encoding } from './encoding.ts';
import { recognize } from './forms.ts';
import { inputBlocks } from './input-blocks.ts';
import { openJson } from './json-rows.ts';
import { FileError, tooLarge, unreadable } from './problems.ts';
import {
  boundsOf,
  type RawBatch,
  type RawRow,
  type ReadLimits,
  type ReadWarning,
  type RowLimits,
  type RowSource,
} from './rows.ts';
import { filePieces, type RandomAccess, SpooledInput, spool } from './spool.ts';
import { shownNames } from './xlsx/book.ts';
import { readSheet } from './xlsx/threads.ts';
import { mainPartOf } from './xlsx/workbook.ts';
import { openZip, RATIO_FREE_BYTES, RATIO_MAX, type Zip, type ZipEntry } from './xlsx/zip-read.ts';

/** So much of a file is looked at. */
const RECOGNIZED_BYTES = 64 * 1024;

/** What ends lines in a text without CR and LF; null: nothing does, or it has them. */
function lineEndOf(text: string): string | null {
  if (/[\r\n]/.test(text)) return null;
  return ['\u2028', '\u2029', '\u0085', '\u000b', '\u001e', '\f'].find((end) => text.includes(end)) ?? null;
}

export interface OpenedFile {
  readonly source: RowSource;
  /** Bytes of the file that have arrived so far. */
  received(): number;
}

/** The choice says what a file is, as far as its sender or the user does. */
interface FormatChoice extends TextOptions {
  readonly claimed: FileForm | null;
  /** Chooses a sheet of a workbook, by name or number. */
  readonly sheet: string | null;
  /** Chooses an entry of an archive by name; for JSON, it is a path. */
  readonly entry: string | null;
  /** Stands between the cells of a row; null or missing: it is detected. */
  readonly delimiter?: string | null;
  /** What strings of JSON are read for: missing: addresses. */
  readonly isWanted?: (cell: string) => boolean;
}

/** The content decides; what is claimed counts where text may be of several forms. Throws FileError. */
export async function openFile(
  source: AsyncIterable<Uint8Array>,
  choice: FormatChoice,
  limits: ReadLimits,
): Promise<OpenedFile> {
  if (source instanceof SpooledInput) {
    const { file } = source;
    if (file.sizeBytes > limits.bytes) throw tooLarge(limits.bytes, 'bytes');
    return { source: await openSpooled(file, choice, limits), received: () => file.sizeBytes };
  }
  const { blocks, received } = inputBlocks(source, limits.bytes);
  const file = await spool(blocks);
  return { source: await owning(file, () => openSpooled(file, choice, limits)), received };
}

/** The file is closed behind the last batch. */
async function owning(file: RandomAccess, open: () => Promise<RowSource>): Promise<RowSource> {
  try {
    const source = await open();
    return { ...source, batches: closing(source.batches, file) };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function* closing(batches: RowSource['batches'], file: RandomAccess): RowSource['batches'] {
  try {
    yield* batches;
  } finally {
    await file.close();
  }
}

/** `isPacked`: it comes out of an archive. */
async function openSpooled(
  file: RandomAccess,
  choice: FormatChoice,
  limits: ReadLimits,
  isPacked = false,
): Promise<RowSource> {
  if (file.sizeBytes === 0) throw unreadable('it is empty', 1);
  const form = recognize(await file.read(0, RECOGNIZED_BYTES));
  const { claimed, sheet, entry } = choice;
  switch (form) {
    case 'gzip':
      return openPacked(gunzipped(file, limits.bytes), null, choice, limits, isPacked);
    case 'zip': {
      const content = await openArchive(file, isPacked ? null : entry, limits.bytes);
      if (content.kind === 'workbook') return openBook(file, { ...content, sheet }, limits);
      return openPacked(content.pieces, content.name, choice, limits, isPacked);
    }
    case 'xls':
    case 'ods':
    case 'html':
    case 'spreadsheetml':
      return openBook(file, { format: form, unpackedBytes: file.sizeBytes, sheet }, limits);
    case 'vcard':
    case 'ldif': {
      const text = await openText(file, choice);
      const reader = form === 'vcard' ? readVCards(limits) : readLdif(limits);
      const batches = cutRows(text.blocks(), reader);
      return { ...aboutText(text), format: form, others: [], names: reader.names, batches };
    }
    case 'json':
    case 'ndjson':
      return openJsonText(await openText(file, choice), isPacked ? null : entry, choice, limits);
    case 'text':
      if (claimed === 'json' || claimed === 'ndjson')
        return openJsonText(await openText(file, choice), isPacked ? null : entry, choice, limits);
      return textRows(await openText(file, choice), choice.delimiter ?? null, limits);
  }
}

async function openPacked(
  pieces: AsyncGenerator<Buffer, void, undefined>,
  name: string | null,
  choice: FormatChoice,
  limits: ReadLimits,
  isPacked: boolean,
): Promise<RowSource> {
  if (isPacked) throw unreadable('it is an archive in an archive; unpack it first');
  const file = await spool(pieces);
  const source = await owning(file, () => openSpooled(file, choice, limits, true));
  return { ...source, entry: name ?? source.entry };
}

async function openBook(
  file: RandomAccess,
  choice: Parameters<typeof readSheet>[1],
  limits: ReadLimits,
): Promise<RowSource> {
  const { name, others, batches } = await readSheet(file.shared, choice, limits);
  return {
    format: choice.format,
    delimiter: null,
    encoding: null,
    byteOrderMark: false,
    entry: null,
    names: null,
    sheet: name,
    others,
    batches,
  };
}

async function openJsonText(
  text: DecodedText,
  entry: string | null,
  { isWanted }: FormatChoice,
  limits: ReadLimits,
): Promise<RowSource> {
  return { ...aboutText(text), ...(await openJson(() => text.blocks(), limits, entry, isWanted)) };
}

const aboutText = ({ encoding: { name, byteOrderMark }, warnings }: DecodedText) => ({
  delimiter: null,
  encoding: name,
  byteOrderMark,
  sheet: null,
  entry: null,
  warnings,
});

type ZipContent =
  | { readonly kind: 'workbook'; readonly format: 'xlsx' | 'xlsb' | 'ods'; readonly unpackedBytes: number }
  | { readonly kind: 'file'; readonly name: string; readonly pieces: AsyncGenerator<Buffer, void, undefined> };

const EXPORT_AS_CSV = 'export the list as CSV or XLSX';

/** Documents that are ZIP archives, by their main part. */
const OFFICE_PARTS: readonly (readonly [part: RegExp, what: string])[] = [
  [/^word\//i, `it is a Word document; copy the addresses into a CSV file`],
  [/^ppt\//i, `it is a presentation; copy the addresses into a CSV file`],
];
const OPEN_DOCUMENT = 'application/vnd.oasis.opendocument.';

/** `wanted`: the name of an entry; null: the only one. Throws FileError. */
async function openArchive(file: RandomAccess, wanted: string | null, maxBytes: number): Promise<ZipContent> {
  const zip = await openZip(file);
  const format = await workbookIn(zip);
  if (format !== null) {
    const unpackedBytes = zip.entries.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    return { kind: 'workbook', format, unpackedBytes };
  }
  const entry = await chooseEntry(zip, wanted, maxBytes);
  return { kind: 'file', name: entry.name, pieces: zip.read(entry, maxBytes) };
}

async function workbookIn(zip: Zip): Promise<'xlsx' | 'xlsb' | 'ods' | null> {
  const type = zip.find('mimetype');
  if (type !== undefined && type.sizeBytes < 200) {
    const text = (await entryText(zip, type)).trim();
    if (text.startsWith(`${OPEN_DOCUMENT}spreadsheet`)) return 'ods';
    if (text.startsWith(OPEN_DOCUMENT))
      throw unreadable(
        `it is an OpenDocument ${text.slice(OPEN_DOCUMENT.length)} document; copy the addresses into a CSV file`,
      );
    if (text === 'application/epub+zip') throw unreadable('it is an EPUB book; copy the addresses into a CSV file');
  }
  if (zip.entries.some(({ name }) => /^Index(\/.*)?\.(iwa|zip)$/i.test(name)))
    throw unreadable(`it is a document of Apple Numbers, Pages or Keynote; in Numbers, ${EXPORT_AS_CSV}`);
  const isOffice = ['[Content_Types].xml', '_rels/.rels', 'xl/workbook.xml', 'xl/workbook.bin'].some((name) =>
    zip.find(name),
  );
  if (!isOffice) return null;
  const main = await mainPartOf(zip);
  for (const [part, what] of OFFICE_PARTS) if (part.test(main)) throw unreadable(what);
  return zip.find('xl/workbook.bin') !== undefined || /\.bin$/i.test(main) ? 'xlsb' : 'xlsx';
}

async function entryText(zip: Zip, entry: ZipEntry): Promise<string> {
  let text = '';
  for await (const piece of zip.read(entry, entry.sizeBytes)) text += piece.toString();
  return text;
}

/** What systems put beside the files of people. */
const OF_SYSTEMS = /(^|\/)(\.|__MACOSX\/|thumbs\.db$|desktop\.ini$)/i;
/** Files whose beginning is looked at. */
const LOOKED_AT = 50;

async function chooseEntry(zip: Zip, wanted: string | null, maxBytes: number): Promise<ZipEntry> {
  const files = zip.entries.filter(({ name, sizeBytes }) => !name.endsWith('/') && sizeBytes > 0);
  const names = (entries: readonly ZipEntry[]): string => shownNames(entries.map(({ name }) => name));
  if (wanted !== null) {
    const isSame = ({ name }: ZipEntry): boolean => name.toLowerCase() === wanted.toLowerCase();
    const found = files.find(({ name }) => name === wanted) ?? files.find(isSame);
    if (found !== undefined) return found;
    throw unreadable(`there is no file ${JSON.stringify(wanted)} in the ZIP archive, which has ${names(files)}`);
  }
  const own = files.filter(({ name }) => !OF_SYSTEMS.test(name));
  const [only] = own;
  if (only === undefined) throw unreadable('it is a ZIP archive without a file');
  if (own.length === 1) return only;
  const lists: ZipEntry[] = [];
  for (const entry of own.slice(0, LOOKED_AT)) if (await mayBeList(zip, entry, maxBytes)) lists.push(entry);
  const [first, second] = lists;
  if (first !== undefined && second === undefined) return first;
  throw unreadable(
    `it is a ZIP archive of several files: ${names(first === undefined ? own : lists)}; name the one to read as entry`,
  );
}

/** A text with an address in its beginning, or a file that has to be opened to know. */
async function mayBeList(zip: Zip, entry: ZipEntry, maxBytes: number): Promise<boolean> {
  for await (const piece of zip.read(entry, maxBytes)) {
    try {
      const form = recognize(piece.subarray(0, RECOGNIZED_BYTES));
      return form === 'zip' || form === 'gzip' || form === 'xls' || piece.includes('@');
    } catch (error) {
      if (error instanceof FileError) return false;
      throw error;
    }
  }
  return false;
}

/** The file may have several members. Throws FileError. */
async function* gunzipped(file: RandomAccess, maxBytes: number): AsyncGenerator<Buffer, void, undefined> {
  const gunzip = createGunzip();
  const done = pipeline(Readable.from(filePieces(file)), gunzip).then(
    () => null,
    (error: unknown) => error,
  );
  let sizeBytes = 0;
  try {
    const output: AsyncIterable<Buffer> = gunzip;
    for await (const piece of output) {
      sizeBytes += piece.length;
      if (sizeBytes > maxBytes) throw tooLarge(maxBytes, 'bytes, unpacked');
      if (sizeBytes > RATIO_FREE_BYTES && sizeBytes > RATIO_MAX * file.sizeBytes)
        throw tooLarge(RATIO_MAX, 'bytes unpacked for each byte of the gzip file');
      yield piece;
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    throw code.startsWith('Z_') ? unreadable('the gzip file is damaged, or not complete') : error;
  } finally {
    gunzip.destroy();
    await done;
  }
}

interface TextOptions {
  /** The charset comes from the media type. */
  readonly charset?: string | null;
  /** What counts whatever the bytes are. */
  readonly encoding?: string | null;
}

/** A file of text whose encoding is known. */
interface DecodedText {
  readonly encoding: Encoding;
  /** The head is the beginning of the text. */
  readonly head: string;
  /** Whether that is all of it. */
  readonly isWhole: boolean;
  /** Yields all of it. */
  blocks(): AsyncGenerator<TextBlock, void, undefined>;
  /** Returns rows of lines, from the middle and the end. */
  parts(): Promise<string[]>;
  /** About what was decoded so far. */
  warnings(): ReadWarning[];
}

const FORMAT_HEAD_BYTES = 256 * 1024;
const ENTRY_PART_BYTES = 32 * 1024;

/** Throws FileError for an encoding that is not known, and for nothing but a byte order mark. */
async function openText(file: RandomAccess, { charset = null, encoding = null }: TextOptions): Promise<DecodedText> {
  const head = await file.read(0, FORMAT_HEAD_BYTES);
  const isWhole = head.length === file.sizeBytes;
  const places = isWhole
    ? []
    : [file.sizeBytes >> 1, file.sizeBytes - ENTRY_PART_BYTES].map((at) => Math.max(FORMAT_HEAD_BYTES, at & ~3));
  const parts = await Promise.all(places.map((at) => file.read(at, ENTRY_PART_BYTES)));
  const found = detectEncoding([head, ...parts], { stated: charset, given: encoding });
  const ascii = await decodedAll(head, found, null);
  const lineEnd = lineEndOf(ascii);
  const notes: DecodeNotes = { invalid: 0 };
  const text = lineEnd === null ? ascii : await decodedAll(head, found, lineEnd);
  if (isWhole && text === '') throw unreadable('it is empty', 1);
  return {
    encoding: found,
    head: text,
    isWhole,
    blocks: () => decodeText(new SpooledInput(file), found, lineEnd, notes),
    parts: () => Promise.all(parts.map((part) => decodedAll(part, { ...found, skip: 0 }, lineEnd))),
    warnings: () => encodingWarnings(found, notes),
  };
}

async function decodedAll(bytes: Buffer, encoding: Encoding, lineEnd: string | null): Promise<string> {
  const one = (async function* () {
    yield bytes;
  })();
  let all = '';
  for await (const { text } of decodeText(one, encoding, lineEnd, { invalid: 0 })) all += text;
  return all;
}

function encodingWarnings({ name, isGuessed }: Encoding, { invalid }: DecodeNotes): ReadWarning[] {
  const warnings: ReadWarning[] = [];
  if (isGuessed)
    warnings.push({ code: 'encoding_guessed', message: `The text was read as ${name}; its encoding is not certain.` });
  if (invalid === 0) return warnings;
  const message =
    name === 'utf-8'
      ? `${counted(invalid, 'line is', 'lines are')} not valid UTF-8 and ${invalid === 1 ? 'was' : 'were'} read as windows-1252.`
      : `${counted(invalid, 'character is', 'characters are')} not valid in ${name}.`;
  return [...warnings, { code: 'invalid_encoding', message }];
}

/** Rows of text that is no JSON. `delimiter`: named by the sender; null: detected. */
function textRows(text: DecodedText, delimiter: string | null, limits: RowLimits): RowSource {
  const { shape, skip } = detectShape(text.head, text.isWhole, delimiter);
  const line = skip > 0 ? 2 : 1;
  const cutter = shape.kind === 'list' ? new ListSplitter(line) : cutterOf(shape, boundsOf(limits), line);
  return {
    ...describeShape(shape),
    encoding: text.encoding.name,
    byteOrderMark: text.encoding.byteOrderMark,
    sheet: null,
    entry: null,
    others: [],
    names: null,
    batches: cutRows(text.blocks(), cutter, skip),
    later: async () => (shape.kind === 'list' ? [] : (await text.parts()).flatMap((part) => wholeRows(part, shape))),
    warnings: text.warnings,
  };
}

function describeShape(shape: TextShape): Pick<RowSource, 'format' | 'delimiter' | 'isList'> {
  if (shape.kind === 'list') return { format: 'text', delimiter: null, isList: true };
  if (shape.kind === 'fixed') return { format: 'csv', delimiter: null };
  const { delimiter } = shape.dialect;
  if (delimiter === '') return { format: 'text', delimiter: null };
  return { format: 'csv', delimiter };
}

const PART_ROWS = 200;
/** Leaves out the first and the last row, which may be cut off. */
const wholeRows = (part: string, shape: TextShape): RawRow[] =>
  cutterOf(shape, boundsOf({ rowBytes: ENTRY_PART_BYTES, columns: Number.POSITIVE_INFINITY }))
    .push(part, true)
    .slice(1, -1)
    .slice(0, PART_ROWS);

/** Yields the rows of all blocks, but for the first `skip` characters. */
async function* cutRows(
  blocks: AsyncGenerator<TextBlock, void, undefined>,
  reader: { push(text: string, final: boolean): RawRow[] },
  skip = 0,
): AsyncGenerator<RawBatch, void, undefined> {
  let [bytes, left] = [0, skip];
  for await (const block of blocks) {
    bytes = block.bytes;
    const rows = reader.push(left === 0 ? block.text : block.text.slice(left), false);
    left = Math.max(0, left - block.text.length);
    if (rows.length > 0) yield { rows, bytes };
  }
  const rows = reader.push('', true);
  if (rows.length > 0) yield { rows, bytes };
}
