/** CSV (RFC 4180): written so that no spreadsheet takes it for formulas, and read with CR, LF and CRLF as line ends. */
import { BACKSLASH, CR, LF, SPACE, TAB } from './facts/ascii.ts';

/** Writes a line that no spreadsheet takes for formulas. */
export const csvLine = (cells: readonly (string | number | null)[]): string => `${cells.map(cell).join(',')}\r\n`;

function cell(value: string | number | null): string {
  if (value === null) return '';
  // Numbers are our own, not user input.
  return typeof value === 'number' ? String(value) : quotedForComma(notFormula(value));
}

/**
 * Spreadsheets treat cells that begin with =, +, -, @, tab or a line break as formulas, some also with the first four
 * in full width (OWASP, "CSV Injection"); a leading apostrophe marks them as text. Cells that begin with apostrophes
 * followed by one of these get one more, so that the import restores the value by removing exactly one.
 */
export const notFormula = (text: string): string => (FORMULA.test(text) ? `'${text}` : text);
/** What `notFormula` was given. */
export const unguarded = (cell: string): string => (cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell);
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/;

/** Cells as RFC 4180 has them. `delimiter`: the character in the place of the comma. */
export function quotedFor(delimiter: string): (text: string) => string {
  const special = new RegExp(`["\\r\\n\\u{${delimiter.codePointAt(0)?.toString(16) ?? 0}}]`, 'u');
  return (text) => (special.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
}
const quotedForComma = quotedFor(',');

/** How text is cut into rows and cells. */
export interface Dialect {
  /** Between cells, one character or more; empty: a line is one cell. */
  readonly delimiter: string;
  /** The characters around cells, if any. */
  readonly quote: Quote | null;
  /** Whether a backslash in a quoted cell takes the next character as it is. */
  readonly escape: boolean;
}
interface Quote {
  readonly open: string;
  readonly close: string;
}

const DOUBLE_QUOTE: Quote = { open: '"', close: '"' };
/** Follows RFC 4180, but for the delimiter. */
export const csvDialect = (delimiter: string): Dialect => ({ delimiter, quote: DOUBLE_QUOTE, escape: false });
/** A line is one cell. */
export const LINES: Dialect = { delimiter: '', quote: null, escape: false };

/** A row of text; one with a problem has one cell, its text. */
export interface TextRow {
  /** The line where it begins, counted from 1. */
  readonly line: number;
  readonly cells: readonly string[];
  readonly problem: TextProblem | null;
}
type TextProblem = 'unclosed_quote' | 'text_after_quote' | 'nul' | 'too_large';
export type RowProblem = TextProblem | 'invalid_json' | 'stray_delimiter';

/** What a row may be at most. */
export interface RowBounds {
  /** A row that is longer is a problem of its own, whatever is in it. */
  readonly rowBytes: number;
  /** A cell may have this many bytes. */
  readonly cellBytes: number;
  /** Throws; blank cells at the end of a row do not count. */
  readonly checkColumns: (count: number, line: number) => void;
}

/** So much of a row that is too large is shown. */
const SHOWN_ROW_CHARACTERS = 200;
/** After so many broken quotes, the end of one that is not closed in its own line is not searched for. */
const BROKEN_QUOTES = 200;

/** A row with quotes: its cells, or why it has none. */
type Quoted =
  | {
      readonly kind: 'row';
      readonly cells: string[];
      readonly lines: number;
      /** Where the row ends, and its line end is. */
      readonly stop: number;
      readonly end: number;
    }
  | { readonly kind: 'broken'; readonly problem: TextProblem }
  | { readonly kind: 'incomplete' };

const UNCLOSED: Quoted = { kind: 'broken', problem: 'unclosed_quote' };
const TEXT_AFTER: Quoted = { kind: 'broken', problem: 'text_after_quote' };
const INCOMPLETE: Quoted = { kind: 'incomplete' };

/**
 * Takes text block by block and holds at most one incomplete row. A broken quote costs the line it begins on: reading
 * goes on with the next line, as if there were no quote.
 */
export class RowSplitter {
  readonly #dialect: Dialect;
  readonly #open: string;
  readonly #bounds: RowBounds;
  #rest = '';
  #line: number;
  /** The line is too large already. */
  #skipping = false;
  #broken = 0;

  /** `line` is the number of the first line. */
  constructor(dialect: Dialect, bounds: RowBounds, line = 1) {
    this.#dialect = dialect;
    this.#open = dialect.quote?.open ?? '';
    this.#bounds = bounds;
    this.#line = line;
  }

  /** Returns the rows that are complete; with `final`, no text follows. */
  push(block: string, final: boolean): TextRow[] {
    const text = this.#rest === '' ? block : this.#rest + block;
    const rows: TextRow[] = [];
    const hasNul = text.includes('\0');
    const { length } = text;
    let [lf, cr, quote] = [-1, -1, this.#open === '' ? Number.POSITIVE_INFINITY : -1];
    let at = 0;
    while (at < length) {
      if (lf < at) lf = find(text, '\n', at);
      if (cr < at) cr = find(text, '\r', at);
      if (quote < at) quote = find(text, this.#open, at);
      const end = Math.min(lf, cr);
      if (!this.#skipping && quote < end && quote < length) {
        const quoted = this.#quotedRow(text, at, final);
        if (quoted.kind === 'incomplete') break;
        if (quoted.kind === 'row') {
          this.#add(rows, quoted.cells, text, at, quoted.stop, hasNul);
          this.#line += quoted.lines;
          at = quoted.end;
          continue;
        }
        this.#broken += 1;
        const next = nextLine(text, end, final);
        if (next === null && !this.#isTooLong(length - at)) break;
        const stop = Math.min(end, length);
        const isTooLong = this.#isTooLong(stop - at);
        rows.push({
          line: this.#line,
          cells: [isTooLong ? shortened(text.slice(at, at + SHOWN_ROW_CHARACTERS + 1)) : printed(text.slice(at, stop))],
          problem: isTooLong ? 'too_large' : quoted.problem,
        });
        if (next === null) this.#skipping = true;
        else this.#line += 1;
        at = next ?? length;
        continue;
      }
      const next = nextLine(text, end, final);
      if (next === null) break;
      const stop = Math.min(end, length);
      if (this.#skipping) this.#skipping = false;
      else this.#add(rows, this.#plain(text.slice(at, stop)), text, at, stop, hasNul);
      this.#line += 1;
      at = next;
    }
    this.#rest = at < length ? text.slice(at) : '';
    if (this.#skipping) this.#rest = this.#rest.endsWith('\r') ? '\r' : '';
    else if (this.#isTooLong(this.#rest.length)) {
      rows.push({ line: this.#line, cells: [shortened(this.#rest)], problem: 'too_large' });
      this.#rest = this.#rest.endsWith('\r') ? '\r' : '';
      this.#skipping = !final;
    }
    return rows;
  }

  #plain(line: string): string[] {
    const { delimiter } = this.#dialect;
    return delimiter === '' ? [line] : line.split(delimiter);
  }

  /** Longer than a row and its line end may be. */
  #isTooLong(length: number): boolean {
    return length > this.#bounds.rowBytes + 2;
  }

  #add(rows: TextRow[], cells: string[], text: string, from: number, to: number, hasNul: boolean): void {
    const { cellBytes, checkColumns } = this.#bounds;
    const line = this.#line;
    const problem = this.#problemOf(cells, to - from, cellBytes);
    if (problem !== null) rows.push({ line, cells: [shortened(text.slice(from, to))], problem });
    else if (hasNul && text.slice(from, to).includes('\0'))
      rows.push({ line, cells: [printed(text.slice(from, to))], problem: 'nul' });
    else {
      checkColumns(filledWidth(cells), line);
      rows.push({ line, cells, problem: null });
    }
  }

  #problemOf(cells: readonly string[], length: number, cellBytes: number): TextProblem | null {
    // A UTF-16 unit has at most three bytes in UTF-8.
    if (length * 3 <= cellBytes) return null;
    if (length > this.#bounds.rowBytes) return 'too_large';
    return cells.some((cell) => isLargerThan(cell, cellBytes)) ? 'too_large' : null;
  }

  #quotedRow(text: string, start: number, final: boolean): Quoted {
    const { length } = text;
    const { delimiter } = this.#dialect;
    const cells: string[] = [];
    let lines = 1;
    let at = start;
    for (;;) {
      const cell = this.#quotedCell(text, start, at, final);
      if (cell !== null && 'kind' in cell) return cell;
      if (cell !== null) {
        cells.push(cell.text);
        lines += lineEndsIn(cell.text);
        at = cell.end;
      } else {
        const from = at;
        while (at < length && !this.#endsCell(text, at)) at += 1;
        cells.push(text.slice(from, at));
      }
      if (at >= length) {
        if (final) return { kind: 'row', cells, lines, stop: length, end: length };
        return this.#isTooLong(length - start) ? UNCLOSED : INCOMPLETE;
      }
      const code = text.charCodeAt(at);
      if (code === LF || code === CR) {
        const end = nextLine(text, at, final);
        return end === null ? INCOMPLETE : { kind: 'row', cells, lines, stop: at, end };
      }
      if (!final && at + delimiter.length > length) return INCOMPLETE;
      at += delimiter.length;
    }
  }

  /** The quoted cell that begins at `at`, perhaps behind blanks; null: there is none. */
  #quotedCell(text: string, start: number, at: number, final: boolean): { text: string; end: number } | Quoted | null {
    const { quote, escape: hasEscapes } = this.#dialect;
    if (quote === null) return null;
    let open = at;
    while (this.#isBlank(text.charCodeAt(open))) open += 1;
    if (!text.startsWith(quote.open, open)) return null;
    const from = open + quote.open.length;
    const none = open > at ? null : TEXT_AFTER;
    let isEscaped = false;
    let isDoubled = false;
    /** No line ends before this index. */
    let clear = from;
    for (let search = from; ; ) {
      const close = text.indexOf(quote.close, search);
      const ownLine = this.#broken > BROKEN_QUOTES;
      if (ownLine) clear = lineEndBetween(text, clear, close < 0 ? text.length : close);
      if (close < 0 || this.#isTooLong(close - start) || (ownLine && clear < close)) {
        const isDecided = final || ownLine || this.#isTooLong(text.length - start);
        if (!isDecided) return INCOMPLETE;
        return open > at ? null : UNCLOSED;
      }
      if (hasEscapes && isEscapedAt(text, from, close)) {
        isEscaped = true;
        search = close + 1;
        continue;
      }
      const after = close + quote.close.length;
      if (after >= text.length && !final) return INCOMPLETE;
      if (quote.open === quote.close && text.startsWith(quote.close, after)) {
        isDoubled = true;
        search = after + 1;
        continue;
      }
      let end = after;
      while (this.#isBlank(text.charCodeAt(end))) end += 1;
      if (end >= text.length && !final) return INCOMPLETE;
      if (end >= text.length || this.#endsCell(text, end)) {
        let cell = text.slice(from, close);
        if (isDoubled) cell = cell.replaceAll(quote.close + quote.close, quote.close);
        if (isEscaped || (hasEscapes && cell.includes('\\'))) cell = cell.replaceAll(/\\([\s\S])/g, '$1');
        return { text: cell, end };
      }
      // A quote inside a cell that was not doubled, if the cell ends in this line.
      const later = text.indexOf(quote.close, close + 1);
      const stop = later < 0 ? text.length : later;
      clear = lineEndBetween(text, clear, stop);
      if (clear < stop) return none;
      if (later < 0) return final || this.#isTooLong(text.length - start) ? none : INCOMPLETE;
      search = close + 1;
    }
  }

  #endsCell(text: string, at: number): boolean {
    const code = text.charCodeAt(at);
    if (code === LF || code === CR) return true;
    const { delimiter } = this.#dialect;
    return (
      delimiter !== '' && code === delimiter.charCodeAt(0) && (delimiter.length === 1 || text.startsWith(delimiter, at))
    );
  }

  /** Blanks may stand around quotes. */
  #isBlank(code: number): boolean {
    return code === SPACE || (code === TAB && this.#dialect.delimiter !== '\t');
  }
}

/** An odd number of backslashes before it escapes it. */
function isEscapedAt(text: string, from: number, at: number): boolean {
  let count = 0;
  while (at - count > from && text.charCodeAt(at - count - 1) === BACKSLASH) count += 1;
  return count % 2 === 1;
}

/** Returns the index of the first line end, or `to` if there is none before it. */
function lineEndBetween(text: string, from: number, to: number): number {
  let at = from;
  while (at < to) {
    const code = text.charCodeAt(at);
    if (code === LF || code === CR) return at;
    at += 1;
  }
  return Math.max(at, to);
}

const find = (text: string, what: string, from: number): number => {
  const at = text.indexOf(what, from);
  return at < 0 ? Number.POSITIVE_INFINITY : at;
};

/**
 * Where the line after the line end at `end` begins; null: more text is needed to know. CR LF, CR, LF, and what is left
 * of CR LF that was converted once too often: CR CR LF, LF CR.
 */
function nextLine(text: string, end: number, final: boolean): number | null {
  const { length } = text;
  if (end >= length) return final ? length : null;
  if (end + 2 >= length && !final) return null;
  const [first, second, third] = [text.charCodeAt(end), text.charCodeAt(end + 1), text.charCodeAt(end + 2)];
  if (first === LF) return second === CR && third !== LF && third !== CR ? end + 2 : end + 1;
  if (second === LF) return end + 2;
  return second === CR && third === LF ? end + 3 : end + 1;
}

const lineEndsIn = (cell: string): number => (/[\r\n]/.test(cell) ? cell.split(/\r\n|\r|\n/).length - 1 : 0);

/** Databases cannot store NUL. */
const printed = (text: string): string => text.replaceAll('\0', '\u{FFFD}');
const shortened = (text: string): string =>
  printed(text.length > SHOWN_ROW_CHARACTERS ? `${text.slice(0, SHOWN_ROW_CHARACTERS)}…` : text);

const isLargerThan = (text: string, bytes: number): boolean => {
  if (text.length * 3 <= bytes) return false;
  return text.length > bytes || new TextEncoder().encode(text).length > bytes;
};

function filledWidth(cells: readonly string[]): number {
  let width = cells.length;
  while (width > 0 && cells[width - 1]?.trim() === '') width -= 1;
  return width;
}

/** Excel names the delimiter in a first line `sep=;`, which is sometimes quoted. */
const SEPARATOR_LINE = /^"?sep=([^\r\n"]{1,2})"?[^\S\r\n]*(\r\n|\r|\n)/i;

/** Returns the delimiter that a first line names, and the length of that line. */
export function namedDelimiter(text: string): { delimiter: string; length: number } | null {
  const named = SEPARATOR_LINE.exec(text);
  return named === null ? null : { delimiter: named[1] ?? ',', length: named[0].length };
}

/** A splitter without bounds: for samples. */
export const UNBOUNDED: RowBounds = {
  rowBytes: Number.POSITIVE_INFINITY,
  cellBytes: Number.POSITIVE_INFINITY,
  checkColumns: () => undefined,
};
