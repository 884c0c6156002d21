/** The code of a thread that reads workbooks and writes XLSX files: packing and XML compute for long. */

import type { BookFormat } from '../../kernel/facts/lists.ts';
import { answerCalls } from '../../kernel/thread.ts';
import { FileError, unreadable } from '../problems.ts';
import type { RawBatch } from '../rows.ts';
import { filePieces, readShared, type SpooledBytes } from '../spool.ts';
import { type Book, type ChosenSheet, chooseSheet } from './book.ts';
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
