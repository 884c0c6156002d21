import type { RowBounds, RowProblem, TextRow } from '../kernel/csv.ts';
import type { FileForm } from '../kernel/facts/lists.ts';
import type { ReadWarningCode } from '../kernel/facts/read-warnings.ts';
import { tooLarge } from './problems.ts';

/** A row as it is in the file, before anything is known about columns; `line` may be a row of the sheet. */
export interface RawRow extends Omit<TextRow, 'problem'> {
  readonly problem: RowProblem | null;
}

export interface RawBatch {
  readonly rows: readonly RawRow[];
  /** Bytes of the input up to the end of these rows, approximately. */
  readonly bytes: number;
}

/** Rows of one form of file, and what was found about it. */
export interface RowSource {
  readonly format: FileForm;
  /** The delimiter stands between the cells of a row; it is null if the form has none, or if a row has one cell. */
  readonly delimiter: string | null;
  /** The text's encoding has its name in the WHATWG's Encoding Standard. */
  readonly encoding: string | null;
  readonly byteOrderMark: boolean;
  /** Names the sheet of a workbook. */
  readonly sheet: string | null;
  /** Names an entry of an archive; for JSON, it is the path to the list in it. */
  readonly entry: string | null;
  /** Other sheets of the workbook, or lists in the JSON, that have addresses. */
  readonly others: readonly string[];
  /** Whether rows are the items of a list, not lines. */
  readonly isList?: boolean;
  /** Rows from the middle and the end, for what is decided before the first one is read. */
  readonly later?: () => Promise<readonly RawRow[]>;
  /** About what was read so far. */
  readonly warnings?: () => readonly ReadWarning[];
  /** The names of columns where the form has them itself, complete only after the first batch; otherwise null. */
  readonly names: readonly string[] | null;
  readonly batches: AsyncGenerator<RawBatch, void, undefined>;
}

export interface RowLimits {
  readonly rowBytes: number;
  readonly columns: number;
}

export function checkColumns(count: number, limits: RowLimits, line: number): void {
  if (count > limits.columns) throw tooLarge(limits.columns, 'columns', line);
}

/** In rows of text, a cell may be as large as a row of other forms, and a row has many of them. */
export const boundsOf = (limits: RowLimits): RowBounds => ({
  rowBytes: limits.rowBytes * ROW_CELLS,
  cellBytes: limits.rowBytes,
  checkColumns: (count, line) => checkColumns(count, limits, line),
});
/** This many of the largest cells are shown. */
const ROW_CELLS = 8;

export interface FileRow {
  /** Counts from 1, without the header. */
  readonly row: number;
  /** Where it begins: the line of the text, or the row of the sheet, from 1. */
  readonly line: number;
  /** As in the file, one per column; missing ones are empty. A row with a problem has its text in the first. */
  readonly cells: readonly string[];
  /** These cells are beyond the last column. */
  readonly extra: readonly string[];
  /** What to verify, in the order of the file; none: blank, or the row has a problem. */
  readonly addresses: readonly RowAddress[];
  readonly problem: RowProblem | null;
}

export interface RowAddress {
  readonly text: string;
  readonly column: number;
}

export interface ReadWarning {
  readonly code: ReadWarningCode;
  /** The message is a whole sentence. */
  readonly message: string;
}

/** Has what only all of the rows show. */
export interface ReadSummary {
  /** Columns whose addresses are not verified, and how many they have. */
  readonly otherAddressColumns: readonly { readonly column: string; readonly addresses: number }[];
  readonly addressesPerRow: { readonly max: number; readonly rowsWithSeveral: number };
  readonly rowsWithAddress: number;
  readonly warnings: readonly ReadWarning[];
}

export interface ReadLimits {
  readonly bytes: number;
  readonly rows: number;
  readonly rowBytes: number;
  readonly columns: number;
  /** Whose file it is: parties take turns where there are few threads. */
  readonly party: string;
}
