/** Erases an address from the lists of an account: its rows lose their cells, and nothing is left to do for it. */
import type { Kysely } from 'kysely';
import { trimBlanks } from '../../kernel/blanks.ts';
import { yieldToEventLoop } from '../batches.ts';
import type { Scope } from '../charge/shared-hold.ts';
import type { StorageDriver } from '../driver.ts';
import { lowerCaseText } from '../filters.ts';
import type { AccountId } from '../store.ts';
import type { Row, Tables } from '../tables.ts';
import { parseAddresses, parsePending, storedRows, withoutErased } from './blocks.ts';
import { ofList } from './claim.ts';
import { endList } from './end.ts';
import { dropFiles } from './files.ts';
import { listLayoutOf } from './row.ts';

/** Afterwards, no list records a result of the address. Those recorded before are in the log. */
export async function eraseFromLists(driver: StorageDriver, account: AccountId, email: string): Promise<void> {
  const target = lowerCaseText(email);
  // Titles and other sheets are in no row: what a file holds beside its rows is not looked into.
  await dropFiles(driver, account);
  const lists = driver.db.selectFrom('lists').select(['id', 'layout']).where('account_id', '=', account).orderBy('id');
  for (const { id, layout } of await lists.execute()) {
    const { addressColumn: main } = listLayoutOf({ layout });
    /** Numbers of the address in this list: it may occur in several spellings. */
    const erased = new Set<number>();
    for (let after: number | null = 0; after !== null; ) {
      after = await eraseFromBlock(driver, { account, list: id, main, target, erased }, after);
      await yieldToEventLoop();
    }
    // What was still to be done may have been deferred meanwhile.
    await eraseWaiting(driver, account, id, target);
  }
}

interface Erasure {
  readonly account: AccountId;
  readonly list: string;
  /** Index of its column with the addresses. */
  readonly main: number;
  readonly target: string;
  readonly erased: Set<number>;
}

/** Returns the first row of the block that it looked into; null at the end. */
async function eraseFromBlock(driver: StorageDriver, erasure: Erasure, after: number): Promise<number | null> {
  const { account, list } = erasure;
  const now = await driver.now();
  const blockIn = (db: Kysely<Tables>, first: number) =>
    ofList(db.selectFrom('list_blocks').selectAll(), { account, list })
      .where('first_row', '>=', first)
      .orderBy('first_row')
      .limit(1)
      .executeTakeFirst();
  const block = await blockIn(driver.db, after + 1);
  if (block === undefined) return null;
  if (withoutAddress(block, erasure) === null) return block.first_row;
  await driver.transaction(async (trx) => {
    await driver.lockAccounts(trx, [account]);
    // Read again, because another address may have been erased from it meanwhile.
    const locked = await blockIn(trx, block.first_row);
    const left = locked?.first_row === block.first_row ? withoutAddress(locked, erasure) : null;
    if (left === null) return;
    const { rows, addresses, numbers } = left;
    const mine = ofList(trx.updateTable('list_blocks').set({ rows, addresses }), { account, list });
    await mine.where('first_row', '=', block.first_row).execute();
    await forgetPending({ driver, trx, now }, erasure, block.first_row, numbers);
  });
  return block.first_row;
}

/**
 * What is left of the block, and the numbers of the address in it, which are added to `erased`; null: it is not in
 * there.
 */
function withoutAddress(block: Row<'list_blocks'>, { main, target, erased }: Erasure) {
  const addresses = parseAddresses(block.addresses);
  const numbers = addresses.flatMap((address, i) => (lowerCaseText(address) === target ? block.first_address + i : []));
  for (const number of numbers) erased.add(number);
  // A row may have another spelling than the first one of its number, which is the one that is verified.
  const isErased = ({ number, text }: { readonly number: number; readonly text: string }) =>
    erased.has(number) || lowerCaseText(trimBlanks(text)) === target;
  let changed = numbers.length > 0;
  const rows = storedRows(block.rows).map((row) => {
    const left = withoutErased(row, main, isErased);
    if (left !== null) {
      changed = true;
      return left;
    }
    const [head, ...cells] = row;
    if (!cells.some((cell) => lowerCaseText(cell).includes(target))) return row;
    changed = true;
    return [head, ...cells.map((cell) => (lowerCaseText(cell).includes(target) ? '' : cell))];
  });
  if (!changed) return null;
  const kept = addresses.map((address) => (lowerCaseText(address) === target ? '' : address));
  return { rows: JSON.stringify(rows), addresses: JSON.stringify(kept), numbers };
}

async function forgetPending(
  scope: Scope,
  { account, list }: Erasure,
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
  await forget(scope, account, list, before.length - pending.length, 0);
}

async function eraseWaiting(driver: StorageDriver, account: AccountId, list: string, target: string): Promise<void> {
  const now = await driver.now();
  const mine = driver.db.selectFrom('list_waiting').select(['address', 'email']).where('account_id', '=', account);
  const waiting = await mine.where('list_id', '=', list).where('due_at', 'is not', null).execute();
  const numbers = waiting.filter(({ email }) => lowerCaseText(email) === target).map(({ address }) => address);
  if (numbers.length === 0) return;
  await driver.transaction(async (trx) => {
    await driver.lockAccounts(trx, [account]);
    const same = trx.deleteFrom('list_waiting').where('account_id', '=', account).where('list_id', '=', list);
    const open = same.where('address', 'in', numbers).where('due_at', 'is not', null);
    const gone = await open.returning('attempts').execute();
    const waits = gone.filter(({ attempts }) => attempts > 0).length;
    if (gone.length > 0) await forget({ driver, trx, now }, account, list, gone.length, waits);
  });
}

/** So many addresses will never be done; what is held for them is released at the end. */
async function forget(scope: Scope, account: AccountId, id: string, addresses: number, waits: number): Promise<void> {
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
