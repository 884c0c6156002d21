/** Workbooks in binary formats (Excel 97-2003 and before, XLSB), by a library that holds them in memory. */

import {
  type CellObject,
  CFB,
  type ParsingOptions,
  parse_zip,
  read,
  utils,
  type WorkBook,
  type WorkSheet,
} from '@e965/xlsx';
import { tooLarge, unreadable } from '../problems.ts';
import type { RawBatch } from '../rows.ts';
import { type Book, SheetRating, SURVEYED_SHEETS, withMailto } from './book.ts';
import { RowCollector } from './row-collector.ts';
import { numberText, styleOf } from './styles.ts';
import type { BookLimits } from './thread-messages.ts';
import { type Bytes, openZip } from './zip-read.ts';

/** 65,536 rows of 30 columns take about as much. */
const XLS_BYTES = 64 << 20;
/** All parts have at most this size when unpacked. */
const XLSB_BYTES = 96 << 20;
const SHEET_BATCH_ROWS = 500;

const PARSE_OPTIONS = {
  dense: true,
  cellFormula: false,
  cellHTML: false,
  cellText: false,
  cellNF: true,
} satisfies ParsingOptions;

export async function openXls(file: Bytes, limits: BookLimits): Promise<Book> {
  if (file.sizeBytes > XLS_BYTES) throw tooLarge(XLS_BYTES, 'bytes of an old Excel file; save it as .xlsx, or as CSV');
  const bytes = await file.read(0, file.sizeBytes);
  if (bytes.readUInt32BE(0) === 0xd0cf11e0) checkCompound(bytes);
  return bookOf(() => read(bytes, { ...PARSE_OPTIONS, type: 'buffer' }), limits, file.sizeBytes);
}

/** Unpacked here, where a wrong size in the directory is detected. */
export async function openXlsb(file: Bytes, limits: BookLimits): Promise<Book> {
  const zip = await openZip(file);
  const total = zip.entries.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (total > XLSB_BYTES) throw tooLarge(XLSB_BYTES, 'bytes in an unpacked .xlsb file; save it as .xlsx');
  const parts = CFB.utils.cfb_new();
  for (const entry of zip.entries) {
    const pieces: Buffer[] = [];
    for await (const piece of zip.read(entry, XLSB_BYTES)) pieces.push(piece);
    CFB.utils.cfb_add(parts, entry.name, Buffer.concat(pieces));
  }
  return bookOf(() => parse_zip(parts, PARSE_OPTIONS), limits, file.sizeBytes);
}

/** Old Excel files share their container with other programs' files, and with workbooks that have a password. */
const STREAMS: readonly (readonly [name: string, what: string])[] = [
  ['EncryptedPackage', 'the workbook has a password; save it without one'],
  ['WordDocument', 'it is a Word document (.doc); copy the addresses into a CSV file'],
  ['PowerPoint Document', 'it is a presentation (.ppt); copy the addresses into a CSV file'],
  ['__properties_version1.0', 'it is a mail of Outlook (.msg); copy the addresses into a CSV file'],
];

function checkCompound(bytes: Buffer): void {
  for (const [name, what] of STREAMS) if (bytes.includes(Buffer.from(`${name}\0`, 'utf16le'))) throw unreadable(what);
  const isBook = ['Workbook', 'Book'].some((name) => bytes.includes(Buffer.from(`${name}\0`, 'utf16le')));
  if (!isBook) throw unreadable('it is an OLE file without a workbook; save the list as .xlsx, or as CSV');
}

function bookOf(parse: () => WorkBook, limits: BookLimits, fileBytes: number): Book {
  const book = parsedBook(parse);
  const is1904 = book.Workbook?.WBProps?.date1904 === true;
  const rowsAt = (index: number) =>
    parsedSheetRows(book.Sheets[book.SheetNames[index] ?? ''], is1904, limits, fileBytes);
  const sheets = book.SheetNames.map((name, index) => {
    const isVisible = (book.Workbook?.Sheets?.[index]?.Hidden ?? 0) === 0;
    const rating = new SheetRating();
    if (isVisible && index < SURVEYED_SHEETS) rateBatches(rating, rowsAt(index));
    return { name, isVisible, rating };
  });
  return { sheets, rows: (index) => asyncBatches(rowsAt(index)) };
}

function rateBatches(rating: SheetRating, batches: Iterable<RawBatch>): void {
  for (const { rows } of batches) for (const { cells } of rows) if (rating.add(cells)) return;
}

/** The library throws whatever its code runs into. */
function parsedBook(parse: () => WorkBook): WorkBook {
  try {
    return parse();
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    if (/password|encrypt/i.test(cause)) throw unreadable('the workbook has a password; save it without one');
    throw unreadable('the workbook is damaged; open it in a spreadsheet program, and save it as .xlsx');
  }
}

async function* asyncBatches(batches: Iterable<RawBatch>): AsyncGenerator<RawBatch, void, undefined> {
  yield* batches;
}

function* parsedSheetRows(
  sheet: WorkSheet | undefined,
  is1904: boolean,
  limits: BookLimits,
  fileBytes: number,
): Generator<RawBatch, void, undefined> {
  const data: readonly (readonly (CellObject | undefined)[] | undefined)[] = sheet?.['!data'] ?? [];
  const rows = new RowCollector(limits);
  const from = utils.decode_range(sheet?.['!ref'] ?? 'A1').s.r;
  for (let index = from; index < data.length; index++) {
    rows.startRow(index + 1);
    for (const [column, cell] of (data[index] ?? []).entries()) {
      const text = cell === undefined ? '' : cellAsText(cell, is1904);
      if (text !== '') rows.setCell(column + 1, text);
    }
    rows.endRow();
    if (index % SHEET_BATCH_ROWS === SHEET_BATCH_ROWS - 1)
      yield { rows: rows.take(), bytes: (index / data.length) * fileBytes };
  }
  yield { rows: rows.take(), bytes: fileBytes };
}

function cellAsText(cell: CellObject, is1904: boolean): string {
  const text = shownText(cell, is1904);
  const link = cell.l?.Target;
  return link === undefined ? text : withMailto(text, link);
}

function shownText({ t: type, v: value, w: shown, z: format }: CellObject, is1904: boolean): string {
  if (type === 'n' && typeof value === 'number')
    return numberText(value, typeof format === 'string' ? styleOf(format) : null, is1904);
  if (type === 'b') return value === true ? 'TRUE' : 'FALSE';
  if (type === 'e') return shown ?? '';
  return value === undefined || value === null ? '' : String(value);
}
