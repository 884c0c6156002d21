/**
 * The reader of address files: CSV, TSV, plain text, NDJSON, a JSON array, XLSX. Streams in bounded memory; an XLSX
 * file is first copied to a temporary file, and read in a thread.
 */

import { type Delimiter, detectDelimiter, type RowProblem, RowSplitter } from '../kernel/csv.ts';
import {
  LIST_BYTES,
  LIST_COLUMNS,
  LIST_JSON_ADDRESSES,
  LIST_JSON_BYTES,
  LIST_ROW_BYTES,
  LIST_ROWS,
} from '../kernel/facts/limits.ts';
import { addressIn } from './address-cell.ts';
import { type ColumnChoice, type Layout, layoutOf, SAMPLE_ROWS } from './columns.ts';
import { decodeText, type TextBlock } from './decode-text.ts';
import { type FileForm, formOf, jsonFormOf } from './forms.ts';
import { type InputBlocks, inputBlocks } from './input-blocks.ts';
import { readJsonArray, readNdjson } from './json-rows.ts';
import { tooLarge, unreadable } from './problems.ts';
import { RESULT_PREFIX } from './result-columns.ts';
import { boundsOf, type RawBatch, type RawRow, type RowSource } from './rows.ts';
import { SpooledInput, spool } from './spool.ts';
import { readXlsx } from './xlsx/read.ts';

export interface Row {
  /** From 1, the header not counted. */
  readonly row: number;
  /** Where it begins: the line of the text, or the row of the sheet, from 1. */
  readonly line: number;
  /** As in the file, one per column; missing ones are empty. A row with a problem has its text in the first. */
  readonly cells: readonly string[];
  /** Cells beyond the last column. */
  readonly extra: readonly string[];
  /** What to verify; null if the cell is blank or the row has a problem. */
  readonly address: string | null;
  readonly problem: RowProblem | null;
}

export interface RowBatch {
  readonly rows: readonly Row[];
  /** Bytes of the input up to the end of these rows, approximately. */
  readonly bytes: number;
}

export interface AddressFile {
  readonly form: FileForm;
  /** Between the cells of a row; null: the form has none, or a row has one cell. */
  readonly delimiter: Exclude<Delimiter, 'none'> | null;
  /**
   * Without result columns of an earlier run. Columns without a name are called `column_2`, that of the addresses
   * `email`.
   */
  readonly columns: readonly string[];
  /** Whether these names are in the file. */
  readonly hasHeader: boolean;
  /** Index of the address column. */
  readonly addressColumn: number;
  /** Bytes of the file that have arrived so far. */
  received(): number;
  /** Once. Throws FileError, or what the input throws. */
  readonly batches: AsyncGenerator<RowBatch, void, undefined>;
  /** Needed if the rows are not read to the end. */
  close(): Promise<void>;
}

interface ReadLimits {
  readonly bytes: number;
  readonly rows: number;
  readonly rowBytes: number;
  readonly columns: number;
  /** Of a JSON array. */
  readonly jsonBytes: number;
  readonly jsonRows: number;
  /** Whose file it is: parties take turns where there are few threads. */
  readonly party: string;
}

const LIMITS: ReadLimits = {
  bytes: LIST_BYTES,
  rows: LIST_ROWS.max,
  rowBytes: LIST_ROW_BYTES,
  columns: LIST_COLUMNS.max,
  jsonBytes: LIST_JSON_BYTES,
  jsonRows: LIST_JSON_ADDRESSES.max,
  party: '',
};

export interface ReadOptions extends Partial<ColumnChoice> {
  /** What the sender says the file is; null or missing: detected. XLSX is always recognized. */
  readonly form?: FileForm | null;
  readonly limits?: Partial<ReadLimits>;
}
/** Rows of a batch, at most. */
const BATCH_ROWS = 500;

