import { type Delimiter, RowSplitter } from './split-rows.ts';

const CANDIDATES = [',', ';', '\t'] as const;
const SAMPLE_LENGTH = 50_000;
const SAMPLE_ROWS = 100;
const UNLIMITED = { rowBytes: Number.POSITIVE_INFINITY, columns: Number.POSITIVE_INFINITY };

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
  const splitter = new RowSplitter(delimiter, UNLIMITED);
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
