/**
 * Files of filters have columns for parts of a filter: they are found by their content and their names, in bounded
 * memory.
 */
import { ANY_LABEL, filterTypeOf, filterValue } from '../engine/address/filter-value.ts';
import { isFilled, trimBlanks } from '../kernel/blanks.ts';
import { fromIso } from '../kernel/clock.ts';
import { unguarded } from '../kernel/csv.ts';
import { FILTER_ACTIONS, FILTER_MATCHES, FILTER_TYPES } from '../kernel/facts/filter-types.ts';
import { FILTER_FILE_BYTES, FILTER_FILE_ROWS, LIST_COLUMNS, LIST_ROW_BYTES } from '../kernel/facts/limits.ts';
import { FILTER_FIELDS, type FilterField } from '../kernel/facts/lists.ts';
import { counted } from '../kernel/format.ts';
import { contentOf, FORM_WEIGHTS } from './address-cell.ts';
import { filledWidth, folded, givenColumn, HEADER_ROWS, nameRank, SAMPLE_ROWS } from './columns.ts';
import { openFile } from './formats.ts';
import { ROW_PROBLEMS, tooLarge, unreadable } from './problems.ts';
import { chained, otherLists, type ReadOptions, sampleOf } from './read-file.ts';
import type { RawBatch, RawRow, ReadLimits, RowSource } from './rows.ts';
import type { SpooledInput } from './spool.ts';

export interface FilterReading extends Pick<RowSource, 'format' | 'delimiter' | 'encoding' | 'sheet' | 'entry'> {
  /** The row of the file with the names of the columns is counted from 1; 0: none. */
  readonly headerRow: number;
  /** All of the file, in its order; null: not used. Columns without a name are called `column_2`. */
  readonly columns: readonly { readonly column: string; readonly field: FilterField | null }[];
}

/** A filter as a row has it, or why it has none. */
export interface FilterRow {
  /** Counts lines of the text or rows of the sheet from 1. */
  readonly row: number;
  /** The row as it is there, shortened. */
  readonly text: string;
  readonly read: { readonly fields: FilterFields } | RowFault;
}
/** As fields of a request: those of filters, and what else the row says of it. Blank cells are left out. */
export type FilterFields = Readonly<Record<string, string | boolean>>;
interface RowFault {
  /** Null: the row as a whole. */
  readonly field: FilterField | null;
  /** A sentence that names the remedy. */
  readonly fault: string;
}

export interface FilterFile {
  readonly reading: FilterReading;
  /** Once. Throws FileError. Blank rows are left out. */
  readonly batches: AsyncGenerator<readonly FilterRow[], void, undefined>;
  /** Whole sentences about what was read, complete behind the last batch. */
  warnings(): readonly string[];
  /** Needed if the rows are not read to the end. */
  close(): Promise<void>;
}

/** Reads as far as needed to know the columns; `columns` of the options are those of the values. Throws FileError. */
export async function openFilterFile(input: SpooledInput, options: ReadOptions = {}): Promise<FilterFile> {
  const limits: ReadLimits = {
    bytes: FILTER_FILE_BYTES,
    rows: FILTER_FILE_ROWS,
    rowBytes: LIST_ROW_BYTES,
    columns: LIST_COLUMNS.max,
    party: options.limits?.party ?? '',
  };
  const { sheet = null, entry = null, delimiter = null, charset = null, encoding = null } = options;
  const choice = { claimed: options.form ?? null, sheet, entry, charset, encoding, isWanted: holdsValue };
  const open = async (mark: string | null) => {
    const { source } = await openFile(input, { ...choice, delimiter: mark }, limits);
    try {
      return { source, sample: await sampleOf(source) };
    } catch (error) {
      await source.batches.return();
      throw error;
    }
  };
  let { source, sample } = await open(delimiter);
  try {
    if (delimiter !== null) return fileOf(source, sample, false, options);
    const another = isLines(source)
      ? delimiterOfHeader(sampleRows(sample))
      : isVainCut(source, sample)
        ? LINES_DELIMITER
        : null;
    if (another !== null) {
      await source.batches.return();
      ({ source, sample } = await open(another));
    }
    return fileOf(source, sample, isLines(source), options);
  } catch (error) {
    await source.batches.return();
    throw error;
  }
}