/** Reads as far as needed to know the columns. Throws FileError. */
export async function readAddressFile(
  input: AsyncIterable<Uint8Array>,
  { form: claimed = null, header = 'auto', column = null, limits: given = {} }: ReadOptions = {},
): Promise<AddressFile> {
  const limits = { ...LIMITS, ...given };
  const opened = await open(input, claimed, limits);
  try {
    const sample = await sampleOf(opened.source);
    if (sample.length === 0) throw unreadable('it is empty', 1);
    const rows = sample.flatMap((batch) => batch.rows);
    const onlyColumn = claimed === 'text' && column === null ? '1' : column;
    const names = namesOf(opened.source);
    const layout = layoutOf(rows, names, { header, column: onlyColumn });
    const columns = new Columns(layout);
    return {
      form: opened.form,
      delimiter: opened.delimiter === 'none' ? null : opened.delimiter,
      columns: columns.names,
      hasHeader: layout.isNamed,
      addressColumn: columns.address,
      received: opened.received,
      batches: rowsOf(sample, opened, columns, layout.skip, limits),
      close: () => opened.source.batches.return().then(() => {}),
    };
  } catch (error) {
    await opened.source.batches.return();
    throw error;
  }
}

/** Objects have names, plain addresses in JSON have none. */
const namesOf = ({ names }: RowSource): readonly string[] | null =>
  names === null ? null : names.length === 0 ? ['email'] : [...names];

interface Text {
  readonly form: FileForm;
  readonly delimiter: Delimiter;
  readonly source: RowSource;
}
type Opened = Text & Pick<AddressFile, 'received'>;

async function open(source: AsyncIterable<Uint8Array>, claimed: FileForm | null, limits: ReadLimits): Promise<Opened> {
  const input = inputBlocks(source, limits.bytes);
  const first = await input.blocks.next();
  if (first.done) throw unreadable('it is empty', 1);
  const blocks = withFirst(first.value, input.blocks);
  const received = source instanceof SpooledInput ? () => source.file.size : input.received;
  try {
    const form = formOf(first.value, claimed);
    if (form === 'xlsx') return { form, delimiter: 'none', source: openXlsx(source, blocks, limits), received };
    return { ...(await openText(decodeText(blocks), form, limits, input)), received };
  } catch (error) {
    await input.blocks.return();
    throw error;
  }
}

/** What was spooled already is read where it is, and closed by whom it belongs to. */
function openXlsx(
  source: AsyncIterable<Uint8Array>,
  blocks: AsyncGenerator<Buffer, void, undefined>,
  limits: ReadLimits,
): RowSource {
  if (!(source instanceof SpooledInput)) return readXlsx(() => spool(blocks), limits);
  const { file } = source;
  if (file.size > limits.bytes) throw tooLarge(limits.bytes, 'bytes');
  return readXlsx(() => Promise.resolve({ ...file, close: () => Promise.resolve() }), limits);
}

async function openText(
  texts: AsyncGenerator<TextBlock, void, undefined>,
  claimed: FileForm | null,
  limits: ReadLimits,
  input: InputBlocks,
): Promise<Text> {
  const first = await texts.next();
  if (first.done) throw unreadable('it is empty', 1);
  const { text } = first.value;
  const form = claimed ?? jsonFormOf(text) ?? 'csv';
  if (form === 'json') input.lowerLimit(limits.jsonBytes);
  if (form === 'json' || form === 'ndjson') {
    const reader = form === 'json' ? readJsonArray(limits) : readNdjson(limits);
    const batches = textRows(withFirst(first.value, texts), reader);
    return { form, delimiter: 'none', source: { names: reader.names, batches } };
  }
  const { delimiter, skip } = delimiterOf(form, text);
  const splitter = new RowSplitter(delimiter, boundsOf(limits), skip > 0 ? 2 : 1);
  const rest = withFirst({ ...first.value, text: text.slice(skip) }, texts);
  const isText = form === 'csv' && delimiter === 'none';
  return { form: isText ? 'text' : form, delimiter, source: { names: null, batches: textRows(rest, splitter) } };
}

function delimiterOf(form: 'csv' | 'tsv' | 'text' | 'xlsx', text: string): { delimiter: Delimiter; skip: number } {
  if (form === 'csv') return detectDelimiter(text);
  return { delimiter: form === 'tsv' ? '\t' : 'none', skip: 0 };
}

