/** The code of a thread that reads workbooks and writes XLSX files: packing and XML compute for long. */

import type { BookFormat } from '../../kernel/facts/lists.ts';
import { answerCalls } from '../../kernel/thread.ts';
import { FileError, unreadable } from '../problems.ts';
import type { RawBatch } from '../rows.ts';
import { filePieces, readShared, type SpooledBytes } from '../spool.ts';
import { type Book, type SheetSurvey, shownNames } from './book.ts';
import { openDocument } from './document-book.ts';
import {
  type ReadOrder,
  rowsOf,
  type SheetLimits,
  type SheetPiece,
  type Unreadable,
  type WriteOrder,
} from './thread-messages.ts';
import { openXlsx } from './workbook.ts';
import { type Written, writeRows } from './write.ts';
import { type Bytes, openZip } from './zip-read.ts';

const ODS_BYTES = 2 ** 30;

const OPENERS = {
  xlsx: openXlsx,
  ods: openOds,
  html: (file, limits) => openDocumentText('html', file, limits),
  spreadsheetml: (file, limits) => openDocumentText('spreadsheetml', file, limits),
  xls: async (file, limits) => (await import('./library-book.ts')).openXls(file, limits),
  xlsb: async (file, limits) => (await import('./library-book.ts')).openXlsb(file, limits),
} as const satisfies Record<BookFormat, (file: Bytes, limits: SheetLimits) => Promise<Book>>;

/** `wanted` is the name or number of the sheet; null: the first visible one with addresses. */
async function openSheet(
  source: SpooledBytes,
  format: BookFormat,
  wanted: string | null,
  limits: SheetLimits,
): Promise<ChosenSheet & { readonly batches: AsyncIterable<RawBatch> }> {
  const book = await OPENERS[format](readShared(source), limits);
  const chosen = chooseSheet(book.sheets, wanted);
  return { ...chosen, batches: book.rows(chosen.index) };
}

/** Opens `content.xml` in a ZIP archive, or a flat document. */
async function openOds(file: Bytes, limits: SheetLimits): Promise<Book> {
  const head = await file.read(0, 2);
  if (head.toString('latin1') !== 'PK') return openDocumentText('ods', file, limits);
  const zip = await openZip(file);
  const content = zip.find('content.xml');
  if (content === undefined) throw unreadable('the OpenDocument file has no content');
  const manifest = zip.find('META-INF/manifest.xml');
  if (manifest !== undefined && (await isEncrypted(zip.read(manifest, 1 << 20))))
    throw unreadable('the workbook has a password; save it without one');
  const scale = file.sizeBytes / Math.max(1, content.sizeBytes);
  return openDocument(
    'ods',
    () => zip.read(content, ODS_BYTES),
    limits,
    (read) => read * scale,
  );
}

async function isEncrypted(pieces: AsyncIterable<Buffer>): Promise<boolean> {
  for await (const piece of pieces) if (piece.includes('encryption-data')) return true;
  return false;
}

const openDocumentText = (format: 'ods' | 'html' | 'spreadsheetml', file: Bytes, limits: SheetLimits): Promise<Book> =>
  openDocument(
    format,
    () => filePieces(file),
    limits,
    (read) => read,
  );

/** `next` says whether to go on. */
async function readOrder(
  { source, format, sheet, limits }: ReadOrder,
  next: (piece: SheetPiece) => Promise<boolean>,
): Promise<null> {
  const { name, others, batches } = await openSheet(source, format, sheet, limits);
  if (!(await next({ kind: 'sheet', name, others }))) return null;
  for await (const { rows, bytes } of batches) {
    if (rows.length === 0) continue;
    const tooLarge = rows.flatMap(({ line, problem }) => (problem === null ? [] : [line]));
    const [lines, widths] = [rows.map(({ line }) => line), rows.map(({ cells }) => cells.length)];
    if (!(await next({ kind: 'rows', lines, widths, cells: rows.flatMap(({ cells }) => cells), tooLarge, bytes })))
      return null;
  }
  return null;
}

answerCalls<ReadOrder | WriteOrder, Written | Unreadable | null, SheetPiece, boolean>(async (order, scope) => {
  try {
    if (order.kind === 'read') return await readOrder(order, (piece) => scope.ask(piece));
    return writeRows(order.state, rowsOf(order.widths, order.cells));
  } catch (error) {
    // A message has no classes.
    if (error instanceof FileError) return { problem: error.problem, message: error.message };
    throw error;
  }
});

interface ChosenSheet {
  readonly index: number;
  readonly name: string;
  /** Names other visible sheets with a column of addresses. */
  readonly others: readonly string[];
}

/** `wanted`: a name, or a number from 1; null: the first visible one with addresses. Throws FileError. */
function chooseSheet(sheets: readonly SheetSurvey[], wanted: string | null): ChosenSheet {
  if (sheets.length === 0) throw unreadable('the workbook has no sheet');
  const index = wanted === null ? bestOf(sheets) : namedSheet(sheets, wanted);
  const others = sheets.flatMap(({ name, isVisible, rating }, i) =>
    i !== index && isVisible && rating.rank === 2 ? [name] : [],
  );
  return { index, name: sheets[index]?.name ?? '', others };
}

function bestOf(sheets: readonly SheetSurvey[]): number {
  const found = [2, 1].map((rank) => sheets.findIndex(({ isVisible, rating }) => isVisible && rating.rank === rank));
  const filled = sheets.findIndex(({ isVisible, rating }) => isVisible && rating.rows > 0);
  const visible = sheets.findIndex(({ isVisible }) => isVisible);
  return [...found, filled, visible].find((index) => index >= 0) ?? 0;
}

function namedSheet(sheets: readonly SheetSurvey[], wanted: string): number {
  const exact = sheets.findIndex(({ name }) => name === wanted);
  if (exact >= 0) return exact;
  const key = (name: string): string => name.trim().toLowerCase();
  const same = sheets.findIndex(({ name }) => key(name) === key(wanted));
  if (same >= 0) return same;
  const number = /^[1-9]\d{0,4}$/.test(wanted.trim()) ? Number(wanted) : 0;
  if (number > 0 && number <= sheets.length) return number - 1;
  throw unreadable(
    `there is no sheet ${JSON.stringify(wanted)}; the sheets are ${shownNames(sheets.map(({ name }) => name))}`,
  );
}
