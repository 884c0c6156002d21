/** Rows of a sheet, in bounds. */
import { tooLarge } from '../problems.ts';
import { checkColumns, type RawRow, type RowLimits } from '../rows.ts';

/** A cell takes this many bytes beside its text. */
const BESIDE_TEXT = 8;
const SHOWN_LENGTH = 200;
/** Equal rows that a file may write as one. */
const REPEATED_MAX = 10_000;

/** Collects rows that have text; blank cells at their ends do not count. One that is too large has a problem. */
export class RowCollector {
  readonly #limits: RowLimits & { readonly rows: number };
  #rows: RawRow[] = [];
  #bytes = 0;
  #line = 0;
  #cells: string[] = [];
  #size = 0;
  #isTooLarge = false;

  /** `rows`: of the sheet beside the header, those that it leaves out included. */
  constructor(limits: RowLimits & { readonly rows: number }) {
    this.#limits = limits;
  }

  /** Returns the rows since the last call. */
  take(): readonly RawRow[] {
    const rows = this.#rows;
    this.#rows = [];
    this.#bytes = 0;
    return rows;
  }

  /** That these rows take, approximately. */
  get bytes(): number {
    return this.#bytes;
  }

  startRow(line: number): void {
    this.#line = line;
    this.#cells = [];
    this.#size = 0;
    this.#isTooLarge = false;
  }

  /** Returns the cell of the row that has been started; `column` counts from 1. */
  cell(column: number): string {
    return this.#cells[column - 1] ?? '';
  }

  setCell(column: number, text: string): void {
    this.#size += Buffer.byteLength(text);
    if (this.#size > this.#limits.rowBytes) {
      this.#isTooLarge = true;
      return;
    }
    checkColumns(column, this.#limits, this.#line);
    while (this.#cells.length < column) this.#cells.push('');
    this.#cells[column - 1] = text;
  }

  /** `times`: as many rows with the same cells follow one another. */
  endRow(times = 1): void {
    if (this.#cells.length === 0 && !this.#isTooLarge) return;
    const { rows } = this.#limits;
    if (times > REPEATED_MAX) throw tooLarge(REPEATED_MAX, 'equal rows one after the other', this.#line);
    if (this.#line + times - 1 > rows + 1) throw tooLarge(rows, 'rows');
    // What is shown of it.
    if (this.#isTooLarge) this.#cells = [(this.#cells.find((cell) => cell !== '') ?? '').slice(0, SHOWN_LENGTH)];
    const problem = this.#isTooLarge ? 'too_large' : null;
    for (let n = 0; n < times; n++) {
      this.#rows.push({ line: this.#line + n, cells: this.#cells, problem });
      this.#bytes += Math.min(this.#size, this.#limits.rowBytes) + this.#cells.length * BESIDE_TEXT;
    }
    this.#cells = [];
    this.#isTooLarge = false;
  }
}
