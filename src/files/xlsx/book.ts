/** Workbooks of every format: their sheets, and which of them is the list. */
import type { RawBatch } from '../rows.ts';

export interface SheetSurvey {
  readonly name: string;
  /** People see it. */
  readonly isVisible: boolean;
  readonly rating: SheetRating;
}

export interface Book {
  /** The sheets in their order, those that are visible with their first rows rated. */
  readonly sheets: readonly SheetSurvey[];
  /** Rows that the sheet leaves out are missing; batches may be empty. */
  rows(index: number): AsyncIterable<RawBatch>;
}

/** Sheets that are looked at, and rows of each. */
export const SURVEYED_SHEETS = 50;
const SURVEYED_ROWS = 1_000;
const SURVEYED_COLUMNS = 200;
const ADDRESS_CELL_LENGTH = 320;

/** A cell that is an address, or several: as people write them, not whether a mail server takes them. */
export function isAddressCell(cell: string): boolean {
  if (!cell.includes('@') || cell.length > 10 * ADDRESS_CELL_LENGTH) return false;
  const parts = cell.split(/[;,\n|]|\s\/\s/).filter((part) => part.trim() !== '');
  return parts.length > 0 && parts.every(isOneAddress);
}

function isOneAddress(part: string): boolean {
  const open = part.lastIndexOf('<');
  const text = (open < 0 ? part : part.slice(open + 1).replace(/>\s*$/, '')).trim().replace(/^(mailto|smtp):/i, '');
  return text.length <= ADDRESS_CELL_LENGTH && /^[^\s@<>()]+@[^\s@<>()]+\.[^\s@<>().]{2,}$/.test(text);
}

/** A cell that shows something else than the address it links to. */
export const withLink = (text: string, address: string): string => {
  if (text.trim() === '') return address;
  return isAddressCell(text) ? text : `${text} <${address}>`;
};

/** RFC 6068: header fields follow a question mark. */
export function mailtoOf(link: string): string | null {
  const [, address = ''] = /^mailto:([^?]+)/i.exec(link.trim()) ?? [];
  if (address === '') return null;
  try {
    return decodeURIComponent(address).trim();
  } catch {
    return address.trim();
  }
}

/** `link` may be of any kind. */
export function withMailto(text: string, link: string): string {
  const address = mailtoOf(link);
  return address === null ? text : withLink(text, address);
}

interface ColumnRating {
  filled: number;
  addresses: number;
  /** Something else stands before the first address, such as a name of the column. */
  isNamed: boolean;
}

/** What the first rows of a sheet are. */
export class SheetRating {
  rows = 0;
  readonly #columns: ColumnRating[] = [];

  /** True when no further rows are needed. */
  add(cells: readonly string[]): boolean {
    if (this.isComplete) return true;
    this.rows += 1;
    const { length } = cells;
    for (let i = 0; i < length && i < SURVEYED_COLUMNS; i++) {
      const cell = cells[i] ?? '';
      if (cell.trim() === '') continue;
      const isAddress = isAddressCell(cell);
      const column = this.#columns[i] ?? { filled: 0, addresses: 0, isNamed: !isAddress };
      this.#columns[i] = column;
      column.filled += 1;
      if (isAddress) column.addresses += 1;
    }
    return this.isComplete;
  }

  get isComplete(): boolean {
    return this.rows >= SURVEYED_ROWS;
  }

  /**
   * 2: a column of addresses; 1: there are some, such as one to write to in a note; 0: there are none.
   */
  get rank(): 0 | 1 | 2 {
    const columns = this.#columns.filter((column) => column !== undefined);
    const isList = ({ filled, addresses, isNamed }: ColumnRating): boolean =>
      addresses > (isNamed ? 0 : 1) && addresses * 3 >= filled;
    if (columns.some(isList)) return 2;
    return columns.some(({ addresses }) => addresses > 0) ? 1 : 0;
  }
}

const SHOWN_SHEETS = 20;
const SHOWN_SHEET_CHARACTERS = 60;

/** `"a", "b"` */
export const shownNames = (names: readonly string[]): string => {
  const shown = names.slice(0, SHOWN_SHEETS).map((name) => JSON.stringify(name.slice(0, SHOWN_SHEET_CHARACTERS)));
  return [...shown, ...(names.length > SHOWN_SHEETS ? ['…'] : [])].join(', ');
};
