/** Files in files: what a ZIP archive is, and the one file in it or in a gzip file. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { RECOGNIZED_BYTES, recognize } from './forms.ts';
import { FileError, tooLarge, unreadable } from './problems.ts';
import type { RandomAccess } from './spool.ts';
import { shownNames } from './xlsx/book.ts';
import { mainPartOf } from './xlsx/workbook.ts';
import { openZip, RATIO_FREE_BYTES, RATIO_MAX, type Zip, type ZipEntry } from './xlsx/zip-read.ts';

type ZipContent =
  | { readonly kind: 'workbook'; readonly format: 'xlsx' | 'xlsb' | 'ods'; readonly unpacked: number }
  | { readonly kind: 'file'; readonly name: string; readonly pieces: AsyncGenerator<Buffer, void, undefined> };

const AS_CSV = 'export the list as CSV or XLSX';

/** Documents that are ZIP archives, by their main part. */
const OFFICE_PARTS: readonly (readonly [part: RegExp, what: string])[] = [
  [/^word\//i, `it is a Word document; copy the addresses into a CSV file`],
  [/^ppt\//i, `it is a presentation; copy the addresses into a CSV file`],
];
const OPEN_DOCUMENT = 'application/vnd.oasis.opendocument.';

/** `wanted`: the name of an entry; null: the only one. Throws FileError. */
export async function openArchive(file: RandomAccess, wanted: string | null, maxBytes: number): Promise<ZipContent> {
  const zip = await openZip(file);
  const format = await workbookIn(zip);
  if (format !== null) {
    const unpacked = zip.entries.reduce((sum, { size }) => sum + size, 0);
    return { kind: 'workbook', format, unpacked };
  }
  const entry = await chooseEntry(zip, wanted, maxBytes);
  return { kind: 'file', name: entry.name, pieces: zip.read(entry, maxBytes) };
}

async function workbookIn(zip: Zip): Promise<'xlsx' | 'xlsb' | 'ods' | null> {
  const type = zip.find('mimetype');
  if (type !== undefined && type.size < 200) {
    const text = (await contentOf(zip, type)).trim();
    if (text.startsWith(`${OPEN_DOCUMENT}spreadsheet`)) return 'ods';
    if (text.startsWith(OPEN_DOCUMENT))
      throw unreadable(
        `it is an OpenDocument ${text.slice(OPEN_DOCUMENT.length)} document; copy the addresses into a CSV file`,
      );
    if (text === 'application/epub+zip') throw unreadable('it is an EPUB book; copy the addresses into a CSV file');
  }
  if (zip.entries.some(({ name }) => /^Index(\/.*)?\.(iwa|zip)$/i.test(name)))
    throw unreadable(`it is a document of Apple Numbers, Pages or Keynote; in Numbers, ${AS_CSV}`);
  const isOffice = ['[Content_Types].xml', '_rels/.rels', 'xl/workbook.xml', 'xl/workbook.bin'].some((name) =>
    zip.find(name),
  );
  if (!isOffice) return null;
  const main = await mainPartOf(zip);
  for (const [part, what] of OFFICE_PARTS) if (part.test(main)) throw unreadable(what);
  return zip.find('xl/workbook.bin') !== undefined || /\.bin$/i.test(main) ? 'xlsb' : 'xlsx';
}

async function contentOf(zip: Zip, entry: ZipEntry): Promise<string> {
  let text = '';
  for await (const piece of zip.read(entry, entry.size)) text += piece.toString();
  return text;
}

/** What systems put beside the files of people. */
const OF_SYSTEMS = /(^|\/)(\.|__MACOSX\/|thumbs\.db$|desktop\.ini$)/i;
/** Files whose beginning is looked at. */
const LOOKED_AT = 50;

async function chooseEntry(zip: Zip, wanted: string | null, maxBytes: number): Promise<ZipEntry> {
  const files = zip.entries.filter(({ name, size }) => !name.endsWith('/') && size > 0);
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

/** Of one or more members. Throws FileError. */
export async function* gunzipped(file: RandomAccess, maxBytes: number): AsyncGenerator<Buffer, void, undefined> {
  const gunzip = createGunzip();
  const done = pipeline(Readable.from(piecesOf(file)), gunzip).then(
    () => null,
    (error: unknown) => error,
  );
  let size = 0;
  try {
    const output: AsyncIterable<Buffer> = gunzip;
    for await (const piece of output) {
      size += piece.length;
      if (size > maxBytes) throw tooLarge(maxBytes, 'bytes, unpacked');
      if (size > RATIO_FREE_BYTES && size > RATIO_MAX * file.size)
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

const PIECE_BYTES = 64 * 1024;

async function* piecesOf(file: RandomAccess): AsyncGenerator<Buffer, void, undefined> {
  for (let at = 0; at < file.size; at += PIECE_BYTES) yield await file.read(at, PIECE_BYTES);
}
