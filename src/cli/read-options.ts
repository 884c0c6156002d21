/** How a file is to be read: the options of every command that reads one. */
import { type Command, Option } from 'commander';
import { encodingNamed } from '../kernel/encoding-names.ts';
import { LIST_HEADER_ROW } from '../kernel/facts/limits.ts';
import { DEDUPES, DELIMITERS, type Dedupe, delimiterOf } from '../kernel/facts/lists.ts';
import { choice, counted, grouped } from '../kernel/format.ts';
import { printable, UsageError, wholeNumber } from './command.ts';

export interface ReadFlags {
  readonly columns?: string;
  readonly column?: string;
  readonly headerRow?: number;
  readonly delimiter?: string;
  readonly encoding?: string;
  readonly sheet?: string;
  readonly entry?: string;
  readonly dedupe?: Dedupe;
}

/** `where`: of options that need another one, such as `with --file: `. `what`: of the columns, those with these. */
export const withReadOptions = (command: Command, where = '', what = 'addresses'): Command =>
  command
    .option(
      '--columns <names>',
      `${where}columns with the ${what}: names or numbers, separated by commas, or all (default: detected)`,
    )
    .option('--column <name>', `${where}the same for one column, whatever its name`)
    .option(
      '--header-row <n>',
      `${where}row with the names of the columns, 0 for none (default: detected)`,
      wholeNumber('--header-row', LIST_HEADER_ROW.min, LIST_HEADER_ROW.max),
    )
    .option(
      '--delimiter <text>',
      `${where}between the cells of a row: ${choice(Object.keys(DELIMITERS))}, or the character itself (default: detected)`,
    )
    .option('--encoding <name>', `${where}encoding of the text (default: detected)`)
    .option(
      '--sheet <name>',
      `${where}sheet of a workbook, by name or number (default: the first with addresses, else the first)`,
    )
    .option('--entry <name>', `${where}file of an archive that has several`);

export const withDedupe = (command: Command, where = ''): Command =>
  command.addOption(
    new Option(
      '--dedupe <by>',
      `${where}which rows are duplicates: those of one address, or of one mailbox in other spellings (default: address)`,
    ).choices(DEDUPES),
  );

/** What is missing is detected. */
export function readChoice({ columns, column, headerRow, delimiter, encoding, sheet, entry }: ReadFlags) {
  const known = encoding === undefined ? undefined : encodingNamed(encoding);
  if (known === null)
    throw new UsageError(`--encoding takes a name such as utf-8, windows-1252 or shift_jis; it is ${encoding}.`);
  return {
    columns: columnsFlag(columns) ?? (column === undefined ? null : [column]),
    headerRow: headerRow ?? null,
    delimiter: delimiter === undefined ? null : delimiterOf(delimiter),
    encoding: known ?? null,
    sheet: sheet ?? null,
    entry: entry ?? null,
  };
}

/** As the API has them; what is detected is left out. `header`: of `--header` and `--no-header`. */
export function readQuery({ header, ...flags }: ReadFlags & { readonly header?: boolean }) {
  const { columns, headerRow, delimiter, encoding, sheet, entry } = readChoice(flags);
  const row = headerRow ?? (header === undefined ? null : Number(header));
  return {
    ...(columns === null ? {} : { columns: columns === 'all' ? columns : JSON.stringify(columns) }),
    ...(row === null ? {} : { header_row: row }),
    ...(delimiter === null ? {} : { delimiter }),
    ...(encoding === null ? {} : { encoding }),
    ...(sheet === null ? {} : { sheet }),
    ...(entry === null ? {} : { entry }),
  };
}

function columnsFlag(columns: string | undefined): readonly string[] | 'all' | null {
  if (columns === undefined) return null;
  return columns === 'all' ? 'all' : columns.split(',').map((name) => name.trim());
}

interface ReadFormat {
  readonly format: string | null;
  readonly delimiter: string | null;
  readonly encoding: string | null;
  readonly sheet: string | null;
  readonly entry: string | null;
  readonly header_row: number | null;
}

const NAMES_OF_DELIMITERS = new Map<string, string>(
  Object.entries(DELIMITERS).map(([name, character]) => [character, name]),
);
const delimiterName = (delimiter: string): string => NAMES_OF_DELIMITERS.get(delimiter) ?? JSON.stringify(delimiter);

/** One line that says how a file was read. `columns`: those with `what`. */
export function readText(
  { format, delimiter, encoding, sheet, entry, header_row: headerRow }: ReadFormat,
  columns: readonly string[],
  what = 'addresses',
): string {
  const quoted = columns.map((name) => JSON.stringify(printable(name)));
  const parts = [
    format ?? 'unknown format',
    ...(delimiter === null ? [] : [`delimiter ${delimiterName(delimiter)}`]),
    ...(encoding === null ? [] : [encoding]),
    ...(sheet === null ? [] : [`sheet ${JSON.stringify(printable(sheet))}`]),
    ...(entry === null ? [] : [`file ${JSON.stringify(printable(entry))}`]),
    ...(headerRow === null ? [] : [headerRow === 0 ? 'no header' : `header in row ${grouped(headerRow)}`]),
  ];
  return `Read as ${parts.join(', ')}; ${what} in ${counted(columns.length, 'column').replace(/^1 /, 'the ').replace(/^(\d)/, 'the $1')} ${quoted.join(', ')}.`;
}
