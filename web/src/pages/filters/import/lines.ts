import { FILTER_TYPES, type FilterType } from '../search.ts';

/** One line of what is to be added. */
export interface ImportLine {
  /** In the box or the file, from 1. */
  readonly number: number;
  readonly value: string;
  readonly reason: string | null;
  readonly type: FilterType | null;
  /** Why it cannot even be sent; null where the server judges it. */
  readonly problem: string | null;
}

/** The most that is read at once: what a browser still shows without a pause. */
export const MAX_LINES = 100_000;
export const MAX_BYTES = 8 * 1024 * 1024;
/** Of one request: see IMPORT_MAX of the server, and its limit of 16 KiB for a body. */
const CHUNK_LINES = 200;
const CHUNK_BYTES = 12 * 1024;
const VALUE_MAX = 1024;
const REASON_MAX = 500;

/** What was typed or read cannot be used as a whole. The message says what to do. */
export class UnusableText extends Error {
  override readonly name = 'UnusableText';
}

/** A first line that names columns: then all of it is CSV. */
const HEADER = /^\uFEFF?\s*"?(filter_type"?\s*[,;\t]|value"?\s*([,;\t]|$))/i;
export const hasHeader = (text: string): boolean => HEADER.test(text.slice(0, 200).trimStart().split('\n')[0] ?? '');

/** One to a line: a value, and after a comma or a tab a reason. Empty lines are left out. */
export function readLines(text: string): ImportLine[] {
  const lines = text.split(/\r\n|\r|\n/).flatMap((line, index) => {
    const trimmed = line.trim();
    return trimmed === '' ? [] : [toLine(index + 1, fieldsOf(trimmed))];
  });
  return bounded(lines);
}

/** Rows of a CSV file, each with the line on which it ends. */
export function fromRows(rows: readonly { readonly record: readonly string[]; readonly line: number }[]): ImportLine[] {
  const names = rows[0]?.record.map((cell) => cell.trim().toLowerCase()) ?? [];
  const [value, reason, type] = ['value', 'reason', 'filter_type'].map((name) => names.indexOf(name)) as [
    number,
    number,
    number,
  ];
  const lines =
    value === -1
      ? rows.map(({ record, line }) => toLine(line, record))
      : rows
          .slice(1)
          .map(({ record, line }) => lineOf(line, record[value] ?? '', record[reason] ?? '', record[type] ?? ''));
  return bounded(lines.filter((line) => line.value !== '' || line.reason !== null));
}

/** What `readLines` reads as the same line again. */
export const backToText = ({ type, value, reason }: ImportLine): string =>
  [...(type === null ? [] : [type]), value, ...(reason === null ? [] : [reason])].join(',').replaceAll(/[\r\n]+/g, ' ');

/** In the shape of a request's `lines`. */
export const toRequest = ({ value, reason, type }: ImportLine) => ({
  value,
  ...(reason === null ? {} : { reason }),
  ...(type === null ? {} : { filter_type: type }),
});

/** The lines from `start` that fit into one request; at least one. None of them may have a problem. */
export function nextChunk(lines: readonly ImportLine[], start: number): readonly ImportLine[] {
  const measure = new TextEncoder();
  let bytes = 0;
  let end = start;
  while (end < lines.length && end - start < CHUNK_LINES) {
    bytes += measure.encode(JSON.stringify(toRequest(lines[end]!))).length + 1;
    if (end > start && bytes > CHUNK_BYTES) break;
    end += 1;
  }
  return lines.slice(start, end);
}

/**
 * A type may stand before the value, as in what is downloaded here. A line that begins with the word of one is never
 * read as a domain of that name: `email,jane` would stop every address under the top-level domain `email`.
 */
function toLine(number: number, fields: readonly string[]): ImportLine {
  const [first = '', second = '', ...rest] = fields;
  const word = first.trim().toLowerCase();
  if (FILTER_TYPES.some((type) => type === word) && second.trim() !== '')
    return lineOf(number, second, rest.join(','), word);
  return lineOf(number, first, [second, ...rest].join(','), '');
}

function lineOf(number: number, value: string, reason: string, type: string): ImportLine {
  const word = type.trim().toLowerCase();
  const known = FILTER_TYPES.find((one) => one === word) ?? null;
  const note = reason.trim() === '' ? null : reason.trim();
  const line = { number, value: value.trim(), reason: note, type: known };
  return { ...line, problem: problemOf(line, word) };
}

/** What would make the server refuse the whole request, not this line only. */
function problemOf({ value, reason, type }: Omit<ImportLine, 'problem'>, word: string): string | null {
  if (word !== '' && type === null) return 'filter_type must be "email", "domain" or "ip_address", or left empty.';
  if (value === '') return 'There is a reason, but no value.';
  if (lengthOf(value) > VALUE_MAX) return `value must be a string of 1 to ${VALUE_MAX} characters.`;
  if (lengthOf(reason ?? '') > REASON_MAX) return `reason must have at most ${REASON_MAX} characters.`;
  return null;
}

const lengthOf = (text: string): number => [...text].length;

/** At most three: what stands after the second comma or tab belongs together. Quotes keep a comma in an address. */
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
    `These are ${lines.length.toLocaleString()} lines; at most ${MAX_LINES.toLocaleString()} can be added at once. Split them.`,
  );
}
