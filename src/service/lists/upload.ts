/** Stores an uploaded file as a list, as it arrives. */
import type { FileForm } from '../../files/forms.ts';
import { type AddressFile, type Row, readAddressFile } from '../../files/read-file.ts';
import type { Clock } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { ADDRESS_LENGTH } from '../../kernel/limits.ts';
import type { Level } from '../../kernel/plans.ts';
import type { AccountId, Actor, List, ListRow, Lists, NewListBlock } from '../../store/store.ts';
import { DistinctAddresses } from './distinct.ts';
import { withoutFileError } from './file-error.ts';

interface Upload {
  readonly account: AccountId;
  /** Under which results are recorded. */
  readonly keyId: string;
  /** Of the uploader. */
  readonly ip: string;
  readonly name: string;
  readonly level: Level;
  readonly patienceMinutes: number;
  readonly column: string | null;
  readonly header: 'auto' | boolean;
  /** What the sender says the file is; null: to be found out. */
  readonly form: FileForm | null;
  readonly input: AsyncIterable<Uint8Array>;
}

/** Of one block. */
const BLOCK_ROWS = 500;
const BLOCK_CHARACTERS = 250_000;
/** Of the blocks that are stored in one transaction. */
const APPEND_BLOCKS = 16;
const APPEND_CHARACTERS = 1024 * 1024;

/** Throws ApiError for a file that is no list; then, and when the input fails, nothing is left of it. */
export async function storeUpload(
  { lists, clock }: { lists: Lists; clock: Clock },
  upload: Upload,
  by: Actor,
): Promise<List> {
  const { account, keyId, ip, name, level, patienceMinutes, column, header, form, input } = upload;
  const id = newId('lst', clock.now());
  try {
    const file = await readAddressFile(input, { form, column, header });
    try {
      const { columns, addressColumn, hasHeader } = file;
      const layout = { columns, addressColumn, hasHeader };
      await lists.create({ id, account, keyId, clientIp: ip, name, level, patienceMinutes, layout });
      const writer = new BlockWriter((blocks) => append(lists, account, id, blocks));
      await writeRows(file, writer);
      const list = await lists.finish(account, id, writer.counts, by);
      if (list === null) throw givenUp();
      return list;
    } finally {
      await file.close();
    }
  } catch (error) {
    await lists.discard(account, id);
    throw withoutFileError(error);
  }
}

async function writeRows({ batches }: AddressFile, writer: BlockWriter): Promise<void> {
  for await (const { rows } of batches) {
    for (const row of rows) if (writer.add(row)) await writer.store();
    // Input that is already here, in memory or a file, leaves no other gap for requests.
    await new Promise(setImmediate);
  }
  await writer.end();
}

async function append(lists: Lists, account: AccountId, id: string, blocks: readonly NewListBlock[]): Promise<void> {
  if (!(await lists.append(account, id, blocks))) throw givenUp();
}

const givenUp = () => new ApiError('request_timeout', 'The upload took too long and was given up.');

class BlockWriter {
  readonly #store: (blocks: readonly NewListBlock[]) => Promise<void>;
  readonly #distinct = new DistinctAddresses();
  #blocks: NewListBlock[] = [];
  #characters = 0;
  #rows: ListRow[] = [];
  #addresses: string[] = [];
  #blockCharacters = 0;
  #total = 0;
  #filled = 0;
  #unreadable = 0;

  constructor(store: (blocks: readonly NewListBlock[]) => Promise<void>) {
    this.#store = store;
  }

  get counts() {
    const [total, addresses, filled, unreadable] = [this.#total, this.#distinct.count, this.#filled, this.#unreadable];
    return { total, addresses, duplicates: filled - addresses, blank: total - filled - unreadable, unreadable };
  }

  /** True when what there is should be stored first. */
  add({ row, line, cells, extra, address, problem }: Row): boolean {
    this.#total += 1;
    if (problem !== null) this.#unreadable += 1;
    const number = address === null ? null : this.#numbered(address);
    this.#rows.push({ row, address: number, cells, extra, problem: problem === null ? null : { code: problem, line } });
    for (const cell of cells) this.#blockCharacters += cell.length;
    for (const cell of extra) this.#blockCharacters += cell.length;
    if (this.#rows.length >= BLOCK_ROWS || this.#blockCharacters >= BLOCK_CHARACTERS) this.#endBlock();
    return this.#blocks.length >= APPEND_BLOCKS || this.#characters >= APPEND_CHARACTERS;
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
    this.#blocks.push({ rows: this.#rows, firstAddress, addresses: this.#addresses });
    this.#characters += this.#blockCharacters;
    this.#rows = [];
    this.#addresses = [];
    this.#blockCharacters = 0;
  }

  async store(): Promise<void> {
    const blocks = this.#blocks;
    this.#blocks = [];
    this.#characters = 0;
    if (blocks.length > 0) await this.#store(blocks);
  }

  async end(): Promise<void> {
    this.#endBlock();
    await this.store();
  }
}
