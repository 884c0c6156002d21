/**
 * A thread for workbooks (thread.ts) and its user exchange these. They are flat arrays, because copying objects costs
 * the receiver about as much as the thread saves.
 */
import type { BookFormat } from '../../kernel/facts/lists.ts';
import type { FileProblem } from '../problems.ts';
import type { RowLimits } from '../rows.ts';
import type { SpooledBytes } from '../spool.ts';
import type { XlsxCell, XlsxState } from './write.ts';

export type BookLimits = RowLimits & { readonly rows: number };
export type SheetLimits = BookLimits & { readonly party: string };

/**
 * Asks with the `sheet`, then with each piece of its rows, whether to go on. `sheet`: its name or number, null for the
 * first visible one with addresses.
 */
export interface ReadOrder {
  readonly kind: 'read';
  readonly source: SpooledBytes;
  readonly format: BookFormat;
  readonly sheet: string | null;
  readonly limits: SheetLimits;
}

/** `widths` are the numbers of cells of each row. */
export interface WriteOrder {
  readonly kind: 'write';
  readonly state: XlsxState;
  readonly widths: readonly number[];
  readonly cells: readonly XlsxCell[];
}

/** `lines` are rows of the sheet, from 1. */
export interface ReadRows {
  readonly kind: 'rows';
  readonly lines: readonly number[];
  readonly widths: readonly number[];
  readonly cells: readonly string[];
  /** Lines of the rows that are too large, of which only the beginning is there. */
  readonly tooLarge: readonly number[];
  /** Of the file, up to the end of these rows, approximately. */
  readonly bytes: number;
}

export type SheetPiece =
  /** `others` are further visible sheets with a column of addresses. */
  { readonly kind: 'sheet'; readonly name: string; readonly others: readonly string[] } | ReadRows;

/** A FileError, as a message has it. */
export interface Unreadable {
  readonly problem: FileProblem;
  readonly message: string;
}

/** Cuts `cells` into rows. */
export function rowsOf<T>(widths: readonly number[], cells: readonly T[]): T[][] {
  let end = 0;
  return widths.map((width) => {
    end += width;
    return cells.slice(end - width, end);
  });
}
