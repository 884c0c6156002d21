/** Rows of a new list: numbers their addresses, cuts them into blocks and stores these. */
import { tooLarge } from '../../files/problems.ts';
import type { RowAddress } from '../../files/rows.ts';
import { isFilled, trimBlanks } from '../../kernel/blanks.ts';
import { ApiError } from '../../kernel/errors.ts';
import {
  ADDRESS_LENGTH,
  LIST_RESULT_BYTES,
  LIST_STORED_FREE_BYTES,
  LIST_STORED_PER_SENT,
} from '../../kernel/facts/limits.ts';
import { DEFAULT_DEDUPE } from '../../kernel/facts/lists.ts';
import { LIST_STEPS } from '../../kernel/list-work.ts';
import { newBlock } from '../../store/lists/blocks.ts';
import type { ListLayout, ListRead, ListRoom, ListRow, NewListBlock } from '../../store/store.ts';
import { DistinctAddresses } from './distinct.ts';

/** `addresses`: what to verify; none: the row is blank or has a problem. */
type NewRow = Omit<ListRow, 'addresses'> & { readonly addresses: readonly Pick<RowAddress, 'text' | 'column'>[] };

type Append = (blocks: readonly NewListBlock[]) => Promise<boolean>;

/** One block has this many rows. */
const BLOCK_ROWS = 500;
const BLOCK_CHARACTERS = 250_000;
/** One transaction stores blocks with so many characters: charges wait for it. */
const APPEND_CHARACTERS = BLOCK_CHARACTERS;

export const uploadGivenUp = () => new ApiError('request_timeout', 'The upload took too long and was ended.');

interface NewRows {
  readonly layout: ListLayout;
  readonly room: ListRoom;
  /** Stores some blocks. False: they are not wanted any more. */
  readonly append: Append;
  /** Bytes of the file that have arrived so far; null: the rows are those of another list. */
  readonly received: (() => number) | null;
}

/**
 * Stores the rows of one list, many at a time. Throws ApiError `list_storage_full`, and FileError `list_too_large`
 * where the rows take many times the bytes of their file: few bytes of XLSX can refer to one text a million times.
 */
export class BlockWriter {
  readonly #list: NewRows;
  readonly #distinct: DistinctAddresses;
  #blocks: NewListBlock[] = [];
  #storing: Promise<void> = Promise.resolve();
  #characters = 0;
  #rows: ListRow[] = [];
  #addresses: string[] = [];
  #blockCharacters = 0;
  #total = 0;
  #filled = 0;
  #unreadable = 0;
  #filledRows = 0;
  #withAddress = 0;
  #storedBytes = 0;
  readonly #stored: ListRead['blocks'][number][] = [];

  constructor(list: NewRows) {
    this.#list = list;
    this.#distinct = new DistinctAddresses(list.layout.dedupe ?? DEFAULT_DEDUPE);
  }

  /** Rows that are not blank in every cell. */
  get filledRows(): number {
    return this.#filledRows;
  }

  /** What has been stored, without the rows. */
  get blocks(): ListRead['blocks'] {
    return this.#stored;
  }

  get counts() {
    const [total, addresses, filled, unreadable] = [this.#total, this.#distinct.count, this.#filled, this.#unreadable];
    const blank = total - this.#withAddress - unreadable;
    return { total, addresses, duplicates: filled - addresses, blank, unreadable };
  }

  /** True when what there is should be stored, at the latest when there are so many `blocks`. */
  add({ row, cells, extra, addresses, problem }: NewRow, blocks: number = LIST_STEPS.alone.blocks): boolean {
    this.#total += 1;
    if (problem !== null) this.#unreadable += 1;
    if (addresses.length > 0) this.#withAddress += 1;
    if (addresses.length > 0 || cells.some(isFilled) || extra.some(isFilled)) this.#filledRows += 1;
    const numbered = addresses.map(({ text, column }) => ({
      number: this.#numbered(text),
      column,
      text: trimBlanks(cells[column] ?? '') === text ? null : text,
    }));
    this.#rows.push({ row, addresses: numbered, cells, extra, problem });
    for (const { text } of numbered) this.#blockCharacters += text?.length ?? 0;
    for (const cell of cells) this.#blockCharacters += cell.length;
    for (const cell of extra) this.#blockCharacters += cell.length;
    if (this.#rows.length >= BLOCK_ROWS || this.#blockCharacters >= BLOCK_CHARACTERS) this.#endBlock();
    return this.#blocks.length >= blocks || this.#characters >= APPEND_CHARACTERS;
  }

  #numbered(address: string): number {
    this.#filled += 1;
    // One that is longer is too long anyway, and is verified as such.
    const text = address.slice(0, ADDRESS_LENGTH.max);
    const before = this.#distinct.count;
    const number = this.#distinct.number(text);
    if (number > before) this.#addresses.push(text);
    return number;
  }

  #endBlock(): void {
    if (this.#rows.length === 0) return;
    const firstAddress = this.#distinct.count - this.#addresses.length + 1;
    const block = newBlock(this.#rows, firstAddress, this.#addresses, this.#list.layout);
    const { firstRow, addressCount, bytes } = block;
    this.#stored.push({ firstRow, firstAddress, addressCount, bytes });
    this.#storedBytes += bytes;
    this.#checkSize();
    this.#blocks.push(block);
    this.#characters += this.#blockCharacters;
    this.#rows = [];
    this.#addresses = [];
    this.#blockCharacters = 0;
  }

  #checkSize(): void {
    const { room, received } = this.#list;
    if (this.#storedBytes + this.#distinct.count * LIST_RESULT_BYTES > room.bytes)
      throw new ApiError('list_storage_full', undefined, { limit: room.limit });
    if (received === null) return;
    const limit = Math.max(LIST_STORED_FREE_BYTES, received() * LIST_STORED_PER_SENT);
    if (this.#storedBytes > limit) throw tooLarge(limit, 'bytes to store for a file of this size; send it as CSV');
  }

  /** Begins to store what there is, once what was there before is stored: rows can be added meanwhile. */
  async store(): Promise<void> {
    const blocks = this.#blocks;
    this.#blocks = [];
    this.#characters = 0;
    await this.#storing;
    if (blocks.length === 0) return;
    this.#storing = this.#append(blocks);
    // Awaited by the next call, or by nobody when the input fails before.
    this.#storing.catch(() => undefined);
  }

  async #append(blocks: readonly NewListBlock[]): Promise<void> {
    if (!(await this.#list.append(blocks))) throw uploadGivenUp();
  }

  async end(): Promise<void> {
    this.#endBlock();
    await this.store();
    await this.#storing;
  }
}
