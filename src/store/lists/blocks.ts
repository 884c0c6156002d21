/**
 * Rows of a file as they are stored, many in one JSON text. JSON keeps every cell as it is: NUL and lone surrogates,
 * which databases do not take, are escaped in it.
 */
import type { ListRow, NewListBlock } from '../store.ts';

/** The number of the address, 0, or what is wrong with the row and where; then the cells. */
type Head = number | readonly [code: string, line: number];
type StoredRow = readonly [Head, ...string[]];

/**
 * At least one row. As texts, because a few objects for each of many rows that wait to be stored would outlive the
 * young generation.
 */
export function newBlock(rows: readonly ListRow[], firstAddress: number, addresses: readonly string[]): NewListBlock {
  const [first] = rows;
  if (first === undefined) throw new RangeError('A block has at least one row.');
  const block = { rows: rowsText(rows), addresses: JSON.stringify(addresses) };
  // The numbers of the addresses stand in the chunk, with a comma.
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

const rowsText = (rows: readonly ListRow[]): string =>
  JSON.stringify(
    rows.map(({ address, problem, cells, extra }) => [headOf(address, problem), ...withoutBlankEnd(cells, extra)]),
  );

/** Empty cells at the end are not stored: the columns of the list say how many there are. */
function withoutBlankEnd(cells: readonly string[], extra: readonly string[]): readonly string[] {
  const all = extra.length === 0 ? cells : [...cells, ...extra];
  const last = all.findLastIndex((cell) => cell !== '');
  return last + 1 === all.length ? all : all.slice(0, last + 1);
}

const headOf = (address: number | null, problem: ListRow['problem']): Head =>
  problem === null ? (address ?? 0) : [problem.code, problem.line];

export const storedRows = (text: string): StoredRow[] => JSON.parse(text);

export function toRows(text: string, firstRow: number, columns: number): ListRow[] {
  return storedRows(text).map(([head, ...cells], i) => ({
    row: firstRow + i,
    address: typeof head === 'number' && head > 0 ? head : null,
    cells: Array.from({ length: columns }, (_, column) => cells[column] ?? ''),
    extra: cells.slice(columns),
    problem: typeof head === 'number' ? null : { code: head[0], line: head[1] },
  }));
}

/** The row without its cells and address. */
export const blankRow = ([, ...cells]: StoredRow): StoredRow => [0, ...cells.map(() => '')];

export const parseAddresses = (text: string): string[] => JSON.parse(text);
export const parsePending = (text: string): number[] => JSON.parse(text);
