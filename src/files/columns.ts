/** Which row is the header, and which column holds the addresses. */
import { NAME_PARTS, NOT_ADDRESSES, WEAK_NAMES, WHOLE_NAMES, WORDS } from './column-names.ts';
import { noAddressColumn } from './problems.ts';
import { RESULT_PREFIX } from './result-columns.ts';
import type { RawRow } from './rows.ts';

export interface ColumnChoice {
  /** `auto`: a first row without an address whose names, or the rows below, show that it is one. */
  readonly header: 'auto' | boolean;
  /** The name of the address column, or its number from 1; null: detected. */
  readonly column: string | null;
}

export interface Layout {
  /** Rows of the sample up to and with the header. */
  readonly skip: number;
  /** Names of the columns; `email` and `column_2` … where the file has none. */
  readonly names: readonly string[];
  /** Whether the names are those of the file. */
  readonly isNamed: boolean;
  /** Index of the address column. */
  readonly address: number;
}

/** As many rows decide. */
export const SAMPLE_ROWS = 100;

/** `names`: given by the form of the file, which then has no header row. Throws FileError, `no_address_column`. */
export function layoutOf(sample: readonly RawRow[], names: readonly string[] | null, choice: ColumnChoice): Layout {
  const rows = sample.slice(0, SAMPLE_ROWS).map(({ cells, problem }) => (problem === null ? cells : []));
  if (names !== null) return { skip: 0, names, isNamed: true, address: addressColumn(names, names, rows, choice) };
  const first = rows.findIndex((cells) => cells.some((cell) => cell.trim() !== ''));
  const head = rows[first] ?? [];
  if (isHeader(head, rows.slice(first + 1), choice)) {
    const below = rows.slice(first + 1);
    return { skip: first + 1, names: head, isNamed: true, address: addressColumn(head, head, below, choice) };
  }
  const width = Math.max(0, ...rows.map((cells) => cells.length));
  const numbered = numberedColumns(width);
  const address = addressColumn(numbered, head, rows, choice);
  return { skip: 0, names: numbered.with(address, 'email'), isNamed: false, address };
}

/** What columns are called that have no names. */
export const numberedColumns = (count: number): string[] => Array.from({ length: count }, (_, i) => numberedColumn(i));
const numberedColumn = (index: number): string => `column_${index + 1}`;

/**
 * The key of the cell at an index in an object: the name of its column, or its number where the column has no name,
 * that of an earlier column, or the row is longer than the header. No two cells have the same.
 */
export function cellKeys(names: readonly string[]): (index: number) => string {
  const taken = new Set(names);
  const keys: string[] = [];
  return (index) => {
    for (let i = keys.length; i <= index; i++) {
      const name = names[i] ?? '';
      let key = name !== '' && names.indexOf(name) === i ? name : numberedColumn(i);
      while (key !== name && taken.has(key)) key += '_';
      taken.add(key);
      keys.push(key);
    }
    return keys[index] ?? '';
  };
}

function isHeader(head: readonly string[], below: readonly (readonly string[])[], choice: ColumnChoice): boolean {
  if (choice.header !== 'auto') return choice.header;
  if (choice.column !== null && indexOfName(head, choice.column) >= 0) return true;
  if (head.some(looksLikeAddress)) return false;
  if (head.some((name) => nameRank(name) > 0)) return true;
  // In a plain list of addresses, a first line like any other is more likely a bad address than a title.
  return head.length > 1 && below.some((cells) => cells.some(looksLikeAddress));
}

/** `shown`: what to call the columns where none is found. */
function addressColumn(
  names: readonly string[],
  shown: readonly string[],
  rows: readonly (readonly string[])[],
  { column }: ColumnChoice,
): number {
  if (column !== null) {
    const named = indexOfName(names, column);
    const number = /^[1-9]\d{0,5}$/.test(column.trim()) ? Number(column) : 0;
    if (named >= 0) return named;
    if (number > 0 && number <= names.length) return number - 1;
    throw noAddressColumn(shown, column);
  }
  const found = names.map((name, index) => ({ index, rank: nameRank(name), ...contentOf(rows, index) }));
  const best = found.toSorted((a, b) => rating(b) - rating(a) || b.addresses - a.addresses || a.index - b.index)[0];
  if (best === undefined || rating(best) === 0) throw noAddressColumn(shown, null);
  return best.index;
}

interface Content {
  readonly addresses: number;
  /** Cells that are not blank. */
  readonly filled: number;
}

function contentOf(rows: readonly (readonly string[])[], index: number): Content {
  let [addresses, filled] = [0, 0];
  for (const cells of rows) {
    const cell = cells[index] ?? '';
    if (cell.trim() !== '') filled += 1;
    if (looksLikeAddress(cell)) addresses += 1;
  }
  return { addresses, filled };
}

/** A name counts unless the cells contradict it and those of another column do not. */
function rating({ rank, addresses, filled }: Content & { rank: number }): number {
  if (rank >= 2 && (addresses > 0 || filled === 0)) return 10 + rank;
  if (addresses > 0) return 5 + rank / 10 + addresses / (2 * filled);
  return rank >= 2 ? rank : 0;
}

const looksLikeAddress = (cell: string): boolean => /[^\s@]@[^\s@]/.test(cell);

function indexOfName(names: readonly string[], wanted: string): number {
  const exact = names.indexOf(wanted);
  const same = (name: string): boolean => name.trim().toLowerCase() === wanted.trim().toLowerCase();
  return exact >= 0 ? exact : names.findIndex(same);
}

/** `userEmail_1` → user, email, 1; without case and accents. */
const wordsOf = (name: string): string[] =>
  name
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .normalize('NFKD')
    .replaceAll(/\p{Mn}/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter((word) => word !== '');

/** As names are compared: without case, accents, spaces and punctuation. */
const folded = (name: string): string => wordsOf(name).join('');
const WHOLE = new Set(WHOLE_NAMES.map(folded));
const PARTS = NAME_PARTS.map(folded);

/** 4: a name of nothing else; 3, 2: it contains one; 1: of other things as well; 0: none. */
function nameRank(name: string): number {
  if (name.length > 200 || name.startsWith(RESULT_PREFIX)) return 0;
  const words = wordsOf(name);
  const whole = words.join('');
  if (WHOLE.has(whole)) return 4;
  if (WEAK_NAMES.has(whole)) return 1;
  if (words.some((word) => NOT_ADDRESSES.has(word))) return 0;
  if (PARTS.some((part) => whole.includes(part))) return 3;
  return words.some((word) => WORDS.has(word)) ? 2 : 0;
}
