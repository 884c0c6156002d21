import type { RowProblem } from '../kernel/csv.ts';
import { grouped } from '../kernel/format.ts';

/** A row with such a problem is kept in its place, but has no address. */
export const ROW_PROBLEMS = {
  unclosed_quote: 'a quoted cell is not closed',
  text_after_quote: 'text follows a closing quote',
  nul: 'it contains a NUL character',
  invalid_json: 'it is not valid JSON',
  too_large: 'it or one of its cells is too large',
  stray_delimiter: 'it has more cells than the header, so that its address is not certain',
} as const satisfies Record<RowProblem, string>;

/** The public API answers these codes, with 413 for `list_too_large` and 422 for the others. */
export type FileProblem =
  | { readonly code: 'list_too_large'; readonly limit: number; readonly line: number | null }
  | { readonly code: 'unreadable_file'; readonly line: number | null }
  | { readonly code: 'no_address_column'; readonly columns: readonly string[] };

/** The file cannot be read; nothing is wrong with the reader or its surroundings. The message is a whole sentence. */
export class FileError extends Error {
  readonly problem: FileProblem;
  constructor(problem: FileProblem, message: string) {
    super(message);
    this.name = 'FileError';
    this.problem = problem;
  }
}

const atLine = (line: number | null): string => (line === null ? '' : `, line ${grouped(line)}`);

/** `unit`: what is limited, such as `bytes in a row`. */
export const tooLarge = (limit: number, unit: string, line: number | null = null): FileError =>
  new FileError(
    { code: 'list_too_large', limit, line },
    `The list is too large: more than ${grouped(limit)} ${unit}${atLine(line)}.`,
  );

export const unreadable = (cause: string, line: number | null = null): FileError =>
  new FileError({ code: 'unreadable_file', line }, `The file cannot be read${atLine(line)}: ${cause}.`);
