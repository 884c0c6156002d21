/** Writers of results: the columns of the file, then those of the results. All write piece by piece. */
import { DAY_MS, fromIso, toIso } from '../kernel/clock.ts';
import { notFormula, quotedFor } from '../kernel/csv.ts';
import type { ResultFormat } from '../kernel/facts/lists.ts';
import { BYTE_ORDER_MARK, type EncodeText, encoderOf, hasByteOrder } from './encode-text.ts';
import { RESULT_COLUMNS, RESULT_PREFIX, type ResultCell, type RowResult } from './result-columns.ts';
import { rowsToPiece } from './xlsx/threads.ts';
import { writeEnd, writeHead, type XlsxCell, type XlsxState } from './xlsx/write.ts';

export interface ResultRow {
  /** As many as the file has columns. */
  readonly cells: readonly string[];
  /** Cells beyond them; they are behind the results. */
  readonly extra: readonly string[];
  /** Null: nothing was verified. */
  readonly result: RowResult | null;
  /** The format `jsonl` has this in a line. */
  readonly json: object;
}

/** How CSV is written. */
export interface CsvDialect {
  readonly delimiter: string;
  /** The encoding has its name in the Encoding Standard. */
  readonly encoding: string;
  readonly byteOrderMark: boolean;
}

interface ResultWriter {
  /** What is before the rows; not to be written again when continuing. */
  head(): Uint8Array;
  rows(rows: readonly ResultRow[]): Promise<Uint8Array>;
  end(): Uint8Array;
  /** Needed to continue after what has been written so far; may be stored as JSON. */
  readonly state: WriterState;
}

export type WriterState = XlsxState | null;

/** Those that are between cells as RFC 4180 has the comma; others, such as the bars of a table, are not written. */
const WRITTEN_DELIMITERS: ReadonlySet<string> = new Set([',', ';', '\t', '|', '^', '~']);
const UTF_8 = 'utf-8';
const COMMAS: CsvDialect = { delimiter: ',', encoding: UTF_8, byteOrderMark: false };

/**
 * That of a file of text, so that whatever made it can read its results; what is null in `wanted` is as in the file.
 * Results of other files have commas, in UTF-8. Null: the encoding that is wanted is one that nobody writes.
 */
export function dialectOf(
  file: { readonly [K in keyof CsvDialect]?: CsvDialect[K] | null },
  wanted: { readonly [K in keyof CsvDialect]?: CsvDialect[K] | null } = {},
): CsvDialect | null {
  const delimiter = file.delimiter ?? ',';
  const own = file.encoding ?? UTF_8;
  const encoding = wanted.encoding ?? (encoderOf(own) === null ? UTF_8 : own);
  if (encoderOf(encoding) === null) return null;
  // Two bytes without a mark are hardly ever recognized.
  const marked = encoding.startsWith('utf-16') || (file.byteOrderMark ?? false);
  return {
    delimiter: wanted.delimiter ?? (WRITTEN_DELIMITERS.has(delimiter) ? delimiter : ','),
    encoding,
    byteOrderMark: hasByteOrder(encoding) && (wanted.byteOrderMark ?? marked),
  };
}

interface WriterOptions {
  readonly dialect?: CsvDialect;
  readonly state?: WriterState;
  readonly isBook?: boolean;
}

/** `state`: of the writer to continue. `isBook`: the rows are of a workbook; in XLSX, its cells keep their types. */
export function createResultWriter(
  format: ResultFormat,
  columns: readonly string[],
  { dialect = COMMAS, state = null, isBook = false }: WriterOptions = {},
): ResultWriter {
  const names = [...columns, ...RESULT_COLUMNS.map((name) => RESULT_PREFIX + name)];
  if (format === 'jsonl') return textWriter('', ({ json }) => `${JSON.stringify(json)}\n`, UTF_8);
  if (format === 'csv') return csvWriter(names, dialect);
  return xlsxWriter(names, state, isBook);
}

function xlsxWriter(names: readonly string[], before: WriterState, isBook: boolean): ResultWriter {
  const first = writeHead(names);
  let state = before ?? first.state;
  return {
    head: () => first.piece,
    async rows(rows) {
      const written = await rowsToPiece(state, rows.map(isBook ? typedCells : resultCells));
      ({ state } = written);
      return written.piece;
    },
    end: () => writeEnd(state),
    get state() {
      return state;
    },
  };
}

function csvWriter(names: readonly string[], { delimiter, encoding, byteOrderMark }: CsvDialect): ResultWriter {
  const quoted = quotedFor(delimiter);
  /**
   * RFC 4180. Cells of the file keep their values, so a cell that a spreadsheet takes for a formula is still one; the
   * XLSX format has no such cells.
   */
  const line = (cells: readonly string[]) => `${cells.map(quoted).join(delimiter)}\r\n`;
  const own = (result: RowResult | null) => RESULT_COLUMNS.map((name) => safeCell(result?.[name] ?? null));
  const head = `${byteOrderMark ? BYTE_ORDER_MARK : ''}${line(names)}`;
  return textWriter(head, ({ cells, result, extra }) => line([...cells, ...own(result), ...extra]), encoding);
}

function textWriter(head: string, line: (row: ResultRow) => string, encoding: string): ResultWriter {
  const encode: EncodeText = encoderOf(encoding) ?? ((text) => Buffer.from(text));
  return {
    head: () => encode(head),
    rows: (rows) => Promise.resolve(encode(rows.map(line).join(''))),
    end: () => Buffer.alloc(0),
    state: null,
  };
}

const resultCells = ({ cells, result, extra }: ResultRow): ResultCell[] => [
  ...cells,
  ...RESULT_COLUMNS.map((name) => result?.[name] ?? null),
  ...extra,
];

const typedCells = ({ cells, extra, ...row }: ResultRow): XlsxCell[] => [
  ...cells.map(typedCell),
  ...resultCells({ ...row, cells: [], extra: [] }),
  ...extra.map(typedCell),
];

/** What we add is never a formula: a suggested address may begin like one. */
function safeCell(value: ResultCell): string {
  if (value === null) return '';
  return typeof value === 'string' ? notFormula(value) : String(value);
}

/** Excel shows longer ones as 1E+12, and telephone numbers have so many. */
const INTEGER_DIGITS = 11;
const EPOCH_DAYS = 25_569;

/** What the text of a cell was in a workbook, as our reader writes it: a number, a date, TRUE or FALSE. */
function typedCell(text: string): XlsxCell {
  if (text === 'TRUE' || text === 'FALSE') return text === 'TRUE';
  if (/^-?\d/.test(text) && text.length <= 16) {
    const number = Number(text);
    if (String(number) === text && Math.abs(number) < 10 ** INTEGER_DIGITS) return number;
  }
  // Days before March 1900 have two numbers.
  if (/^(19[1-9]|[2-9]\d\d)\d-\d\d-\d\d(T\d\d:\d\d:\d\d)?$/.test(text)) {
    const ms = fromIso(text.length > 10 ? `${text}Z` : `${text}T00:00:00Z`);
    if (ms !== null && toIso(ms).startsWith(text)) return { days: ms / DAY_MS + EPOCH_DAYS };
  }
  return text;
}
