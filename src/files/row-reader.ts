/** Rows as they are in a file to rows with their addresses, and what only all of them show. */
import { trimBlanks } from '../kernel/blanks.ts';
import { counted, grouped } from '../kernel/format.ts';
import { contentOf, FORM_WEIGHTS } from './address-cell.ts';
import type { Layout } from './columns.ts';
import { RESULT_PREFIX } from './result-columns.ts';
import type { FileRow, RawRow, ReadSummary, ReadWarning, RowAddress } from './rows.ts';

const NO_ROWS: readonly [] = [];
/** Notes and totals at the end are no more than so many rows. */
const FOOTER_ROWS = 50;
/** A row has at most this many. */
const ROW_ADDRESSES = 1_000;

type Unnumbered = Omit<FileRow, 'row'>;
/** A row that is left out if no address follows, and how many cells the file has for it. */
interface HeldRow {
  readonly row: Unnumbered;
  readonly width: number;
}

interface RowForm {
  readonly delimiter: string;
  readonly isList: boolean;
  readonly isRecords: boolean;
  /** What is no address is meant as one: it is verified as it is. */
  readonly isStated: boolean;
}

/** Brings rows to the columns of the file, without the results of an earlier run. */
export class RowReader {
  readonly names: readonly string[];
  /** Indexes of the columns that are verified, the main one first. */
  readonly verified: readonly number[];
  /** Counts the rows so far. */
  count = 0;
  readonly #main: number;
  readonly #inOrder: readonly number[];
  readonly #others: readonly number[];
  readonly #substitutes: readonly number[];
  readonly #placeholders: ReadonlySet<string>;
  readonly #headers: ReadonlySet<string>;
  /** Those over the main column, which tell most rows from them. */
  readonly #headerCells: ReadonlySet<string>;
  readonly #width: number;
  readonly #delimiter: string;
  readonly #isList: boolean;
  readonly #isRecords: boolean;
  readonly #isStated: boolean;
  /** Indexes of the columns that stay; null: all. */
  readonly #kept: readonly number[] | null;
  /** Rows that are left out if no address follows. */
  #held: HeldRow[] = [];
  readonly #otherCounts: number[];
  readonly #counts = {
    filled: 0,
    addresses: 0,
    rowsWithAddress: 0,
    several: 0,
    max: 0,
    short: 0,
    long: 0,
    realigned: 0,
    repeated: 0,
    footer: 0,
    substituted: 0,
  };

  /**
   * `delimiter`: what cells that were cut apart by mistake are joined by. `isRecords`: each row is an object of its
   * own, as in JSON, so that none is a note or a total below the others.
   */
  constructor(layout: Layout, { delimiter, isList, isRecords, isStated }: RowForm) {
    const { names, isNamed, header } = layout;
    const columns = [...layout.verified, ...layout.others];
    const isResult = (name: string): boolean => isNamed && name.trim().toLowerCase().startsWith(RESULT_PREFIX);
    const kept = [...names.keys()].filter((index) => columns.includes(index) || !isResult(names[index] ?? ''));
    const own = (indexes: readonly number[]): number[] => indexes.map((index) => kept.indexOf(index));
    this.names = kept.map((index) => names[index] ?? '');
    this.verified = own(layout.verified);
    this.#main = this.verified[0] ?? 0;
    this.#inOrder = this.verified.toSorted((a, b) => a - b);
    this.#others = own(layout.others);
    this.#substitutes = own(layout.substitutes);
    this.#otherCounts = this.#others.map(() => 0);
    this.#placeholders = layout.placeholders;
    this.#headers = new Set(header.map(repeatedHeaderKey));
    const [main = 0] = layout.verified;
    this.#headerCells = new Set(header.map((cells) => trimBlanks(cells[main] ?? '').toLowerCase()));
    this.#width = names.length;
    this.#delimiter = delimiter;
    this.#isList = isList;
    this.#isRecords = isRecords;
    this.#isStated = isStated;
    this.#kept = kept.length === names.length ? null : kept;
  }

  /** Returns the rows that are certain to be rows now. */
  read(raw: RawRow): FileRow[] {
    if (this.#isHeader(raw)) {
      this.#counts.repeated += 1;
      return [];
    }
    const row = this.#rowOf(raw);
    if (this.#isRecords) return this.#release([row]);
    if (row.addresses.length > 0 && !this.#isLikeTotal(row)) return this.#release([row]);
    if (row.problem !== null) return this.#release([row]);
    this.#held.push({ row, width: raw.cells.length });
    if (this.#held.length <= FOOTER_ROWS) return [];
    return this.#release([]);
  }

  #isHeader({ cells, problem }: RawRow): boolean {
    if (problem !== null || this.#headerCells.size === 0) return false;
    const main = this.#kept?.[this.#main] ?? this.#main;
    return (
      this.#headerCells.has(trimBlanks(cells[main] ?? '').toLowerCase()) && this.#headers.has(repeatedHeaderKey(cells))
    );
  }

  /** Returns the last rows. */
  end(): FileRow[] {
    const first = this.#held.findIndex((held) => this.#isFooter(held));
    const footer = first < 0 ? [] : this.#held.slice(first);
    const isFooter =
      footer.length > 0 &&
      this.#counts.rowsWithAddress > 0 &&
      footer.every((held) => this.#isFooter(held) || isBlankRow(held.row));
    if (!isFooter) return this.#release([]);
    this.#counts.footer = footer.filter(({ row }) => !isBlankRow(row)).length;
    const blank = this.#held.slice(0, first).map(({ row }) => row);
    this.#held = [];
    return this.#numbered(blank);
  }

  #release(rows: readonly Unnumbered[]): FileRow[] {
    const all = [...this.#held.map(({ row }) => row), ...rows];
    this.#held = [];
    return this.#numbered(all);
  }

  #numbered(rows: readonly Unnumbered[]): FileRow[] {
    return rows.map((row) => {
      this.#count(row);
      this.count += 1;
      return { row: this.count, ...row };
    });
  }

  /** A word in the main column that is no attempt at an address, and nothing but numbers beside it. */
  #isLikeTotal({ cells, extra, addresses: [first] }: Unnumbered): boolean {
    if (first === undefined || first.text.includes('@') || this.#isList) return false;
    const others = [...cells.filter((_, index) => index !== this.#main), ...extra].filter(
      (cell) => trimBlanks(cell) !== '',
    );
    return others.every((cell) => !/\p{L}/u.test(cell)) && /^(?:\p{Lu}\p{L}*|\p{Lo}+)$/u.test(first.text);
  }

  #isFooter({ row, width }: HeldRow): boolean {
    if (isBlankRow(row)) return false;
    if (row.addresses.length > 0) return true;
    const own = row.cells[this.#main] ?? '';
    if (contentOf(own).form === 'text' && /\p{L}/u.test(own)) return true;
    // A row of the table whose address is missing has as many cells as others.
    return width === 1 && this.names.length > 1 && /\s|:$/.test(trimBlanks(row.cells[0] ?? ''));
  }

  #rowOf({ line, cells, problem }: RawRow): Unnumbered {
    if (problem !== null)
      return { line, cells: this.#alone(cells[0] ?? ''), extra: NO_ROWS, addresses: NO_ROWS, problem };
    const aligned = this.#aligned(cells);
    if (aligned === null) {
      const text = cells.join(this.#delimiter);
      return { line, cells: this.#alone(text), extra: NO_ROWS, addresses: NO_ROWS, problem: 'stray_delimiter' };
    }
    const own = this.#own(aligned);
    const extra = aligned.length > this.#width ? aligned.slice(this.#width) : NO_ROWS;
    return { line, cells: own, extra, addresses: this.#addressesOf(own, cells.length), problem };
  }

  #alone(text: string): string[] {
    return this.names.map((_, index) => (index === 0 ? text : ''));
  }

  /**
   * A row with more cells than the header, whose address is behind its column: the cells before it are joined where
   * only one way is possible; null where it is not certain which ones belong together.
   */
  #aligned(cells: readonly string[]): readonly string[] | null {
    const width = this.#width;
    if (cells.length <= width) return cells;
    let { length } = cells;
    while (length > width && trimBlanks(cells[length - 1] ?? '') === '') length -= 1;
    if (length === width) return cells.slice(0, width);
    const main = this.#kept?.[this.#main] ?? this.#main;
    if (holdsAddress(cells[main]) || this.verified.length > 1) return cells;
    const shift = length - width;
    const found = [...Array(shift).keys()].map((i) => main + 1 + i).filter((index) => holdsAddress(cells[index]));
    if (found.length === 0) return cells;
    const [at] = found;
    if (found.length > 1 || at === undefined || at - main !== shift) return null;
    const joined = this.#joined(cells.slice(0, at), main);
    if (joined === null) return null;
    this.#counts.realigned += 1;
    return [...joined, ...cells.slice(at, length)];
  }

  /** It joins `count` cells of more. */
  #joined(cells: readonly string[], count: number): string[] | null {
    if (count === 0) return null;
    if (count === 1) return [cells.join(this.#delimiter)];
    // Behind a delimiter that is part of a text, there is a blank.
    const joined: string[] = [];
    for (const cell of cells) {
      const last = joined.at(-1);
      if (last !== undefined && /^\s\S/.test(cell)) joined[joined.length - 1] = last + this.#delimiter + cell;
      else joined.push(cell);
    }
    return joined.length === count ? joined : null;
  }

  #own(cells: readonly string[]): readonly string[] {
    if (this.#kept !== null) return this.#kept.map((index) => cells[index] ?? '');
    if (cells.length === this.#width) return cells;
    if (cells.length > this.#width) return cells.slice(0, this.#width);
    return [...cells, ...Array<string>(this.#width - cells.length).fill('')];
  }

  #addressesOf(cells: readonly string[], width: number): readonly RowAddress[] {
    if (this.verified.length > 1)
      return this.#inOrder.flatMap((column) => this.#inCell(cells, column)).slice(0, ROW_ADDRESSES);
    const own = this.#inCell(cells, this.#main);
    if (own.length > 0) return own;
    for (const column of this.#substitutes) {
      const found = this.#inCell(cells, column).filter(({ text }) => text.includes('@'));
      if (found.length > 0) return found;
    }
    // A cell is missing: the only address of the row is beside its column.
    if (width >= this.#width) return NO_ROWS;
    const found = cells.flatMap((cell, column) =>
      this.#others.includes(column) || !holdsAddress(cell) ? [] : this.#inCell(cells, column),
    );
    return found.length === 1 ? found : NO_ROWS;
  }

  #inCell(cells: readonly string[], column: number): readonly RowAddress[] {
    const cell = cells[column] ?? '';
    if (cell === '') return NO_ROWS;
    const { addresses } = contentOf(cell);
    const [first] = addresses;
    if (first === undefined) return this.#isStated && trimBlanks(cell) !== '' ? [{ text: cell, column }] : NO_ROWS;
    if (addresses.length > 1) return addresses.map((text) => ({ text, column }));
    const isNothing =
      this.#placeholders.size > 0 && !first.includes('@') && this.#placeholders.has(trimBlanks(cell).toLowerCase());
    return isNothing ? NO_ROWS : [{ text: first, column }];
  }

  #count({ cells, extra, addresses, problem }: Unnumbered): void {
    const counts = this.#counts;
    if (problem !== null) return;
    if (addresses.length > 0) {
      const own = cells[addresses[0]?.column ?? 0] ?? '';
      if (FORM_WEIGHTS[contentOf(own).form] > 0) counts.addresses += 1;
      counts.rowsWithAddress += 1;
      counts.filled += 1;
      counts.max = Math.max(counts.max, addresses.length);
      if (addresses.length > 1) counts.several += 1;
      if (!this.verified.includes(addresses[0]?.column ?? 0)) counts.substituted += 1;
    } else if (contentOf(cells[this.#main] ?? '').form !== 'blank') counts.filled += 1;
    if (extra.length > 0) counts.long += 1;
    for (const [i, column] of this.#others.entries()) {
      const cell = cells[column] ?? '';
      if (cell === '' || addresses.some((address) => address.column === column)) continue;
      const { form, addresses: found } = contentOf(cell);
      if (FORM_WEIGHTS[form] > 0) this.#otherCounts[i] = (this.#otherCounts[i] ?? 0) + found.length;
    }
  }

  /** `further` are warnings about the file, not its rows. */
  summary(further: readonly ReadWarning[]): ReadSummary {
    const { rowsWithAddress, several, max } = this.#counts;
    const otherAddressColumns = this.#others.flatMap((index, i) => {
      const addresses = this.#otherCounts[i] ?? 0;
      return addresses === 0 ? [] : [{ column: this.names[index] || `column_${index + 1}`, addresses }];
    });
    return {
      otherAddressColumns,
      addressesPerRow: { max, rowsWithSeveral: several },
      rowsWithAddress,
      warnings: [...this.#warnings(otherAddressColumns), ...further],
    };
  }

  *#warnings(others: ReadSummary['otherAddressColumns']): Generator<ReadWarning> {
    const { filled, addresses, rowsWithAddress, several, long, realigned, repeated, footer } = this.#counts;
    const total = grouped(this.count);
    if (addresses === 0) yield { code: 'no_address', message: 'No row has an email address.' };
    else if (addresses * 2 < filled)
      yield {
        code: 'few_addresses',
        message: `Only ${grouped(addresses)} of the ${counted(filled, 'cell')} that are not blank ${addresses === 1 ? 'is an address' : 'are addresses'}.`,
      };
    if (others.length > 0) {
      const named = others
        .slice(0, NAMED_ROWS)
        .map(({ column, addresses: count }) => `${JSON.stringify(column.slice(0, 60))} (${grouped(count)})`);
      if (others.length > NAMED_ROWS) named.push('…');
      yield {
        code: 'other_address_columns',
        message: `Other columns hold addresses that are not verified: ${named.join(', ')}.`,
      };
    }
    if (several > 0)
      yield {
        code: 'several_addresses',
        message: `${grouped(several)} of ${grouped(rowsWithAddress)} rows with an address have several; each is verified.`,
      };
    if (long > 0)
      yield { code: 'uneven_rows', message: `${grouped(long)} of ${total} rows have more cells than the header.` };
    if (realigned > 0)
      yield {
        code: 'realigned_rows',
        message: `${counted(realigned, 'row')} with a delimiter inside a cell ${realigned === 1 ? 'was' : 'were'} put back into the columns.`,
      };
    if (repeated > 0)
      yield {
        code: 'header_repeated',
        message: `The header is repeated in ${counted(repeated, 'row')}, which ${repeated === 1 ? 'is' : 'are'} left out.`,
      };
    if (footer > 0)
      yield {
        code: 'rows_left_out',
        message: `${counted(footer, 'row')} of notes or totals at the end ${footer === 1 ? 'is' : 'are'} left out.`,
      };
  }
}

const NAMED_ROWS = 10;

const holdsAddress = (cell: string | undefined): boolean =>
  cell?.includes('@') === true && FORM_WEIGHTS[contentOf(cell).form] >= FORM_WEIGHTS.several;

const isBlankRow = ({ cells, extra }: Unnumbered): boolean =>
  [...cells, ...extra].every((cell) => trimBlanks(cell) === '');

/** Makes the key of a header: without case, and blanks around names and at the end. */
const repeatedHeaderKey = (cells: readonly string[]): string =>
  cells
    .map((cell) => trimBlanks(cell).toLowerCase())
    .join('\u0001')
    .replace(/(?<!\u0001)\u0001+$/, '');