async function* withFirst<T>(first: T, rest: AsyncGenerator<T, void, undefined>): AsyncGenerator<T, void, undefined> {
  try {
    yield first;
    yield* rest;
  } finally {
    await rest.return();
  }
}

async function* textRows(
  texts: AsyncGenerator<TextBlock, void, undefined>,
  reader: { push(text: string, final: boolean): RawRow[] },
): AsyncGenerator<RawBatch, void, undefined> {
  let bytes = 0;
  for await (const block of texts) {
    bytes = block.bytes;
    const rows = reader.push(block.text, false);
    if (rows.length > 0) yield { rows, bytes };
  }
  const rows = reader.push('', true);
  if (rows.length > 0) yield { rows, bytes };
}

async function sampleOf({ batches }: RowSource): Promise<RawBatch[]> {
  const sample: RawBatch[] = [];
  let rows = 0;
  while (rows < SAMPLE_ROWS) {
    const next = await batches.next();
    if (next.done) break;
    sample.push(next.value);
    rows += next.value.rows.length;
  }
  return sample;
}

async function* rowsOf(
  sample: readonly RawBatch[],
  { form, source }: Opened,
  columns: Columns,
  skip: number,
  limits: ReadLimits,
): AsyncGenerator<RowBatch, void, undefined> {
  const maxRows = form === 'json' ? limits.jsonRows : limits.rows;
  let row = 1 - skip;
  let bytesBefore = 0;
  for await (const batch of chained(sample, source.batches)) {
    const { length } = batch.rows;
    for (let from = 0; from < length; from += BATCH_ROWS) {
      const to = Math.min(length, from + BATCH_ROWS);
      const rows: Row[] = [];
      for (const raw of batch.rows.slice(from, to)) {
        if (row > maxRows) throw tooLarge(maxRows, 'rows');
        if (row > 0) rows.push(columns.row(raw, row));
        row += 1;
      }
      const bytes = bytesBefore + ((batch.bytes - bytesBefore) * to) / length;
      if (rows.length > 0) yield { rows, bytes };
    }
    bytesBefore = batch.bytes;
  }
}

async function* chained(sample: readonly RawBatch[], rest: RowSource['batches']) {
  try {
    yield* sample;
    yield* rest;
  } finally {
    await rest.return();
  }
}

const NONE: readonly string[] = [];

/** Brings rows to the columns of the file, without the results of an earlier run. */
class Columns {
  readonly names: readonly string[];
  readonly address: number;
  readonly #width: number;
  /** Indexes of the columns that stay; null: all. */
  readonly #kept: readonly number[] | null;

  constructor({ names, isNamed, address }: Layout) {
    const isResult = (name: string): boolean => isNamed && name.trim().toLowerCase().startsWith(RESULT_PREFIX);
    const kept = [...names.keys()].filter((index) => index === address || !isResult(names[index] ?? ''));
    this.names = kept.map((index) => names[index] ?? '');
    this.address = kept.indexOf(address);
    this.#width = names.length;
    this.#kept = kept.length === names.length ? null : kept;
  }

  row({ line, cells, problem }: RawRow, row: number): Row {
    if (problem !== null) {
      const text = this.names.map((_, index) => (index === 0 ? (cells[0] ?? '') : ''));
      return { row, line, cells: text, extra: NONE, address: null, problem };
    }
    const own = this.#own(cells);
    const extra = cells.length > this.#width ? cells.slice(this.#width) : NONE;
    return { row, line, cells: own, extra, address: addressIn(own[this.address] ?? ''), problem };
  }

  #own(cells: readonly string[]): readonly string[] {
    if (this.#kept !== null) return this.#kept.map((index) => cells[index] ?? '');
    if (cells.length === this.#width) return cells;
    if (cells.length > this.#width) return cells.slice(0, this.#width);
    return [...cells, ...Array<string>(this.#width - cells.length).fill('')];
  }
}
