/** Text to rows and cells (RFC 4180, with CR, LF and CRLF as line ends). */

import type { RowProblem } from './problems.ts';
import { checkColumns, checkRowSize, type RawRow, type RowLimits } from './rows.ts';

/** `none`: a line is one cell, and quotes mean nothing. */
export type Delimiter = ',' | ';' | '\t' | 'none';

const QUOTE = 0x22;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;

/** A row with quotes: its cells, or why it has none. */
type Quoted =
  | {
      readonly kind: 'row';
      readonly cells: string[];
      readonly lines: number;
      /** Where the row ends, and its line end. */
      readonly stop: number;
      readonly end: number;
    }
  | { readonly kind: 'broken'; readonly problem: RowProblem }
  | { readonly kind: 'incomplete' };

const BROKEN: Readonly<Record<RowProblem, Quoted>> = {
  unclosed_quote: { kind: 'broken', problem: 'unclosed_quote' },
  text_after_quote: { kind: 'broken', problem: 'text_after_quote' },
  nul: { kind: 'broken', problem: 'nul' },
};
const INCOMPLETE: Quoted = { kind: 'incomplete' };

/**
 * Takes text block by block and holds at most one incomplete row. A broken quote costs the line it begins on: reading
 * goes on with the next line, as if there were no quote.
 */
export class RowSplitter {
  readonly #delimiter: Delimiter;
  readonly #comma: number;
  readonly #limits: RowLimits;
  #rest = '';
  #line: number;

  constructor(delimiter: Delimiter, limits: RowLimits, line = 1) {
    this.#delimiter = delimiter;
    this.#comma = delimiter === 'none' ? -1 : delimiter.charCodeAt(0);
    this.#limits = limits;
    this.#line = line;
  }

  /** The rows that are complete; `final`: no text follows. */
  push(block: string, final: boolean): RawRow[] {
    const text = this.#rest === '' ? block : this.#rest + block;
    const rows: RawRow[] = [];
    const hasNul = text.includes('\0');
    const { length } = text;
    let [lf, cr, quote] = [-1, -1, this.#delimiter === 'none' ? Number.POSITIVE_INFINITY : -1];
    let at = 0;
    while (at < length) {
      if (lf < at) lf = find(text, '\n', at);
      if (cr < at) cr = find(text, '\r', at);
      if (quote < at) quote = find(text, '"', at);
      const end = Math.min(lf, cr);
      if (quote < end && quote < length) {
        const quoted = this.#quotedRow(text, at, final);
        if (quoted.kind === 'incomplete') break;
        if (quoted.kind === 'row') {
          const raw = hasNul ? text.slice(at, quoted.end) : '';
          checkRowSize(text, at, quoted.stop, this.#limits, this.#line);
          this.#add(rows, quoted.cells, raw);
          this.#line += quoted.lines;
          at = quoted.end;
          continue;
        }
        const next = nextLine(text, end, final);
        if (next === null && !this.#isTooLong(length - at)) break;
        const stop = Math.min(end, length);
        checkRowSize(text, at, stop, this.#limits, this.#line);
        rows.push({ line: this.#line, cells: [printed(text.slice(at, stop))], problem: quoted.problem });
        this.#line += 1;
        at = next ?? length;
        continue;
      }
      const next = nextLine(text, end, final);
      if (next === null) break;
      const stop = Math.min(end, length);
      checkRowSize(text, at, stop, this.#limits, this.#line);
      const line = text.slice(at, stop);
      this.#add(rows, this.#delimiter === 'none' ? [line] : line.split(this.#delimiter), hasNul ? line : '');
      this.#line += 1;
      at = next;
    }
    this.#rest = at < length ? text.slice(at) : '';
    if (this.#isTooLong(this.#rest.length)) checkRowSize(this.#rest, 0, this.#rest.length, this.#limits, this.#line);
    return rows;
  }

  /** Longer than a row and its line end may be. */
  #isTooLong(length: number): boolean {
    return length > this.#limits.rowBytes + 2;
  }

  #add(rows: RawRow[], cells: string[], raw: string): void {
    checkColumns(cells.length, this.#limits, this.#line);
    if (raw.includes('\0')) rows.push({ line: this.#line, cells: [printed(raw)], problem: 'nul' });
    else rows.push({ line: this.#line, cells, problem: null });
  }

  #quotedRow(text: string, start: number, final: boolean): Quoted {
    const { length } = text;
    const cells: string[] = [];
    let lines = 1;
    let at = start;
    for (;;) {
      if (text.charCodeAt(at) === QUOTE) {
        const close = this.#closingQuote(text, start, at, final);
        if (typeof close !== 'number') return close;
        const cell = text.slice(at + 1, close);
        cells.push(cell.includes('"') ? cell.replaceAll('""', '"') : cell);
        lines += lineEndsIn(cell);
        at = close + 1;
        while (this.#isBlank(text.charCodeAt(at))) at += 1;
      } else {
        const from = at;
        while (at < length && !this.#endsCell(text.charCodeAt(at))) at += 1;
        cells.push(text.slice(from, at));
      }
      if (at >= length)
        return final ? { kind: 'row', cells, lines, stop: length, end: length } : this.#incomplete(length - start);
      const code = text.charCodeAt(at);
      if (code === this.#comma) at += 1;
      else if (code === LF || code === CR) {
        const end = nextLine(text, at, final);
        return end === null ? INCOMPLETE : { kind: 'row', cells, lines, stop: at, end };
      } else return BROKEN.text_after_quote;
    }
  }

  #closingQuote(text: string, start: number, open: number, final: boolean): number | Quoted {
    for (let from = open + 1; ; ) {
      const close = text.indexOf('"', from);
      if (close < 0 || this.#isTooLong(close - start))
        return final || this.#isTooLong(text.length - start) ? BROKEN.unclosed_quote : INCOMPLETE;
      if (close + 1 === text.length && !final) return INCOMPLETE;
      if (text.charCodeAt(close + 1) !== QUOTE) return close;
      from = close + 2;
    }
  }

  #incomplete(length: number): Quoted {
    return this.#isTooLong(length) ? BROKEN.unclosed_quote : INCOMPLETE;
  }

  #endsCell = (code: number): boolean => code === this.#comma || code === LF || code === CR;
  /** Between a closing quote and the delimiter. */
  #isBlank = (code: number): boolean => code === SPACE || (code === TAB && this.#comma !== TAB);
}

const find = (text: string, what: string, from: number): number => {
  const at = text.indexOf(what, from);
  return at < 0 ? Number.POSITIVE_INFINITY : at;
};

/** Where the line after the line end at `end` begins; null: more text is needed to know. */
function nextLine(text: string, end: number, final: boolean): number | null {
  if (end >= text.length) return final ? text.length : null;
  if (text.charCodeAt(end) === LF) return end + 1;
  if (end + 1 === text.length && !final) return null;
  return text.charCodeAt(end + 1) === LF ? end + 2 : end + 1;
}

const lineEndsIn = (cell: string): number => (/[\r\n]/.test(cell) ? cell.split(/\r\n|\r|\n/).length - 1 : 0);

/** Databases store no NUL. */
const printed = (text: string): string => text.replaceAll('\0', '\u{FFFD}');