const LINES_DELIMITER = 'none';
/** Text without a header whose cells are no values, while its lines begin with some. */
function isVainCut({ format, delimiter }: RowSource, sample: readonly RawBatch[]): boolean {
  if (format !== 'csv' || delimiter === null) return false;
  const rows = sampleRows(sample);
  const begins = ({ cells }: RawRow): boolean => fieldsOfLine([cells.join(delimiter)]).some(holdsValue);
  return (
    !rows.some(({ cells }) => cells.some(holdsValue)) &&
    !rows.some(({ cells }) => isFilterHeader(cells)) &&
    rows.some(begins)
  );
}

const sampleRows = (sample: readonly RawBatch[]): RawRow[] => sample.flatMap(({ rows }) => rows);

/** A line is one cell. */
const isLines = ({ format, delimiter, isList }: RowSource): boolean =>
  format === 'text' && delimiter === null && isList !== true;

function fileOf(source: RowSource, sample: RawBatch[], cutsLines: boolean, options: ReadOptions): FilterFile {
  const { names, batches, later: _later, warnings: ofText, others, isList: _isList, ...found } = source;
  const cut = cutsLines ? ({ cells, ...row }: RawRow): RawRow => ({ ...row, cells: fieldsOfLine(cells) }) : null;
  const own = (rows: readonly RawRow[]): readonly RawRow[] => (cut === null ? rows : rows.map(cut));
  const head = own(sampleRows(sample));
  if (!head.some(isFilledRow)) throw unreadable('it has no rows', 1);
  const layout = filterLayout(head, names, options);
  const reader = new FilterReader(layout, {
    delimiter: cutsLines ? ',' : (found.delimiter ?? ','),
    plain: names === null ? unguarded : (cell) => cell,
  });
  return {
    reading: {
      format: found.format,
      delimiter: found.delimiter,
      encoding: found.encoding,
      sheet: found.sheet,
      entry: found.entry,
      headerRow: layout.headerRow,
      columns: layout.names.map((name, i) => ({ column: name || `column_${i + 1}`, field: layout.fields[i] ?? null })),
    },
    batches: rowsOfFilters(chained(sample, batches), own, reader, layout.skip),
    warnings: () => [
      ...[...otherLists(found.sheet, others), ...(ofText?.() ?? [])].map(({ message }) => message),
      ...reader.warnings(),
    ],
    async close() {
      await batches.return();
    },
  };
}

async function* rowsOfFilters(
  batches: AsyncGenerator<RawBatch, void, undefined>,
  own: (rows: readonly RawRow[]) => readonly RawRow[],
  reader: FilterReader,
  skip: number,
): FilterFile['batches'] {
  let [left, count] = [skip, 0];
  for await (const { rows } of batches) {
    const found = own(rows.slice(left)).flatMap((row) => reader.read(row));
    left = Math.max(0, left - rows.length);
    count += found.length;
    if (count > FILTER_FILE_ROWS) throw tooLarge(FILTER_FILE_ROWS, 'rows');
    if (found.length > 0) yield found;
  }
}

// Values

/** What a cell means as a value: the address in it where it is dressed up, otherwise its text. */
function valueInCell(cell: string): string {
  const text = trimBlanks(cell);
  if (isValue(text)) return text;
  const { form, addresses } = contentOf(text);
  return addresses.length === 1 && FORM_WEIGHTS[form] >= FORM_WEIGHTS.several ? (addresses[0] ?? text) : text;
}

/** A word alone is a top-level domain as well, which tells nothing about a column. */
const isBareWord = (text: string): boolean => !/[.@:。．｡]/u.test(text);
const isBare = (text: string): boolean => filterValue(filterTypeOf(text), text) !== null;
const isValue = (text: string): boolean =>
  !isBareWord(text) && isBare(text.startsWith(ANY_LABEL) ? text.slice(ANY_LABEL.length) : text);
const holdsValue = (cell: string): boolean => isFilled(cell) && isValue(valueInCell(unguarded(cell)));

const isFilledRow = ({ cells }: Pick<RawRow, 'cells'>): boolean => cells.some(isFilled);
const isOneOf = (known: readonly string[], cell: string): boolean => known.includes(trimBlanks(cell).toLowerCase());

// Lines and headers

