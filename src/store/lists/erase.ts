/** Erases an address from the lists of an account: its rows lose their cells, and nothing is left to do for it. */
import type { Kysely } from 'kysely';
import { yieldToEventLoop } from '../batches.ts';
import type { Scope } from '../charge/shared-hold.ts';
import type { StorageDriver } from '../driver.ts';
import type { Mentions } from '../person.ts';
import type { AccountId } from '../store.ts';
import type { Row, Tables } from '../tables.ts';
import { parseAddresses, parsePending, type StoredRow, storedRows, withoutErased } from './blocks.ts';
import { ofList } from './claim.ts';
import { endList } from './end.ts';
import { removePieces } from './files.ts';
import { baseOf, listLayoutOf } from './row.ts';

/** Afterwards, no list records a result of the address. Those recorded before are in the log. */
export async function eraseFromLists(
  driver: StorageDriver,
  account: AccountId,
  mentions: Mentions,
): Promise<{ readonly files: number; readonly rows: number; readonly waiting: number }> {
  // Titles and other sheets are in no row: what a file holds beside its rows is not looked into.
  const files = await dropFiles(driver, account);
  let [rows, waiting] = [0, 0];
  const lists = driver.db.selectFrom('lists').select(['id', 'layout']).where('account_id', '=', account).orderBy('id');
  for (const { id, layout } of await lists.execute()) {
    const { addressColumn: main } = listLayoutOf({ layout });
    const erasure: ListErasure = { account, list: id, main, mentions, erased: new Set(), rows: 0 };
    for (let after: number | null = 0; after !== null; ) {
      after = await eraseFromBlock(driver, erasure, after);
      await yieldToEventLoop();
    }
    rows += erasure.rows;
    // What was still to be done may have been deferred meanwhile.
    waiting += await eraseWaiting(driver, account, id, mentions);
  }
  return { files, rows, waiting };
}

/** Rows of a list that have the person in them. */
export async function* listRowsOf(driver: StorageDriver, account: AccountId, mentions: Mentions) {
  const lists = driver.db.selectFrom('lists').select(['id', 'layout']).where('account_id', '=', account).orderBy('id');
  for (const { id, layout } of await lists.execute()) {
    const { addressColumn: main, columns } = listLayoutOf({ layout });
    const base = baseOf({ layout });
    const erased = new Set<number>();
    for (let after = 0; ; ) {
      const block = await blockAfter(driver.scans, { account, list: id }, after);
      if (block === undefined) break;
      after = block.first_row;
      const { found = [] } = withoutAddress(block, { main, mentions, erased }) ?? {};
      // What a reading that no longer counts has left has no row of the file.
      yield found.map(({ at, cells }) => ({ list_id: id, row: block.first_row - base + at, columns, cells }));
      await yieldToEventLoop();
    }
  }
}

interface ListErasure {
  readonly account: AccountId;
  readonly list: string;
  /** The main addresses are in the column with this index. */
  readonly main: number;
  readonly mentions: Mentions;
  /** Numbers of the address in this list: it may occur in several spellings. */
  readonly erased: Set<number>;
  /** Counts what has changed so far. */
  rows: number;
}

const blockAfter = (db: Kysely<Tables>, mine: Parameters<typeof ofList>[1], after: number) =>
  ofList(db.selectFrom('list_blocks').selectAll(), mine)
    .where('first_row', '>', after)
    .orderBy('first_row')
    .limit(1)
    .executeTakeFirst();

/** Returns the first row of the block that it looked into; null at the end. */
async function eraseFromBlock(driver: StorageDriver, erasure: ListErasure, after: number): Promise<number | null> {
  const { account, list } = erasure;
  const now = await driver.now();
  const block = await blockAfter(driver.db, erasure, after);
  if (block === undefined) return null;
  if (withoutAddress(block, erasure) === null) return block.first_row;
  await driver.transaction(async (trx) => {
    await driver.lockAccounts(trx, [account]);
    // Read again, because another address may have been erased from it meanwhile.
    const locked = await blockAfter(trx, erasure, block.first_row - 1);
    const left = locked?.first_row === block.first_row ? withoutAddress(locked, erasure) : null;
    if (left === null) return;
    const { rows, addresses, numbers, found } = left;
    erasure.rows += found.length;
    const mine = ofList(trx.updateTable('list_blocks').set({ rows, addresses }), { account, list });
    await mine.where('first_row', '=', block.first_row).execute();
    await forgetPending({ driver, trx, now }, erasure, block.first_row, numbers);
  });
  return block.first_row;
}

/**
 * What is left of the block, which rows had the address, and its numbers, which are added to `erased`; null: it is not
 * in there.
 */
