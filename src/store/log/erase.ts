/** Erases a person from the log; the sums of the account still agree. */
import { type SqlBool, sql, type Transaction } from 'kysely';
import { sha256Hex } from '../../kernel/ids.ts';
import { BATCH_ROWS, yieldToEventLoop } from '../batches.ts';
import { REPLY_LIFE } from '../charge/idempotency.ts';
import type { StorageDriver } from '../driver.ts';
import { eraseFromLists } from '../lists/erase.ts';
import { lockExistingAccount } from '../lock.ts';
import { writeAudit } from '../people/audit-log.ts';
import type { AccountId, Actor } from '../store.ts';
import type { Tables } from '../tables.ts';
import { storable } from '../text.ts';
import { ADDRESS, seqsByAddress } from './address.ts';
import { addPurged } from './purged.ts';
import { AFTER_LAST_SEQ, FIRST_SEQ } from './row.ts';

const lowerCase = (text: string): string => storable(text).toLowerCase();

/** Matches by index, in batches. The consumer deletes each batch before it asks for the next. */
async function* byIndex(driver: StorageDriver, account: AccountId, email: string): AsyncGenerator<number[]> {
  const text = lowerCase(email);
  const same = sql<SqlBool>`(${ADDRESS} = substr(${text}, 1, 320) AND lower(email) = ${text})`;
  for (let full = true; full; ) {
    const seqs = await seqsByAddress(driver, account, same, BATCH_ROWS);
    yield seqs;
    full = seqs.length === BATCH_ROWS;
  }
}

/** Reads the whole log and compares here. */
async function* byScan(driver: StorageDriver, account: AccountId, email: string): AsyncGenerator<number[]> {
  const oldest = driver.db.selectFrom('verifications').select(['seq', 'email']).orderBy('account_id').orderBy('seq');
  for (let from = FIRST_SEQ, full = true; full; ) {
    const rows = await oldest
      .where(driver.seqRange(account, from, AFTER_LAST_SEQ))
      .limit(BATCH_ROWS)
      .execute();
    yield rows.filter((row) => lowerCase(row.email) === lowerCase(email)).map((row) => row.seq);
    full = rows.length === BATCH_ROWS;
    from = (rows.at(-1)?.seq ?? from) + 1;
  }
}

/**
 * Replies stored for an Idempotency-Key. They expire a fixed time after the verification, which the index on expiry
 * finds.
 */
async function deleteReplies(
  trx: Transaction<Tables>,
  account: AccountId,
  deleted: readonly { body: string; created_at: number }[],
): Promise<void> {
  for (const [at, rows] of Map.groupBy(deleted, (row) => row.created_at)) {
    const bodies = rows.map((row) => row.body);
    const kept = trx.deleteFrom('idempotency').where('account_id', '=', account);
    const same = kept.where('expires_at', '=', at + REPLY_LIFE);
    await same.where('body', 'in', bodies).execute();
  }
}

/** Returns how many rows were deleted. The account is locked. */
async function deleteRows(
  trx: Transaction<Tables>,
  account: AccountId,
  seqs: readonly number[],
  now: number,
): Promise<number> {
  if (seqs.length === 0) return 0;
  const mine = trx.deleteFrom('verifications').where('account_id', '=', account).where('seq', 'in', seqs);
  const deleted = await mine.returning(['account_id', 'hold_id', 'body', 'credits', 'created_at']).execute();
  await addPurged(trx, deleted);
  const young = deleted.filter((row) => row.created_at + REPLY_LIFE > now);
  await deleteReplies(trx, account, young);
  return deleted.length;
}

/** See `Verifications.erase`. The audit log entry has no address; its count is updated with every batch. */
export async function erase(driver: StorageDriver, account: AccountId, email: string, by: Actor): Promise<number> {
  const now = await driver.now();
  const target = `sha256:${sha256Hex(lowerCase(email)).slice(0, 16)}`;
  const step = (seqs: readonly number[], before: { erased: number; entry: number | null }) =>
    driver.transaction(async (trx) => {
      await lockExistingAccount(driver, trx, account);
      const erased = before.erased + (await deleteRows(trx, account, seqs, now));
      const detail = { erased };
      if (before.entry === null) {
        return { erased, entry: await writeAudit(trx, account, now, by, { action: 'log.erased', target, detail }) };
      }
      const row = trx.updateTable('trail').set({ detail: JSON.stringify(detail) });
      await row.where('id', '=', before.entry).execute();
      return { erased, entry: before.entry };
    });

  // The database's lower case equals ours for ASCII only.
  const isAscii = /^\p{ASCII}*$/u.test(lowerCase(email));
  let done = await step([], { erased: 0, entry: null });
  // First, so that no list records a result of the address after the log was erased.
  await eraseFromLists(driver, account, email);
  for await (const seqs of (isAscii ? byIndex : byScan)(driver, account, email)) {
    if (seqs.length > 0) done = await step(seqs, done);
    await yieldToEventLoop();
  }
  await driver.truncateLog();
  return done.erased;
}