const LINE_DELIMITERS = /[,;\t|]/;

/** Of lines of which only some have more than a value, the header says how all are cut. */
function delimiterOfHeader(rows: readonly RawRow[]): string | null {
  const [first = ''] = rows.find(isFilledRow)?.cells ?? [];
  const delimiter = LINE_DELIMITERS.exec(first)?.[0];
  return delimiter !== undefined && isFilterHeader(first.split(delimiter)) ? delimiter : null;
}

/** A value, perhaps behind its type, and a reason, which is the rest of the line. Quotes protect a local part. */
function fieldsOfLine([line = '']: readonly string[]): readonly string[] {
  const first = cutOnce(trimBlanks(line));
  if (first === null) return [line];
  if (!isOneOf(FILTER_TYPES, first[0])) return first;
  return [first[0], ...(cutOnce(first[1]) ?? [first[1]])];
}

function cutOnce(text: string): [string, string] | null {
  const at = /^(?:[^",;\t]|"(?:[^"\\]|\\.)*")*[,;\t]/.exec(text)?.[0].length ?? text.search(/[,;\t]/) + 1;
  return at === 0 ? null : [text.slice(0, at - 1), trimBlanks(text.slice(at))];
}

/** What columns are called elsewhere; case, spaces and punctuation do not count. */
const COLUMN_NAMES: Readonly<Record<FilterField, readonly string[]>> = {
  filter_type: ['filter_type', 'type', 'kind', 'typ'],
  value: [
    'value',
    'values',
    'pattern',
    'entry',
    'entries',
    'filter',
    'rule',
    'item',
    'address',
    'adresse',
    'sender',
    'domain',
    'domains',
    'domaine',
    'domaines',
    'domäne',
    'domänen',
    'dominio',
    'dominios',
    'domínio',
    'домен',
    'ドメイン',
    '域名',
    '도메인',
    'host',
    'hosts',
    'hostname',
    'mx',
    'mx host',
    'mail host',
    'ip',
    'ips',
    'ip address',
    'ip addresses',
    'ip adresse',
    'cidr',
    'network',
    'networks',
    'range',
  ],
  reason: [
    'reason',
    'note',
    'notes',
    'comment',
    'comments',
    'description',
    'why',
    'grund',
    'notiz',
    'kommentar',
    'bemerkung',
    'beschreibung',
    'raison',
    'motif',
    'commentaire',
    'remarque',
    'motivo',
    'razón',
    'nota',
  ],
  action: ['action', 'aktion', 'acción', 'azione'],
  match: ['match'],
  expires_at: [
    'expires_at',
    'expires',
    'expires on',
    'expiry',
    'expiry date',
    'expiration',
    'expiration date',
    'valid until',
    'until',
    'gültig bis',
    'ablauf',
    'ablaufdatum',
  ],
};
const FIELD_OF: ReadonlyMap<string, FilterField> = new Map(
  FILTER_FIELDS.flatMap((field) => COLUMN_NAMES[field].map((name) => [folded(name), field] as const)),
);
const fieldNamed = (name: string): FilterField | null =>
  name.length > 200 ? null : (FIELD_OF.get(folded(name)) ?? (nameRank(name) >= 2 ? 'value' : null));

/** Names of columns, one of them that of values, and no value among them. */
function isFilterHeader(cells: readonly string[]): boolean {
  const fields = cells.map(fieldNamed);
  const named =
    fields.includes('value') || (fields.some((field) => field !== null) && cells.filter(isFilled).length > 1);
  return named && !cells.some(holdsValue);
}

// Columns

interface FilterLayout {
  /** Counts rows up to and with the header. */
  readonly skip: number;
  readonly headerRow: number;
  readonly names: readonly string[];
  readonly isNamed: boolean;
  /** Each column has its field; null means that it has none. */
  readonly fields: readonly (FilterField | null)[];
  /** A cell is put in front of rows that do not begin with a type, as others do. */
  readonly isMixed: boolean;
}

function filterLayout(
  rows: readonly RawRow[],
  keys: readonly string[] | null,
  { headerRow: given = null, columns = null }: ReadOptions,
): FilterLayout {
  const at = keys === null ? headerAt(rows, given) : -1;
  const header = keys === null ? (rows[at]?.cells ?? null) : keys.length === 0 ? null : keys;
  const body = rows.slice(at + 1).filter((row) => row.problem === null && isFilledRow(row));
  if (header !== null && body.length === 0 && rows.length < SAMPLE_ROWS && !rows.slice(at + 1).some(isFilledRow))
    throw unreadable('it has a header, but no rows', rows[at]?.line ?? 1);
  const isMixed =
    header === null &&
    columns === null &&
    body.some(startsWithType) &&
    !body.every((row) => startsWithType(row) || !isFilled(row.cells[0] ?? ''));
  const cells = body.map((row) => (isMixed ? withType(row.cells) : row.cells));
  const width = Math.max(1, header?.length ?? 0, ...(header === null ? cells.map(filledWidth) : []));
  const all = Array.from({ length: width }, (_, i) => trimBlanks(header?.[i] ?? ''));
  const fields = fieldsOf(cells.slice(0, SAMPLE_ROWS), all, header !== null, columns);
  // Without names, a reason at the end is all that follows.
  const reason = header === null && fields.at(-1) === null ? fields.findLastIndex((field) => field !== null) : -1;
  const names = fields[reason] === 'reason' ? all.slice(0, reason + 1) : all;
  const headerRow = at < 0 ? 0 : (rows[at]?.line ?? 0);
  return { skip: at + 1, headerRow, names, isNamed: header !== null, fields: fields.slice(0, names.length), isMixed };
}

/** Returns -1 for none. */
function headerAt(rows: readonly RawRow[], given: number | null): number {
  if (given === 0) return -1;
  if (given !== null) return rows.findIndex((row) => row.line >= given && isFilledRow(row));
  const first = rows.findIndex(({ cells }) => cells.some(holdsValue));
  const above = rows.slice(0, Math.min(HEADER_ROWS, first < 0 ? rows.length : first));
  return above.findIndex(
    (row, i) => row.problem === null && isFilterHeader(row.cells) && !isTyped(row, rows.slice(i + 1)),
  );
}

/** Says whether it is a value behind its type, as in the rows below, and no name of a column. */
function isTyped(row: RawRow, below: readonly RawRow[]): boolean {
  const filled = below.filter(isFilledRow).slice(0, HEADER_ROWS);
  return startsWithType(row) && filled.filter(startsWithType).length * 2 > filled.length;
}

const startsWithType = ({ cells: [first = '', second = ''] }: Pick<RawRow, 'cells'>): boolean =>
  isOneOf(FILTER_TYPES, first) && isFilled(second);
const withType = (cells: readonly string[]): readonly string[] => (startsWithType({ cells }) ? cells : ['', ...cells]);

function fieldsOf(
  rows: readonly (readonly string[])[],
  names: readonly string[],
  isNamed: boolean,
  wanted: ReadOptions['columns'],
): readonly (FilterField | null)[] {
  const fields: (FilterField | null)[] = names.map(() => null);
  const take = (index: number, field: FilterField) => {
    if (fields[index] === null && (field === 'value' || !fields.includes(field))) fields[index] = field;
  };
  if (Array.isArray(wanted)) for (const column of wanted) take(givenColumn(names, rows[0] ?? [], column), 'value');
  for (const [index, name] of names.entries()) {
    const field = isNamed ? fieldNamed(name) : null;
    if (field !== null && field !== 'value') take(index, field);
  }
  if (!fields.includes('value'))
    for (const index of valueColumns(rows, names, fields, wanted === 'all')) take(index, 'value');
  if (isNamed) return fields;
  for (const [field, is] of COLUMN_CONTENTS) {
    const index = names.findIndex((_, i) => fields[i] === null && areAll(rows, i, is));
    if (index >= 0) take(index, field);
  }
  const value = fields.indexOf('value');
  const isText = (i: number): boolean => fields[i] === null && rows.some((cells) => isFilled(cells[i] ?? ''));
  const behind = names.findIndex((_, i) => i > value && isText(i));
  const reason = behind >= 0 ? behind : names.findIndex((_, i) => isText(i));
  if (reason >= 0) take(reason, 'reason');
  return fields;
}

/** What the cells of a column without a name are, if all are. */
const COLUMN_CONTENTS: readonly (readonly [FilterField, (cell: string) => boolean])[] = [
  ['filter_type', (cell) => isOneOf(FILTER_TYPES, cell)],
  ['action', (cell) => isOneOf(FILTER_ACTIONS, cell)],
  ['match', (cell) => isOneOf(FILTER_MATCHES, cell)],
  ['expires_at', (cell) => fromIso(instantIn(trimBlanks(cell))) !== null],
];

function areAll(rows: readonly (readonly string[])[], index: number, is: (cell: string) => boolean): boolean {
  const filled = rows.map((cells) => cells[index] ?? '').filter(isFilled);
  return filled.length > 0 && filled.every(is);
}

interface RatedColumn {
  readonly index: number;
  /** This part of the cells that are not blank is values, 0 to 1. */
  readonly share: number;
  /** Says the same of all rows. */
  readonly coverage: number;
  readonly isNamed: boolean;
}

/** The best one, or all that hold values. The content decides; of columns that are alike in it, the name. */
function valueColumns(
  rows: readonly (readonly string[])[],
  names: readonly string[],
  fields: readonly (FilterField | null)[],
  all: boolean,
): readonly number[] {
  const rated = names.flatMap((name, index): RatedColumn[] => {
    if (fields[index] !== null) return [];
    const filled = rows.map((cells) => cells[index] ?? '').filter(isFilled);
    const values = filled.filter(holdsValue).length;
    const share = filled.length === 0 ? 0 : values / filled.length;
    return [{ index, share, coverage: values / Math.max(1, rows.length), isNamed: fieldNamed(name) === 'value' }];
  });
  const score = ({ share, coverage }: RatedColumn): number => share * Math.sqrt(coverage);
  const best = rated.toSorted((a, b) => score(b) - score(a) || Number(b.isNamed) - Number(a.isNamed))[0];
  if (best === undefined || (score(best) === 0 && !best.isNamed && names.length > 1))
    throw noValues(names, rows[0] ?? []);
  if (all)
    return [
      best.index,
      ...rated.filter(({ share, index }) => share >= 0.4 && index !== best.index).map(({ index }) => index),
    ];
  const isAlike = (one: RatedColumn): boolean =>
    one.isNamed && one.share >= best.share - 0.25 && one.coverage >= best.coverage / 2;
  return [best.isNamed ? best.index : (rated.find(isAlike) ?? best).index];
}

const SHOWN_INVALID = 20;
function noValues(names: readonly string[], first: readonly string[]) {
  const shown = (names.some(isFilled) ? names : first)
    .slice(0, SHOWN_INVALID)
    .map((name) => JSON.stringify(name.slice(0, 60)));
  return unreadable(
    `no column holds addresses, domains, IP addresses or mail hosts; say which one does, as columns. The columns are: ${shown.join(', ')}`,
  );
}

// Rows

/** A date as spreadsheets write it is one in UTC. */
function instantIn(text: string): string {
  const [, date, time, seconds = ':00'] = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(:\d\d(?:\.\d+)?)?$/.exec(text) ?? [];
  return date === undefined ? text : `${date}T${time}${seconds}Z`;
}

/** How the cells of fields are written. */
const WRITTEN: Readonly<Record<FilterField, (text: string) => string>> = {
  filter_type: (text) => text.toLowerCase(),
  value: valueInCell,
  reason: (text) => text,
  action: (text) => text.toLowerCase(),
  match: (text) => text.toLowerCase(),
  expires_at: instantIn,
};

/** Filters have these in the API and in exports, but not in requests: an import does not set these. */
const SHOWN_ONLY: ReadonlySet<string> = new Set(['id', 'hits', 'last_hit_at', 'created_at', 'expired']);
/** As a field of a request. */
const fieldKey = (name: string): string => name.toLowerCase().replaceAll(/[\s-]+/g, '_');

const TEXT_CHARACTERS = 200;

class FilterReader {
  readonly #layout: FilterLayout;
  readonly #delimiter: string;
  /** Removes from a cell what guards it against spreadsheets, which JSON has no need of. */
  readonly #plain: (cell: string) => string;
  readonly #header: string | null;
  readonly #values: readonly number[];
  /** Columns without a field whose cells say something of the filter all the same. */
  readonly #further: readonly (readonly [index: number, key: string])[];
  #repeated = 0;

  constructor(layout: FilterLayout, { delimiter, plain }: { delimiter: string; plain: (cell: string) => string }) {
    const { names, fields, isNamed } = layout;
    this.#layout = layout;
    this.#delimiter = delimiter;
    this.#plain = plain;
    this.#header = isNamed ? headerKey(names) : null;
    this.#values = [...fields.keys()].filter((i) => fields[i] === 'value');
    const isFurther = (i: number): boolean => isNamed && fields[i] === null && isFilled(names[i] ?? '');
    this.#further = [...names.keys()]
      .filter(isFurther)
      .map((i) => [i, fieldKey(names[i] ?? '')] as const)
      .filter(([, key]) => !SHOWN_ONLY.has(key) && !FILTER_FIELDS.some((field) => field === key));
  }

  warnings(): readonly string[] {
    const { names, fields, isNamed } = this.#layout;
    const unused = names.flatMap((name, i) =>
      fields[i] === null && isFilled(name) ? [JSON.stringify(name.slice(0, 60))] : [],
    );
    const rest = unused.length - SHOWN_INVALID;
    const shown = [...unused.slice(0, SHOWN_INVALID), ...(rest > 0 ? [`and ${rest} more`] : [])].join(', ');
    return [
      ...(isNamed && unused.length > 0 ? [`Columns that are not used: ${shown}.`] : []),
      ...(this.#repeated > 0
        ? [
            `The header is repeated in ${counted(this.#repeated, 'row')}, which ${this.#repeated === 1 ? 'is' : 'are'} left out.`,
          ]
        : []),
    ];
  }

  /** Returns none for a blank row, and one for each of its values. */
  read({ line, cells: sent, problem }: RawRow): FilterRow[] {
    const text = sent.map(trimBlanks).join(this.#delimiter).slice(0, TEXT_CHARACTERS).toWellFormed();
    const faulty = (field: FilterField | null, fault: string): FilterRow[] => [
      { row: line, text, read: { field, fault } },
    ];
    if (problem !== null) return faulty(null, `The row cannot be read: ${ROW_PROBLEMS[problem]}.`);
    if (!sent.some(isFilled)) return [];
    if (this.#header !== null && headerKey(sent) === this.#header) {
      this.#repeated += 1;
      return [];
    }
    const { names, fields, isMixed, isNamed } = this.#layout;
    let cells = isMixed ? withType(sent) : sent;
    if (filledWidth(cells) > names.length) {
      if (isNamed) return faulty(null, LONG_ROW);
      cells = [...cells.slice(0, names.length - 1), cells.slice(names.length - 1).join(this.#delimiter)];
    }
    const shared: Record<string, string | boolean> = {};
    for (const [i, field] of fields.entries()) {
      const cell = trimBlanks(this.#plain(cells[i] ?? ''));
      if (field !== null && field !== 'value' && cell !== '') shared[field] = WRITTEN[field](cell);
    }
    for (const [i, key] of this.#further) {
      const cell = trimBlanks(cells[i] ?? '').toLowerCase();
      if (cell !== '') shared[key] = cell === 'true' || cell === 'false' ? cell === 'true' : cell;
    }
    const values = this.#values
      .map((i) => this.#plain(cells[i] ?? ''))
      .filter(isFilled)
      .map(WRITTEN.value);
    if (values.length === 0) return faulty('value', NO_VALUE);
    const isTyped = Object.hasOwn(shared, 'filter_type');
    return values.map((value) => {
      if (!isTyped && isBareWord(value) && isBare(value))
        return { row: line, text, read: { field: 'filter_type', fault: topLevel(value) } };
      return { row: line, text, read: { fields: { ...shared, value } } };
    });
  }
}

const LONG_ROW = 'The row has more cells than the header: put cells that contain the delimiter in quotes.';
const NO_VALUE = 'The row has no value: give an address, a domain, an IP address or a mail host, or remove the row.';
const topLevel = (value: string): string =>
  `${JSON.stringify(value.slice(0, 60))} would be a whole top-level domain: if you mean that, write domain as its filter_type.`;

/** Leaves out case, and blanks around names and at the end. */
const headerKey = (cells: readonly string[]): string =>
  cells
    .slice(0, filledWidth(cells))
    .map((cell) => trimBlanks(cell).toLowerCase())
    .join('\u0001');
