import type { TransactionDriver } from '../driver.ts';
import type { AccountId, NewListBlock } from '../store.ts';

/** See `BulkTransactions.append`. */
export async function appendBlocks(
  driver: TransactionDriver,
  account: AccountId,
  id: string,
  blocks: readonly NewListBlock[],
): Promise<boolean> {
  const now = await driver.now();
  return driver.transaction(async (trx) => {
    const bytes = blocks.reduce((sum, block) => sum + block.bytes, 0);
    const change = trx.updateTable('lists').set((eb) => ({ changed_at: now, bytes: eb('bytes', '+', bytes) }));
    const mine = change.where('id', '=', id);
    const open = mine.where('account_id', '=', account).where('status', '=', 'uploading');
    if ((await open.executeTakeFirst()).numUpdatedRows === 0n) return false;
    await trx
      .insertInto('list_blocks')
      .values(blocks.map((block) => blockRow(account, id, block)))
      .execute();
    const chunks = blocks.filter(({ addressCount }) => addressCount > 0);
    if (chunks.length === 0) return true;
    await trx
      .insertInto('list_chunks')
      .values(chunks.map((block) => chunkRow(account, id, block)))
      .execute();
    return true;
  });
}

export const blockRow = (account: AccountId, list: string, block: NewListBlock) => ({
  account_id: account,
  list_id: list,
  first_row: block.firstRow,
  row_count: block.rowCount,
  first_address: block.firstAddress,
  addresses: block.addresses,
  rows: block.rows,
});

/** All of the addresses that first occur in a block. */
export const chunkRow = (
  account: AccountId,
  list: string,
  { firstRow, firstAddress, addressCount }: Pick<NewListBlock, 'firstRow' | 'firstAddress' | 'addressCount'>,
) => ({
  account_id: account,
  list_id: list,
  first_row: firstRow,
  pending: JSON.stringify(Array.from({ length: addressCount }, (_, i) => firstAddress + i)),
});
