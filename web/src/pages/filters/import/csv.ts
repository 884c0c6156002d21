import {
  detectDelimiter,
  type RowBounds,
  RowSplitter,
  type TextProblem,
  unguarded,
} from '../../../../../src/kernel/csv.ts';
import { LIST_ROW_BYTES } from '../../../../../src/kernel/facts/limits.ts';
import { fromRows, hasHeader, type ImportLine, MAX_BYTES, readLines, UnusableText } from './lines.ts';

/** Parses text as lines, or as CSV if the first line names columns. Throws UnusableText. */
export function readTyped(text: string): ImportLine[] {
  return hasHeader(text) ? readCsv(text) : readLines(text);
}

/** Throws UnusableText if the file is too large, not UTF-8 or not CSV. */
export async function readFile(file: File): Promise<ImportLine[]> {
  if (file.size > MAX_BYTES) {
    const size = (file.size / 1024 / 1024).toFixed(1);
    throw new UnusableText(`${file.name} is ${size} MiB; the limit is ${MAX_BYTES / 1024 / 1024} MiB. Split the file.`);
  }
  return readCsv(decode(await file.arrayBuffer(), file.name));
}

function decode(bytes: ArrayBuffer, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UnusableText(`${name} is not UTF-8 text. Save it as “CSV UTF-8” and choose it again.`);
  }
}

function readCsv(text: string): ImportLine[] {
  const withoutMark = text.replace(/^\uFEFF/, '');
  const { delimiter, skip } = detectDelimiter(withoutMark);
  const splitter = new RowSplitter(delimiter === 'none' ? ',' : delimiter, BOUNDS, skip > 0 ? 2 : 1);
  const rows = splitter.push(withoutMark.slice(skip), true);
  for (const { line, problem } of rows) if (problem !== null) throw new UnusableText(PROBLEMS[problem](line));
  return fromRows(
    rows
      .filter(({ cells }) => cells.length > 1 || cells[0] !== '')
      .map(({ cells, line }) => ({ record: cells.map(unguarded), line })),
  );
}

/** Rows and cells that are too long are problems of their line. */
const BOUNDS: RowBounds = { rowBytes: LIST_ROW_BYTES, checkSize: () => undefined, checkColumns: () => undefined };

const quotes = (line: number): string =>
  `This is not valid CSV. Check the quotes near line ${line}: a quoted value must end with a quote, and a quote inside it must be doubled.`;
const PROBLEMS: Readonly<Record<TextProblem, (line: number) => string>> = {
  unclosed_quote: quotes,
  text_after_quote: quotes,
  nul: (line) => `This is not a text file: line ${line} contains a NUL character.`,
};
