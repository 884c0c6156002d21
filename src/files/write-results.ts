/** Writers of results: the columns of the file, then those of the results. All write piece by piece. */
import { notFormula, quoted } from '../kernel/csv.ts';
import type { ResultFormat } from '../kernel/facts/lists.ts';
import { RESULT_COLUMNS, RESULT_PREFIX, type Result, type ResultCell } from './result-columns.ts';
import { rowsToPiece } from './xlsx/threads.ts';
import { typedCell, writeEnd, writeHead, type XlsxCell, type XlsxState } from './xlsx/write.ts';

export interface ResultRow {
  /** As many as the file has columns. */
  readonly cells: readonly string[];
  /** Cells beyond them; they stand behind the results. */
  readonly extra: readonly string[];
  /** Null: nothing was verified. */
  readonly result: Result | null;
  /** The line of the format `jsonl`. */
  readonly json: object;
}

interface ResultWriter {
  /** What stands before the rows; not to be written again when continuing. */
  head(): Uint8Array;
  rows(rows: readonly ResultRow[]): Promise<Uint8Array>;
  end(): Uint8Array;
  /** Needed to continue after what has been written so far; may be stored as JSON. */
  readonly state: WriterState;
}

export type WriterState = XlsxState | null;

/** `state`: of the writer to continue. `isBook`: the rows are of a workbook; in XLSX, its cells keep their types. */
export function createResultWriter(
  format: ResultFormat,
  columns: readonly string[],
  state: WriterState = null,
  isBook = false,
): ResultWriter {
  const names = [...columns, ...RESULT_COLUMNS.map((name) => RESULT_PREFIX + name)];
  if (format === 'jsonl') return textWriter('', ({ json }) => `${JSON.stringify(json)}\n`);
  if (format === 'csv') return textWriter(csvLine(names, []), csvRow);
  return xlsxWriter(names, state, isBook);
}

function xlsxWriter(names: readonly string[], before: WriterState, isBook: boolean): ResultWriter {
  const first = writeHead(names);
  let state = before ?? first.state;
  return {
    head: () => first.piece,
    async rows(rows) {
      const written = await rowsToPiece(state, rows.map(isBook ? typedCells : cellsOf));
      ({ state } = written);
      return written.piece;
    },
    end: () => writeEnd(state),
    get state() {
      return state;
    },
  };
}

function textWriter(head: string, line: (row: ResultRow) => string): ResultWriter {
  return {
    head: () => Buffer.from(head),
    rows: (rows) => Promise.resolve(Buffer.from(rows.map(line).join(''))),
    end: () => Buffer.alloc(0),
    state: null,
  };
}

const cellsOf = ({ cells, result, extra }: ResultRow): ResultCell[] => [
  ...cells,
  ...RESULT_COLUMNS.map((name) => result?.[name] ?? null),
  ...extra,
];

const typedCells = ({ cells, extra, ...row }: ResultRow): XlsxCell[] => [
  ...cells.map(typedCell),
  ...cellsOf({ ...row, cells: [], extra: [] }),
  ...extra.map(typedCell),
];

function csvRow({ cells, result, extra }: ResultRow): string {
  const own = RESULT_COLUMNS.map((name) => safeCell(result?.[name] ?? null));
  return csvLine([...cells, ...own], extra);
}

/**
 * RFC 4180. Cells of the file keep their values, so a cell that a spreadsheet takes for a formula is still one; the
 * XLSX format has no such cells.
 */
const csvLine = (cells: readonly string[], extra: readonly string[]): string =>
  `${(extra.length === 0 ? cells : [...cells, ...extra]).map(quoted).join(',')}\r\n`;

/** What we add is never a formula: a suggested address may begin like one. */
function safeCell(value: ResultCell): string {
  if (value === null) return '';
  return typeof value === 'string' ? notFormula(value) : String(value);
}
