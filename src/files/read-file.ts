/** The reader of address files, of every form: what its rows are, and what to verify of them. In bounded memory. */

import { LIST_BYTES, LIST_COLUMNS, LIST_ROW_BYTES, LIST_ROWS } from '../kernel/facts/limits.ts';
import type { FileForm, ReadChoice } from '../kernel/facts/lists.ts';
import { layoutOf, SAMPLE_ROWS } from './columns.ts';
import { type OpenedFile, openFile } from './formats.ts';
import { tooLarge, unreadable } from './problems.ts';
import { RowReader } from './row-reader.ts';
import type { FileRow, RawBatch, ReadLimits, ReadSummary, ReadWarning, RowSource } from './rows.ts';
import { shownNames } from './xlsx/book.ts';

export interface RowBatch {
  readonly rows: readonly FileRow[];
  /** Bytes of the input up to the end of these rows, approximately. */
  readonly bytes: number;
}

/** What was found out about a file before its rows are read. */
export interface Reading
  extends Pick<RowSource, 'format' | 'delimiter' | 'encoding' | 'byteOrderMark' | 'sheet' | 'entry'> {
  /** The row of the file with the names of the columns is counted from 1; 0: none. */
  readonly headerRow: number;
  /** Whether the names of the columns are in the file: in its header, or as the keys of its objects. */
  readonly hasNames: boolean;
  /**
   * Without result columns of an earlier run. Columns without a name are called `column_2`, that of the addresses
   * `email`.
   */
  readonly columns: readonly string[];
  /** Indexes of the columns whose addresses are verified; the first is the main one. */
  readonly addressColumns: readonly number[];
}

export interface AddressFile {
  readonly reading: Reading;
  /** Bytes of the file that have arrived so far. */
  received(): number;
  /** Once. Throws FileError, or what the input throws. */
  readonly batches: AsyncGenerator<RowBatch, void, undefined>;
  /** The summary is of the rows that were read: it is complete behind the last one. */
  summary(): ReadSummary;
  /** Needed if the rows are not read to the end. */
  close(): Promise<void>;
}

const READ_LIMITS: ReadLimits = {
  bytes: LIST_BYTES,
  rows: LIST_ROWS.max,
  rowBytes: LIST_ROW_BYTES,
  columns: LIST_COLUMNS.max,
  party: '',
};

/** What is null or missing is detected. */
export interface ReadOptions extends ReadChoice {
  /** What the sender calls the file; what the content says for certain wins. `json`: also that texts are addresses. */
  readonly form?: FileForm | null;
  /** The charset comes from the media type. */
  readonly charset?: string | null;
  readonly limits?: Partial<ReadLimits>;
}

/** A batch has at most this many rows. */
const READ_BATCH_ROWS = 500;

/** Reads as far as needed to know the columns. Throws FileError. */
export async function readAddressFile(
  input: AsyncIterable<Uint8Array>,
  options: ReadOptions = {},
): Promise<AddressFile> {
  const limits = { ...READ_LIMITS, ...options.limits };
  const {
    form: claimed = null,
    sheet = null,
    entry = null,
    delimiter = null,
    charset = null,
    encoding = null,
  } = options;
  const choice = { claimed, sheet, entry, delimiter, charset, encoding };
  const opened = await openFile(input, choice, limits);
  const { names, batches, isList = false, later, warnings, others, ...found } = opened.source;
  const close = async (): Promise<void> => {
    await batches.return();
  };
  try {
    const sample = await sampleOf(opened.source);
    if (sample.length === 0) throw unreadable('it is empty', 1);
    const rows = sample.flatMap((batch) => batch.rows);
    // Texts that a caller sent as addresses are verified, whatever they are.
    const isStated = claimed === 'json' && (names === null || names.length === 0);
    const { headerRow = isStated ? 0 : null, columns: wanted = isStated ? ['1'] : null } = options;
    const further = rows.length < SAMPLE_ROWS ? [] : ((await later?.()) ?? []);
    const layout = layoutOf(rows, further, objectKeys(names), { headerRow, columns: wanted });
    if (rows.length < SAMPLE_ROWS && rows.length === layout.skip && layout.skip > 0)
      throw unreadable('it has a header, but no rows', layout.headerRow);
    const reader = new RowReader(layout, {
      delimiter: found.delimiter ?? '',
      isList,
      isRecords: names !== null,
      isStated,
    });
    return {
      reading: {
        ...found,
        headerRow: layout.headerRow,
        hasNames: layout.isNamed,
        columns: reader.names,
        addressColumns: reader.verified,
      },
      received: opened.received,
      batches: numberedBatches(sample, opened, reader, layout.skip, limits),
      summary: () => reader.summary([...otherLists(found.sheet, others), ...(warnings?.() ?? [])]),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

export function otherLists(sheet: string | null, others: RowSource['others']): ReadWarning[] {
  if (others.length === 0) return [];
  const [what, how] = sheet === null ? ['lists in the JSON', 'entry'] : ['sheets of the workbook', 'sheet'];
  const message = `Other ${what} have addresses, too, and are not read: ${shownNames(others)}. Name one as ${how} to read it instead.`;
  return [{ code: 'other_lists', message }];
}

/** Objects have names, plain addresses in JSON have none. */
const objectKeys = (names: RowSource['names']): readonly string[] | null =>
  names === null ? null : names.length === 0 ? ['email'] : [...names];

export async function sampleOf({ batches }: RowSource): Promise<RawBatch[]> {
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

async function* numberedBatches(
  sample: readonly RawBatch[],
  { source }: OpenedFile,
  reader: RowReader,
  skip: number,
  limits: ReadLimits,
): AsyncGenerator<RowBatch, void, undefined> {
  const maxRows = limits.rows;
  let left = skip;
  let bytesBefore = 0;
  {
    for await (const batch of chained(sample, source.batches)) {
      const { length } = batch.rows;
      for (let from = Math.min(left, length); from < length; from += READ_BATCH_ROWS) {
        const to = Math.min(length, from + READ_BATCH_ROWS);
        const rows = batch.rows.slice(from, to).flatMap((raw) => reader.read(raw));
        if (reader.count > maxRows) throw tooLarge(maxRows, 'rows');
        const bytes = bytesBefore + ((batch.bytes - bytesBefore) * to) / length;
        // Rows that were held back come with others.
        for (let i = 0; i < rows.length; i += READ_BATCH_ROWS)
          yield { rows: rows.slice(i, i + READ_BATCH_ROWS), bytes };
      }
      left = Math.max(0, left - length);
      bytesBefore = batch.bytes;
    }
    const rows = reader.end();
    if (rows.length > 0) yield { rows, bytes: bytesBefore };
  }
}

export async function* chained(sample: readonly RawBatch[], rest: RowSource['batches']) {
  try {
    yield* sample;
    yield* rest;
  } finally {
    await rest.return();
  }
}
