import {
  csvDialect,
  csvLine,
  detectDelimiter,
  type RowBounds,
  RowSplitter,
  type TextProblem,
  unguarded,
} from '../../../../../src/kernel/csv.ts';
import { FILTER_ACTIONS, FILTER_MATCHES, FILTER_TYPES } from '../../../../../src/kernel/facts/filter-types.ts';
import {
  FILTER_REASON_LENGTH,
  FILTER_VALUE_LENGTH,
  IMPORT_BODY_BYTES,
  IMPORT_LINES,
  INSTANT_LENGTH,
  LIST_ROW_BYTES,
} from '../../../../../src/kernel/facts/limits.ts';
import type { Filter } from '../../../api/schema.ts';
import { formatNumber } from '../../../parts/format.ts';
import type { FilterType } from '../types.ts';

/** One line of an import. */
export interface ImportLine {
  /** In the text or the file, from 1. */
  readonly number: number;
  readonly value: string;
  readonly reason: string | null;
  readonly type: FilterType | null;
  /** As the columns of a file have them; null: not said. */
  readonly action: Filter['action'] | null;
  readonly match: Filter['match'] | null;
  readonly expiresAt: string | null;
  /** Why it cannot be sent; null if it can. */
  readonly problem: string | null;
}

/** What a browser can parse and show without a noticeable pause. */
export const MAX_LINES = 100_000;
export const MAX_BYTES = 8 * 1024 * 1024;
/** Of the lines in one request; leaves room for the rest of the body. */

const CHUNK_BYTES = IMPORT_BODY_BYTES - 1024;

/** The text as a whole cannot be imported. */
export class UnusableText extends Error {
  override readonly name = 'UnusableText';
}

/** A first line that names columns: the text is CSV. */
const HEADER = /^\uFEFF?\s*"?((filter_type|action|match|expires_at|reason)"?\s*[,;\t]|value"?\s*([,;\t]|$))/i;
const hasHeader = (text: string): boolean => HEADER.test(text.slice(0, 200).trimStart().split('\n')[0] ?? '');

/** One entry per line: a value, then an optional reason after a comma or a tab. Empty lines are skipped. */
export function readLines(text: string): ImportLine[] {
  const lines = text.split(/\r\n|\r|\n/).flatMap((line, index) => {
    const trimmed = line.trim();
    return trimmed === '' ? [] : [toLine(index + 1, fieldsOf(trimmed))];
  });
  return bounded(lines);
}

/** Columns of a file. */
const COLUMNS = ['filter_type', 'value', 'reason', 'action', 'match', 'expires_at'] as const;
type Cells = Partial<Readonly<Record<(typeof COLUMNS)[number], string>>>;

/** Rows of a CSV file, each with the line on which it begins. */
export function fromRows(rows: readonly { readonly record: readonly string[]; readonly line: number }[]): ImportLine[] {
  const names = rows[0]?.record.map((cell) => cell.trim().toLowerCase()) ?? [];
  const cellsOf = (record: readonly string[]): Cells =>
    Object.fromEntries(COLUMNS.map((name) => [name, record[names.indexOf(name)] ?? '']));
  const lines = names.includes('value')
    ? rows.slice(1).map(({ record, line }) => lineOf(line, cellsOf(record)))
    : rows.map(({ record, line }) => toLine(line, record));
  return bounded(lines.filter((line) => line.value !== '' || line.reason !== null));
}

const hasOnlyValue = ({ action, match, expiresAt }: ImportLine): boolean =>
  action === null && match === null && expiresAt === null;

/** Inverse of `readTyped`: a line each, or CSV where a line has what needs a column. */
export function backToText(lines: readonly ImportLine[]): string {
  if (lines.every(hasOnlyValue)) return lines.map(lineToText).join('\n');
  const rows = lines.map((one) => [one.type, one.value, one.reason, one.action, one.match, one.expiresAt]);
  return [csvLine(COLUMNS), ...rows.map(csvLine)].join('').trimEnd();
}

/** For reading. */
export const lineToText = ({ type, value, reason, action, match, expiresAt }: ImportLine): string =>
  [type, value, reason, action, match, expiresAt]
    .filter((cell) => cell !== null)
    .join(',')
    .replaceAll(/[\r\n]+/g, ' ');

/** As an element of the request's `lines`. */
export const toRequest = ({ value, reason, type, action, match, expiresAt }: ImportLine) => ({
  value,
  ...(reason === null ? {} : { reason }),
  ...(type === null ? {} : { filter_type: type }),
  ...(action === null ? {} : { action }),
  ...(match === null ? {} : { match }),
  ...(expiresAt === null ? {} : { expires_at: expiresAt }),
});

/** The lines from `start` that fit into one request; at least one. Only for lines without a problem. */
export function nextChunk(lines: readonly ImportLine[], start: number): readonly ImportLine[] {
  const measure = new TextEncoder();
  let bytes = 0;
  const candidates = lines.slice(start, start + IMPORT_LINES.max);
  const end = candidates.findIndex((line, index) => {
    bytes += measure.encode(JSON.stringify(toRequest(line))).length + 1;
    return index > 0 && bytes > CHUNK_BYTES;
  });
  return end === -1 ? candidates : candidates.slice(0, end);
}

