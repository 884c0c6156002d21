/** The rows of a sheet: `<row r="2"><c r="A2" t="s"><v>0</v></c>…</row>`. */
import { unreadable } from '../problems.ts';
import type { RowLimits } from '../rows.ts';
import { mailtoOf, withLink } from './book.ts';
import { evaluateFormula, FORMULA_LENGTH } from './formula.ts';
import { RowCollector } from './row-collector.ts';
import type { SharedStrings } from './shared-strings.ts';
import { type NumberStyle, numberText } from './styles.ts';
import { unescapeText } from './text.ts';
import { attributeOf, eachAttribute, type XmlHandler } from './xml.ts';

interface SheetContext {
  readonly strings: SharedStrings | null;
  readonly styles: readonly NumberStyle[];
  readonly is1904: boolean;
  /** Addresses that cells link to, by their place, such as `A2`. */
  readonly links: ReadonlyMap<string, string>;
  readonly limits: RowLimits & { readonly rows: number };
}

/** Collects rows with text. Rows that only have a format are left out like those that the sheet leaves out. */
export class SheetRows implements XmlHandler {
  wantsText = false;
  readonly rows: RowCollector;
  readonly #context: SheetContext;
  #line = 0;
  #column = 0;
  #place = '';
  #type = '';
  #style = 0;
  #value = '';
  #formula = '';
  #inFormula = false;
  #phonetic = 0;

  constructor(context: SheetContext) {
    this.#context = context;
    this.rows = new RowCollector(context.limits);
  }

  open(name: string, tag: string): void {
    if (name === 'c') this.#openCell(tag);
    else if (name === 'v') this.wantsText = true;
    else if (name === 't') this.wantsText = this.#phonetic === 0;
    else if (name === 'f') this.wantsText = this.#inFormula = true;
    else if (name === 'rPh') this.#phonetic += 1;
    else if (name === 'row') this.#openRow(tag);
  }

  close(name: string): void {
    if (name === 'v' || name === 't') this.wantsText = false;
    else if (name === 'f') this.wantsText = this.#inFormula = false;
    else if (name === 'c') this.#closeCell();
    else if (name === 'rPh') this.#phonetic -= 1;
    else if (name === 'row') this.rows.endRow();
  }

  text(piece: string): void {
    if (this.#inFormula) {
      if (this.#formula.length <= FORMULA_LENGTH) this.#formula += piece;
      return;
    }
    // What is longer than a row may be makes the row too large, however long it is.
    if (this.#value.length <= this.#context.limits.rowBytes) this.#value += piece;
  }

  #openRow(tag: string): void {
    const given = attributeOf(tag, 'r');
    const line = given === null ? this.#line + 1 : Number(given);
    if (!Number.isSafeInteger(line) || line < 1) throw unreadable('a row has no valid number', this.#line + 1);
    this.#line = line;
    this.#column = 0;
    this.rows.startRow(line);
  }

  #openCell(tag: string): void {
    const { at, place, type, style } = cellOf(tag);
    this.#column = at ?? this.#column + 1;
    this.#place = place;
    this.#type = type;
    this.#style = style;
    this.#value = '';
    this.#formula = '';
  }

  #closeCell(): void {
    let text = this.#textOf(this.#value);
    if (this.#formula !== '') text = this.#withFormula(text);
    const link = this.#context.links.get(this.#place);
    if (link !== undefined) text = withLink(text, link);
    this.#value = '';
    this.#formula = '';
    // A cell may have only a format.
    if (text !== '') this.rows.setCell(this.#column, text);
  }

  #textOf(value: string): string {
    if (this.#type === 's') return this.#context.strings?.at(value === '' ? -1 : Number(value)) ?? '';
    if (this.#type === 'b') return value === '1' ? 'TRUE' : value === '0' ? 'FALSE' : value;
    if (this.#type === 'inlineStr' || this.#type === 'str') return unescapeText(value);
    if (this.#type === 'e' || this.#type === 'd' || value.trim() === '') return value;
    const number = Number(value);
    if (!Number.isFinite(number)) return value;
    return numberText(number, this.#context.styles[this.#style] ?? null, this.#context.is1904);
  }

  /** Programs may leave it to Excel to calculate: what cannot be read without it is shown as it is. */
  #withFormula(text: string): string {
    const isLink = /^\s*(_xlfn\.)?HYPERLINK\s*\(/i.test(this.#formula);
    if (text !== '' && !isLink) return text;
    const found = evaluateFormula(this.#formula, (place) => this.#cellAt(place));
    if (found === null) return text === '' ? `=${this.#formula}` : text;
    const shown = text === '' ? found.text : text;
    const address = found.link === null ? null : mailtoOf(found.link);
    return address === null ? shown : withLink(shown, address);
  }

  /** Of the same row. */
  #cellAt(place: string): string | null {
    const column = columnOf(place);
    return column !== null && place.replace(/^[A-Z]+/, '') === String(this.#line) ? this.rows.cell(column) : null;
  }
}

interface CellTag {
  /** Number of the column, from 1; null: the next one. */
  at: number | null;
  place: string;
  type: string;
  style: number;
}

function cellOf(tag: string): CellTag {
  const cell: CellTag = { at: null, place: '', type: '', style: 0 };
  eachAttribute(tag, (name, value) => {
    if (name === 'r') {
      cell.at = columnOf(value);
      cell.place = value;
    } else if (name === 't') cell.type = value === 'n' ? '' : value;
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
