/**
 * Rows of a file as they are stored, many in one JSON text. JSON keeps every cell as it is: NUL and lone surrogates,
 * which databases do not take, are escaped in it.
 */
import type { ListLayout, ListRow, ListRowAddress, NewListBlock } from '../store.ts';

/** An address that is not simply what the main column has: its number, the index of its column, its text. */
type StoredAddress = readonly [number: number, column: number, text: string | null];
type Problem = readonly [code: string, line: number];
/** The number of the address, or 0; several addresses, or others; what is wrong with the row and where. */
type RowHead = number | readonly StoredAddress[] | Problem;
/** The cells follow. */
export type StoredRow = readonly [RowHead, ...string[]];

const isProblemHead = (head: Exclude<RowHead, number>): head is Problem => typeof head[0] === 'string';

/**
 * Takes at least one row. They become texts, as many objects that wait to be stored would grow old
 * (docs/architecture.md#what-v8-does).
 */
export function newBlock(
  rows: readonly ListRow[],
  firstAddress: number,
  addresses: readonly string[],
  { addressColumn }: Pick<ListLayout, 'addressColumn'>,
): NewListBlock {
  const [first] = rows;
  if (first === undefined) throw new RangeError('A block has at least one row.');
  const block = { rows: rowsText(rows, addressColumn), addresses: JSON.stringify(addresses) };
  // The numbers of the addresses are in the chunk, with a comma.
  const numbers = addresses.length * (String(firstAddress + addresses.length).length + 1);
  return {
    ...block,
    firstRow: first.row,
    rowCount: rows.length,
    firstAddress,
    addressCount: addresses.length,
    bytes: Buffer.byteLength(block.rows) + Buffer.byteLength(block.addresses) + numbers,
  };
}

const rowsText = (rows: readonly ListRow[], main: number): string =>
  JSON.stringify(rows.map((row) => [headOf(row, main), ...withoutBlankEnd(row.cells, row.extra)]));

/** Empty cells at the end are not stored: the columns of the list say how many there are. */
function withoutBlankEnd(cells: readonly string[], extra: readonly string[]): readonly string[] {
  const all = extra.length === 0 ? cells : [...cells, ...extra];
  const last = all.findLastIndex((cell) => cell !== '');
  return last + 1 === all.length ? all : all.slice(0, last + 1);
}

function headOf({ addresses, problem }: ListRow, main: number): RowHead {
  if (problem !== null) return [problem.code, problem.line];
  const [first] = addresses;
  if (first === undefined) return 0;
  if (addresses.length === 1 && first.column === main && first.text === null) return first.number;
  return addresses.map(({ number, column, text }) => [number, column, text]);
}

export const storedRows = (text: string): StoredRow[] => JSON.parse(text);

/** `firstRow` is a row of the file. */
export function toRows(text: string, firstRow: number, { columns, addressColumn }: ListLayout): ListRow[] {
  return storedRows(text).map(([head, ...cells], i) => ({
    row: firstRow + i,
    addresses: addressesOfHead(head, addressColumn),
    cells: columns.map((_, column) => cells[column] ?? ''),
    extra: cells.slice(columns.length),
    problem: typeof head !== 'number' && isProblemHead(head) ? { code: head[0], line: head[1] } : null,
  }));
}

const NO_ADDRESSES: readonly ListRowAddress[] = [];
function addressesOfHead(head: RowHead, main: number): readonly ListRowAddress[] {
  if (typeof head === 'number') return head > 0 ? [{ number: head, column: main, text: null }] : NO_ADDRESSES;
  return isProblemHead(head) ? NO_ADDRESSES : head.map(([number, column, text]) => ({ number, column, text }));
}

/**
 * The row without the addresses that are erased, and then without its cells; null: it has none of them. `text`: of the
 * address as it is there; `main`: the index of the column with the addresses.
 */
export function withoutErased(
  [head, ...cells]: StoredRow,
  main: number,
  isErased: (address: { readonly number: number; readonly text: string }) => boolean,
): StoredRow | null {
  const blank = cells.map(() => '');
  if (typeof head === 'number')
    return head > 0 && isErased({ number: head, text: cells[main] ?? '' }) ? [0, ...blank] : null;
  if (isProblemHead(head)) return null;
  // What is left has its text beside the cells, or in one of them.
  const left = head.filter(([number, column, text]) => !isErased({ number, text: text ?? cells[column] ?? '' }));
  if (left.length === head.length) return null;
  const kept = new Set(left.flatMap(([, column, text]) => (text === null ? column : [])));
  return [left.length === 0 ? 0 : left, ...cells.map((cell, column) => (kept.has(column) ? cell : ''))];
}

export const parseAddresses = (text: string): string[] => JSON.parse(text);
export const parsePending = (text: string): number[] => JSON.parse(text);
