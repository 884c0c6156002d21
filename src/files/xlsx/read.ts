import { unreadable } from '../problems.ts';
import type { RawBatch, RowSource } from '../rows.ts';
import type { RandomAccess } from '../spool.ts';
import { readDateStyles } from './dates.ts';
import { readSharedStrings } from './shared-strings.ts';
import { SheetRows } from './sheet.ts';
import type { SheetLimits } from './thread-messages.ts';
import { rowsInThread } from './threads.ts';
import { openWorkbook } from './workbook.ts';
import { XmlScanner } from './xml.ts';
import { openZip } from './zip-read.ts';

/** A sheet of a million rows has about 200 MB of XML with five columns. */
const SHEET_BYTES = 2 ** 31;
const STRINGS_BYTES = 2 ** 29;
const STYLES_BYTES = 2 ** 26;
/**
 * Rows are given away when their texts and cells are so large, which is looked at every so many bytes of XML: a cell of
 * a few bytes can refer to a text as long as a row may be.
 */
const BATCH_BYTES = 2 ** 18;
const SLICE_BYTES = 2 ** 11;

/**
 * The first sheet of an XLSX file, read in a thread. Only what the cells show is read: no formulas, no links, no other
 * parts. `open`: called with the first batch; the file is closed behind the last one.
 */
export function readXlsx(open: () => Promise<RandomAccess>, limits: SheetLimits): RowSource {
  return {
    ...{ format: 'xlsx', delimiter: null, encoding: null, byteOrderMark: false, sheet: null, entry: null },
    names: null,
    batches: batchesOf(open, limits),
  };
}

async function* batchesOf(
  open: () => Promise<RandomAccess>,
  limits: SheetLimits,
): AsyncGenerator<RawBatch, void, undefined> {
  const file = await open();
  try {
    yield* rowsInThread(file.shared, limits);
  } finally {
    await file.close();
  }
}

/** In the thread. Without rows that the sheet leaves out; batches may be empty. */
export async function* sheetRows(
  file: Pick<RandomAccess, 'size' | 'read'>,
  limits: SheetLimits,
): AsyncGenerator<RawBatch, void, undefined> {
  const zip = await openZip(file);
  const workbook = await openWorkbook(zip);
  const partOf = (name: string | null) => (name === null ? undefined : zip.find(name));
  const sheet = partOf(workbook.sheet);
  if (sheet === undefined) throw unreadable('the XLSX file has no sheet');
  const texts = partOf(workbook.sharedStrings);
  const styles = partOf(workbook.styles);
  const rows = new SheetRows({
    strings: texts === undefined ? null : await readSharedStrings(zip.read(texts, STRINGS_BYTES), limits.rowBytes),
    dateStyles: styles === undefined ? [] : await readDateStyles(zip.read(styles, STYLES_BYTES)),
    is1904: workbook.is1904,
    limits,
    maxRows: limits.rows,
  });
  let packed = 0;
  const scanner = new XmlScanner(rows);
  for await (const piece of zip.read(sheet, SHEET_BYTES, (read) => (packed = read))) {
    const bytes = (packed / Math.max(1, sheet.packed)) * file.size;
    for (let at = 0; at < piece.length; at += SLICE_BYTES) {
      scanner.push(piece.subarray(at, at + SLICE_BYTES));
      if (rows.bytes >= BATCH_BYTES) yield { rows: rows.take(), bytes };
    }
    yield { rows: rows.take(), bytes };
  }
  scanner.end();
}