function withoutAddress(
  block: Row<'list_blocks'>,
  { main, mentions, erased }: Pick<ListErasure, 'main' | 'mentions' | 'erased'>,
) {
  const addresses = parseAddresses(block.addresses);
  const numbers = addresses.flatMap((address, i) => (mentions.is(address) ? block.first_address + i : []));
  for (const number of numbers) erased.add(number);
  // A row may have another spelling than the first one of its number, which is the one that is verified.
  const isErased = ({ number, text }: { readonly number: number; readonly text: string }) =>
    erased.has(number) || mentions.is(text);
  const found: { readonly at: number; readonly cells: readonly string[] }[] = [];
  const rows = storedRows(block.rows).map((row, at) => {
    const [head, ...cells] = row;
    const left = withoutErased(row, main, isErased) ?? withoutCells(head, cells, mentions);
    if (left === null) return row;
    found.push({ at, cells });
    return left;
  });
  if (found.length === 0 && numbers.length === 0) return null;
  const kept = addresses.map((address) => (mentions.is(address) ? '' : address));
  return { rows: JSON.stringify(rows), addresses: JSON.stringify(kept), numbers, found };
}

/** The row without the cells that mention the address; null: none does. */
function withoutCells(head: StoredRow[0], cells: readonly string[], mentions: Mentions): StoredRow | null {
  if (!cells.some((cell) => mentions.in(cell))) return null;
  return [head, ...cells.map((cell) => (mentions.in(cell) ? '' : cell))];
}

async function forgetPending(
  scope: Scope,
  { account, list }: ListErasure,
  firstRow: number,
  numbers: readonly number[],
): Promise<void> {
  const { trx } = scope;
  const chunk = await trx
    .selectFrom('list_chunks')
    .select('pending')
    .where('account_id', '=', account)
    .where('list_id', '=', list)
    .where('first_row', '=', firstRow)
    .executeTakeFirst();
  if (chunk === undefined) return;
  const before = parsePending(chunk.pending);
  const pending = before.filter((number) => !numbers.includes(number));
  if (pending.length === before.length) return;
  const mine = { account, list };
  if (pending.length === 0)
    await ofList(trx.deleteFrom('list_chunks'), mine).where('first_row', '=', firstRow).execute();
  else
    await ofList(trx.updateTable('list_chunks').set({ pending: JSON.stringify(pending) }), mine)
      .where('first_row', '=', firstRow)
      .execute();
  await forgetAddresses(scope, account, list, before.length - pending.length, 0);
}

async function eraseWaiting(
  driver: StorageDriver,
  account: AccountId,
  list: string,
  mentions: Mentions,
): Promise<number> {
  const now = await driver.now();
  const mine = driver.db.selectFrom('list_waiting').select(['address', 'email']).where('account_id', '=', account);
  const waiting = await mine.where('list_id', '=', list).where('due_at', 'is not', null).execute();
  const numbers = waiting.filter(({ email }) => mentions.is(email)).map(({ address }) => address);
  if (numbers.length === 0) return 0;
  return driver.transaction(async (trx) => {
    await driver.lockAccounts(trx, [account]);
    const same = trx.deleteFrom('list_waiting').where('account_id', '=', account).where('list_id', '=', list);
    const open = same.where('address', 'in', numbers).where('due_at', 'is not', null);
    const deleted = await open.returning('attempts').execute();
    const waits = deleted.filter(({ attempts }) => attempts > 0).length;
    if (deleted.length > 0) await forgetAddresses({ driver, trx, now }, account, list, deleted.length, waits);
    return deleted.length;
  });
}

/** So many addresses will never be done; what is held for them is released at the end. */
async function forgetAddresses(
  scope: Scope,
  account: AccountId,
  id: string,
  addresses: number,
  waits: number,
): Promise<void> {
  const list = await scope.trx
    .updateTable('lists')
    .set((eb) => ({
      addresses: eb('addresses', '-', addresses),
      blank: eb('blank', '+', addresses),
      waiting: eb('waiting', '-', waits),
    }))
    .where('id', '=', id)
    .returning(['status', 'addresses', 'done'])
    .executeTakeFirstOrThrow();
  const isOpen = list.status === 'running' || list.status === 'paused';
  if (isOpen && list.done >= list.addresses) await endList(scope, account, id, 'completed');
}

/** All kept files of an account: their lists cannot be read in another way any more. */
async function dropFiles(driver: StorageDriver, account: AccountId): Promise<number> {
  const kept = await driver.transaction(async (trx) => {
    await driver.lockAccounts(trx, [account]);
    const mine = trx.updateTable('lists').set({ file_bytes: 0 }).where('account_id', '=', account);
    return mine.where('file_bytes', '>', 0).returning('id').execute();
  });
  for (const { id } of kept) await removePieces(driver, account, id);
  return kept.length;
}