/**
 * The value may be preceded by a type, as in our CSV export. Such a line is never read as a domain of that name:
 * `email,jane` would block the whole top-level domain `email`.
 */
function toLine(number: number, fields: readonly string[]): ImportLine {
  const [first = '', second = '', ...rest] = fields;
  const word = first.trim().toLowerCase();
  if (FILTER_TYPES.some((type) => type === word) && second.trim() !== '')
    return lineOf(number, { value: second, reason: rest.join(','), filter_type: word });
  return lineOf(number, { value: first, reason: [second, ...rest].join(',') });
}

function lineOf(number: number, cells: Cells): ImportLine {
  const textOf = (name: (typeof COLUMNS)[number]) => (cells[name] ?? '').trim();
  const oneOf = <T extends string>(known: readonly T[], name: (typeof COLUMNS)[number]): T | null =>
    known.find((one) => one === textOf(name).toLowerCase()) ?? null;
  const line = {
    number,
    value: textOf('value'),
    reason: textOf('reason') || null,
    type: oneOf(FILTER_TYPES, 'filter_type'),
    action: oneOf(FILTER_ACTIONS, 'action'),
    match: oneOf(FILTER_MATCHES, 'match'),
    expiresAt: textOf('expires_at') || null,
  };
  const unknown = [
    ...(line.type === null && textOf('filter_type') !== '' ? [choiceOf('filter_type', FILTER_TYPES)] : []),
    ...(line.action === null && textOf('action') !== '' ? [choiceOf('action', FILTER_ACTIONS)] : []),
    ...(line.match === null && textOf('match') !== '' ? [choiceOf('match', FILTER_MATCHES)] : []),
  ];
  return { ...line, problem: unknown[0] ?? problemOf(line) };
}

const choiceOf = (name: string, known: readonly string[]): string =>
  `${name} must be one of ${known.join(', ')}, or empty.`;

/** Problems for which the server would reject the whole request, not only this line. */
function problemOf({ value, reason, expiresAt }: Omit<ImportLine, 'problem'>): string | null {
  if (value === '') return 'The line has a reason but no value.';
  if (lengthOf(value) > FILTER_VALUE_LENGTH.max)
    return `The value must have at most ${FILTER_VALUE_LENGTH.max} characters.`;
  if (lengthOf(reason ?? '') > FILTER_REASON_LENGTH.max)
    return `The reason must have at most ${FILTER_REASON_LENGTH.max} characters.`;
  if (lengthOf(expiresAt ?? '') > INSTANT_LENGTH.max) return 'expires_at is no date.';
  return null;
}

const lengthOf = (text: string): number => [...text].length;

/** At most three fields; further commas and tabs belong to the last. Quotes protect a comma in a local part. */
function fieldsOf(line: string): string[] {
  const first = cut(line);
  if (first === null) return [line];
  const [head, tail] = first;
  const second = FILTER_TYPES.some((type) => type === head.trim().toLowerCase()) ? cut(tail) : null;
  return second === null ? [head, tail] : [head, ...second];
}

function cut(text: string): [string, string] | null {
  const at = /^(?:[^",\t]|"(?:[^"\\]|\\.)*")*[,\t]/.exec(text)?.[0].length ?? text.search(/[,\t]/) + 1;
  return at === 0 ? null : [text.slice(0, at - 1), text.slice(at)];
}

function bounded(lines: ImportLine[]): ImportLine[] {
  if (lines.length <= MAX_LINES) return lines;
  throw new UnusableText(
    `This is ${formatNumber(lines.length)} lines; the limit is ${formatNumber(MAX_LINES)} per import. Split the list.`,
  );
}

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
  const splitter = new RowSplitter(csvDialect(delimiter || ','), BOUNDS, skip > 0 ? 2 : 1);
  const rows = splitter.push(withoutMark.slice(skip), true);
  for (const { line, problem } of rows) if (problem !== null) throw new UnusableText(PROBLEMS[problem](line));
  return fromRows(
    rows
      .filter(({ cells }) => cells.length > 1 || cells[0] !== '')
      .map(({ cells, line }) => ({ record: cells.map(unguarded), line })),
  );
}

/** Rows and cells that are too long are problems of their line. */
const BOUNDS: RowBounds = { rowBytes: LIST_ROW_BYTES, cellBytes: LIST_ROW_BYTES, checkColumns: () => undefined };

const quotes = (line: number): string =>
  `This is not valid CSV. Check the quotes near line ${line}: a quoted value must end with a quote, and a quote inside it must be doubled.`;
const PROBLEMS: Readonly<Record<TextProblem, (line: number) => string>> = {
  unclosed_quote: quotes,
  text_after_quote: quotes,
  too_large: (line) => `The row on line ${line} is too large.`,
  nul: (line) => `This is not a text file: line ${line} contains a NUL character.`,
};
