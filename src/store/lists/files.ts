/**
 * Kept files of lists that are ready, and their rows when they are read in another way. Blocks of a further reading are
 * numbered from a base of their own; those of the reading that counts are found by the layout of the list, so that one
 * small transaction exchanges a million rows. A process that ends in between leaves blocks, or pieces of a file, that
 * nobody looks at; they go with the list.
 */
import type { Kysely } from 'kysely';
import { LIST_ROWS } from '../../kernel/facts/limits.ts';
import { lockAccount } from '../account-rows.ts';
import { inBatches } from '../batches.ts';
import type { StorageDriver } from '../driver.ts';
import type { AccountId, ListReading, Lists } from '../store.ts';
import type { Tables } from '../tables.ts';
import { storageOf } from '../usage.ts';
import { blockRow, chunkRow } from './append.ts';
import { ofList } from './claim.ts';
import { baseOf, findList, layoutText, toList } from './row.ts';

type Files = Pick<Lists, 'keepFile' | 'file' | 'beginReading' | 'appendReading' | 'replace' | 'discardReading'>;

/** A piece has this size: some 256 KiB as base64. */
const LIST_PIECE_BYTES = 192 * 1024;
/** The bases of two readings are this far apart. */
const STRIDE = 2 ** Math.ceil(Math.log2(LIST_ROWS.max + 1));
/** One statement removes this many, of some hundred KB each. */
const REMOVED_ROWS = 50;
/** One statement inserts this many. */
const CHUNK_ROWS = 500;

export function files(driver: StorageDriver): Files {
  const { db } = driver;
  const isKept = async (from: Kysely<Tables>, account: AccountId, id: string) => {
    const mine = from.selectFrom('lists').select('file_bytes').where('id', '=', id).where('account_id', '=', account);
    return ((await mine.where('status', '=', 'ready').executeTakeFirst())?.file_bytes ?? 0) > 0;
  };

  return {
    async keepFile(account, id, content) {
      let [piece, bytes] = [0, 0];
      for await (const part of storedPieces(content)) {
        piece += 1;
        const text = part.toString('base64');
        bytes += text.length;
        await db.insertInto('list_files').values({ account_id: account, list_id: id, piece, content: text }).execute();
      }
      const hasRoom = await driver.transaction(async (trx) => {
        if ((await lockAccount(driver, trx, account)) === null) return false;
        const list = await findList(trx, account, id);
        const { used, limit } = (await storageOf(trx, driver.plans, account)).listBytes;
        if (list?.status !== 'ready' || list.file_bytes > 0 || used + bytes > limit) return false;
        await trx.updateTable('lists').set({ file_bytes: bytes }).where('id', '=', id).execute();
        return true;
      });
      if (!hasRoom) await removePieces(driver, account, id);
      return hasRoom;
    },

    async *file(account, id) {
      if (!(await isKept(db, account, id))) return;
      const pieces = ofList(db.selectFrom('list_files').select('content'), { account, list: id });
      for (let piece = 1; ; piece++) {
        const found = await pieces.where('piece', '=', piece).executeTakeFirst();
        if (found === undefined) return;
        yield Buffer.from(found.content, 'base64');
      }
    },

    beginReading: (account, id) =>
      driver.transaction(async (trx) => {
        await driver.lockAccounts(trx, [account]);
        const counted = trx.updateTable('lists').set((eb) => ({ readings: eb('readings', '+', 1) }));
        const mine = counted.where('id', '=', id).where('account_id', '=', account);
        const { readings, bytes } = await mine.returning(['readings', 'bytes']).executeTakeFirstOrThrow();
        const { used, limit } = (await storageOf(trx, driver.plans, account)).listBytes;
        return { base: readings * STRIDE, room: { bytes: limit - used + bytes, limit } };
      }),

    async appendReading(account, id, { base }, blocks) {
      const rows = blocks.map((block) => blockRow(account, id, { ...block, firstRow: base + block.firstRow }));
      return driver.transaction(async (trx) => {
        if (!(await isKept(trx, account, id))) return false;
        if (rows.length > 0) await trx.insertInto('list_blocks').values(rows).execute();
        return true;
      });
    },

    async replace(account, id, reading, { layout, rows, summary, blocks, error }) {
      const now = await driver.now();
      const replaced = await driver.transaction(async (trx) => {
        if ((await lockAccount(driver, trx, account)) === null) return null;
        const list = await findList(trx, account, id);
        if (list?.status !== 'ready' || list.file_bytes === 0) return null;
        await ofList(trx.deleteFrom('list_chunks'), { account, list: id }).execute();
        const chunks = blocks
          .filter(({ addressCount }) => addressCount > 0)
          .map((block) => chunkRow(account, id, { ...block, firstRow: reading.base + block.firstRow }));
        for (let from = 0; from < chunks.length; from += CHUNK_ROWS)
          await trx
            .insertInto('list_chunks')
            .values(chunks.slice(from, from + CHUNK_ROWS))
            .execute();
        const bytes = blocks.reduce((sum, block) => sum + block.bytes, 0);
        const texts = { layout: layoutText(layout, reading.base), summary: JSON.stringify(summary) };
        const changed = { ...rows, ...texts, bytes, error: error && JSON.stringify(error), changed_at: now };
        await trx.updateTable('lists').set(changed).where('id', '=', id).execute();
        const found = await findList(trx, account, id);
        return found === undefined ? null : { list: toList(driver, found, now), before: baseOf(list) };
      });
      await removeBlocks(driver, account, id, replaced?.before ?? reading.base);
      return replaced?.list ?? null;
    },

    discardReading: (account, id, { base }: ListReading) => removeBlocks(driver, account, id, base),
  };
}

async function* storedPieces(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void, undefined> {
  let held: Uint8Array[] = [];
  let length = 0;
  for await (const block of content) {
    held.push(block);
    length += block.length;
    if (length < LIST_PIECE_BYTES) continue;
    const all = Buffer.concat(held);
    const end = length - (length % LIST_PIECE_BYTES);
    for (let from = 0; from < end; from += LIST_PIECE_BYTES) yield all.subarray(from, from + LIST_PIECE_BYTES);
    held = [all.subarray(end)];
    length -= end;
  }
  if (length > 0) yield Buffer.concat(held);
}

/** Removes those of one reading. */
async function removeBlocks({ db }: StorageDriver, account: AccountId, list: string, base: number): Promise<void> {
  await inBatches(async () => {
    const mine = ofList(db.selectFrom('list_blocks').select('first_row'), { account, list });
    const some = mine.where('first_row', '>', base).where('first_row', '<', base + STRIDE);
    const rows = await some.limit(REMOVED_ROWS).execute();
    if (rows.length === 0) return 0;
    const deletion = ofList(db.deleteFrom('list_blocks'), { account, list });
    await deletion
      .where(
        'first_row',
        'in',
        rows.map(({ first_row }) => first_row),
      )
      .execute();
    return rows.length;
  });
}

/** What is left of a file that is not kept. */
export async function removePieces({ db }: StorageDriver, account: AccountId, list: string): Promise<void> {
  await inBatches(async () => {
    const mine = ofList(db.selectFrom('list_files').select('piece'), { account, list });
    const pieces = (await mine.limit(REMOVED_ROWS).execute()).map(({ piece }) => piece);
    if (pieces.length === 0) return 0;
    await ofList(db.deleteFrom('list_files'), { account, list }).where('piece', 'in', pieces).execute();
    return pieces.length;
  });
}
