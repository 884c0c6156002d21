/** The rows of a sheet: `<row r="2"><c r="A2" t="s"><v>0</v></c>…</row>`. */
import { tooLarge, unreadable } from '../problems.ts';
import { checkColumns, type RawRow, type RowLimits } from '../rows.ts';
import { dateText } from './dates.ts';
import type { SharedStrings } from './shared-strings.ts';
import { unescapeText } from './text.ts';
import { attributeOf, eachAttribute, type XmlHandler } from './xml.ts';

interface SheetContext {
  readonly strings: SharedStrings | null;
  readonly dateStyles: readonly boolean[];
  readonly is1904: boolean;
  readonly limits: RowLimits;
  /** Rows of the sheet beside the header, those that it leaves out included. */
  readonly maxRows: number;
}

/** Bytes of a cell beside its text. */
const BESIDE_TEXT = 8;

/** Collects rows with text. Rows that only have a format are left out like those that the sheet leaves out. */
export class SheetRows implements XmlHandler {
  wantsText = false;
  readonly #context: SheetContext;
  #rows: RawRow[] = [];
  #bytes = 0;
  #line = 0;
  #cells: string[] = [];
  #size = 0;
  #column = 0;
  #type = '';
  #isDate = false;
  #value = '';
  #phonetic = 0;

  constructor(context: SheetContext) {
    this.#context = context;
  }

  /** The rows since the last call. */
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

  open(name: string, tag: string): void {
    if (name === 'c') this.#openCell(tag);
    else if (name === 'v') this.wantsText = true;
    else if (name === 't') this.wantsText = this.#phonetic === 0;
    else if (name === 'rPh') this.#phonetic += 1;
    else if (name === 'row') this.#openRow(tag);
  }

  close(name: string): void {
    if (name === 'v' || name === 't') this.wantsText = false;
    else if (name === 'c') this.#closeCell();
    else if (name === 'rPh') this.#phonetic -= 1;
    else if (name === 'row') this.#closeRow();
  }

  text(piece: string): void {
    if (this.#value.length + piece.length > this.#context.limits.rowBytes) this.#rowTooLarge();
    this.#value += piece;
  }

  #openRow(tag: string): void {
    const given = attributeOf(tag, 'r');
    const line = given === null ? this.#line + 1 : Number(given);
    if (!Number.isSafeInteger(line) || line <= this.#line)
      throw unreadable('its rows are not in order', this.#line + 1);
    this.#line = line;
    this.#cells = [];
    this.#size = 0;
    this.#column = 0;
  }

  #closeRow(): void {
    if (this.#cells.length === 0) return;
    const { maxRows } = this.#context;
    if (this.#line > maxRows + 1) throw tooLarge(maxRows, 'rows');
    this.#rows.push({ line: this.#line, cells: this.#cells, problem: null });
    this.#bytes += this.#size + this.#cells.length * BESIDE_TEXT;
    this.#cells = [];
  }

  #openCell(tag: string): void {
    const { at, type, style } = cellOf(tag);
    this.#column = at ?? this.#column + 1;
    this.#type = type;
    this.#isDate = type === '' && this.#context.dateStyles[style] === true;
    this.#value = '';
  }

  #closeCell(): void {
    const text = this.#textOf(this.#value);
    this.#value = '';
    // A cell may have only a format.
    if (text === '') return;
    this.#size += Buffer.byteLength(text);
    if (this.#size > this.#context.limits.rowBytes) this.#rowTooLarge();
    checkColumns(this.#column, this.#context.limits, this.#line);
    while (this.#cells.length < this.#column) this.#cells.push('');
    this.#cells[this.#column - 1] = text;
  }

  #textOf(value: string): string {
    if (this.#type === 's') return this.#context.strings?.at(value === '' ? -1 : Number(value)) ?? '';
    if (this.#type === 'b') return value === '1' ? 'TRUE' : value === '0' ? 'FALSE' : value;
    if (this.#type === 'inlineStr' || this.#type === 'str') return unescapeText(value);
    if (this.#type === 'e' || this.#type === 'd' || value.trim() === '') return value;
    const number = Number(value);
    if (!Number.isFinite(number)) return value;
    const date = this.#isDate ? dateText(number, this.#context.is1904) : null;
    // Excel shows 15 digits; files have the 17 of the binary number.
    return date ?? String(Number(number.toPrecision(15)));
  }

  #rowTooLarge(): never {
    throw tooLarge(this.#context.limits.rowBytes, 'bytes in a row', this.#line);
  }
}

interface CellTag {
  /** Number of the column, from 1; null: the next one. */
  at: number | null;
  type: string;
  style: number;
}

function cellOf(tag: string): CellTag {
  const cell: CellTag = { at: null, type: '', style: 0 };
  eachAttribute(tag, (name, value) => {
    if (name === 'r') cell.at = columnOf(value);
    else if (name === 't') cell.type = value === 'n' ? '' : value;
    else if (name === 's') cell.style = Number(value);
  });
  return cell;
}

const LETTER_A = 65;
const LETTERS = 26;

/** `A5` → 1, `AB7` → 28; no sheet has more than three letters. */
function columnOf(reference: string): number | null {
  let column = 0;
  for (let at = 0; at < 3; at++) {
    const letter = (reference.charCodeAt(at) & ~0x20) - LETTER_A;
    if (!(letter >= 0 && letter < LETTERS)) break;
    column = column * LETTERS + letter + 1;
  }
  return column === 0 ? null : column;
}
