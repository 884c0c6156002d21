/** CSV (RFC 4180): written so that no spreadsheet takes it for formulas, and read with CR, LF and CRLF as line ends. */

// Writing.

/** A line that no spreadsheet takes for formulas. */
export const csvLine = (cells: readonly (string | number | null)[]): string => `${cells.map(cell).join(',')}\r\n`;

function cell(value: string | number | null): string {
  if (value === null) return '';
  // Numbers are our own, not user input.
  return typeof value === 'number' ? String(value) : quoted(notFormula(value));
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
const quoted = quotedFor(',');

// Reading.

/** `none`: a line is one cell, and quotes mean nothing. */
export type Delimiter = ',' | ';' | '\t' | 'none';

/** A row of text; one with a problem has one cell, its text. */
export interface TextRow {
  /** Where it begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
  readonly problem: TextProblem | null;
}
export type TextProblem = 'unclosed_quote' | 'text_after_quote' | 'nul';
/** Of a row of any kind of file. */
export type RowProblem = TextProblem | 'invalid_json' | 'too_large';

/** What a row may be at most. The checks throw, each reader its own error. */
export interface RowBounds {
  /** A quote that is not closed within so many characters belongs to the text. */
  readonly rowBytes: number;
  /** Of the row in `text` from `start` to `end`. */
  readonly checkSize: (text: string, start: number, end: number, line: number) => void;
  readonly checkColumns: (count: number, line: number) => void;
}

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
  | { readonly kind: 'broken'; readonly problem: TextProblem }
  | { readonly kind: 'incomplete' };

const BROKEN = {
  unclosed_quote: { kind: 'broken', problem: 'unclosed_quote' },
  text_after_quote: { kind: 'broken', problem: 'text_after_quote' },
  nul: { kind: 'broken', problem: 'nul' },
} as const satisfies Record<TextProblem, Quoted>;
const INCOMPLETE: Quoted = { kind: 'incomplete' };

/**
 * Takes text block by block and holds at most one incomplete row. A broken quote costs the line it begins on: reading
 * goes on with the next line, as if there were no quote.
 */
export class RowSplitter {
  readonly #delimiter: Delimiter;
  readonly #comma: number;
  readonly #bounds: RowBounds;
  #rest = '';
  #line: number;

  /** `line`: the number of the first. */
  constructor(delimiter: Delimiter, bounds: RowBounds, line = 1) {
    this.#delimiter = delimiter;
    this.#comma = delimiter === 'none' ? -1 : delimiter.charCodeAt(0);
    this.#bounds = bounds;
    this.#line = line;
  }

  /** The rows that are complete; `final`: no text follows. */
  push(block: string, final: boolean): TextRow[] {
    const text = this.#rest === '' ? block : this.#rest + block;
    const rows: TextRow[] = [];
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
          this.#bounds.checkSize(text, at, quoted.stop, this.#line);
          this.#add(rows, quoted.cells, raw);
          this.#line += quoted.lines;
          at = quoted.end;
          continue;
        }
        const next = nextLine(text, end, final);
        if (next === null && !this.#isTooLong(length - at)) break;
        const stop = Math.min(end, length);
        this.#bounds.checkSize(text, at, stop, this.#line);
        rows.push({ line: this.#line, cells: [printed(text.slice(at, stop))], problem: quoted.problem });
        this.#line += 1;
        at = next ?? length;
        continue;
      }
      const next = nextLine(text, end, final);
      if (next === null) break;
      const stop = Math.min(end, length);
      this.#bounds.checkSize(text, at, stop, this.#line);
      const line = text.slice(at, stop);
      this.#add(rows, this.#delimiter === 'none' ? [line] : line.split(this.#delimiter), hasNul ? line : '');
      this.#line += 1;
      at = next;
    }
    this.#rest = at < length ? text.slice(at) : '';
    if (this.#isTooLong(this.#rest.length)) this.#bounds.checkSize(this.#rest, 0, this.#rest.length, this.#line);
    return rows;
  }

  /** Longer than a row and its line end may be. */
  #isTooLong(length: number): boolean {
    return length > this.#bounds.rowBytes + 2;
  }

  #add(rows: TextRow[], cells: string[], raw: string): void {
    this.#bounds.checkColumns(cells.length, this.#line);
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

const CANDIDATES = [',', ';', '\t'] as const;
const SAMPLE_LENGTH = 50_000;
const SAMPLE_ROWS = 100;
const UNBOUNDED: RowBounds = {
  rowBytes: Number.POSITIVE_INFINITY,
  checkSize: () => undefined,
  checkColumns: () => undefined,
};

/** Excel's way of naming the delimiter: a first line `sep=;`. */
const SEPARATOR_LINE = /^sep=([,;\t])(\r\n|\r|\n)/i;

interface Detected {
  readonly delimiter: Delimiter;
  /** Characters to skip: a line that only names the delimiter. */
  readonly skip: number;
}

/**
 * The delimiter that cuts most rows of the beginning of a file into as many cells as its first row. `none` if no
 * delimiter does, and lines are not quoted cells either.
 */
export function detectDelimiter(text: string): Detected {
  const named = SEPARATOR_LINE.exec(text);
  const given = CANDIDATES.find((candidate) => candidate === named?.[1]);
  if (named !== null && given !== undefined) return { delimiter: given, skip: named[0].length };
  const sample = text.slice(0, SAMPLE_LENGTH);
  const rated = CANDIDATES.map((delimiter) => ({ delimiter, ...rate(sample, delimiter) }));
  const best = rated.reduce((a, b) => (b.rows > a.rows || (b.rows === a.rows && b.width > a.width) ? b : a));
  if (best.rows > 0) return { delimiter: best.delimiter, skip: 0 };
  return { delimiter: isQuotedColumn(sample) ? ',' : 'none', skip: 0 };
}

/** How many rows have the width of the first row or, if that has one cell, the width of most rows. */
function rate(sample: string, delimiter: Delimiter): { rows: number; width: number } {
  const widths = sampleOf(sample, delimiter).map((cells) => cells.length);
  const counts = new Map<number, number>();
  for (const width of widths) counts.set(width, (counts.get(width) ?? 0) + 1);
  const [first = 1] = widths;
  if (first > 1) return { rows: counts.get(first) ?? 0, width: first };
  const [width, rows] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a), [1, 0]);
  return width > 1 && rows * 2 > widths.length ? { rows, width } : { rows: 0, width: 1 };
}

/** Rows that are neither blank nor broken. */
function sampleOf(sample: string, delimiter: Delimiter): (readonly string[])[] {
  const splitter = new RowSplitter(delimiter, UNBOUNDED);
  const rows = splitter.push(sample, true);
  return rows
    .filter(({ cells, problem }) => problem === null && cells.some((cell) => cell.trim() !== ''))
    .slice(0, SAMPLE_ROWS)
    .map(({ cells }) => cells);
}

/** One column, each cell in quotes. */
function isQuotedColumn(sample: string): boolean {
  const lines = sampleOf(sample, 'none').map(([line = '']) => line.trim());
  return lines.length > 0 && lines.every((line) => /^"([^"]|"")*"$/.test(line));
}
