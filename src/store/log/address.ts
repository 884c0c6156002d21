import { type Expression, type SqlBool, sql } from 'kysely';
import type { StorageDriver } from '../driver.ts';
import type { AccountId } from '../store.ts';
import { storable } from '../text.ts';

/** The indexed expression (migrations 0002, 0016): the start of the address, in the database's lower case. */
export const ADDRESS = sql<string>`substr(lower(email), 1, 320)`;
/** The same value without the index, for rows found in another way. */
export const ADDRESS_READ = sql<string>`(substr(lower(email), 1, 320) || '')`;
const LENGTH = 320;

/** The part of a text that is indexed; both databases count in code points. */
export const indexed = (text: string): string => Array.from(storable(text)).slice(0, LENGTH).join('');

/** Rows of the account, found by the index on `ADDRESS`. */
export async function seqsByAddress(
  { db, logByAddress }: StorageDriver,
  account: AccountId,
  matches: Expression<SqlBool>,
  limit: number,
): Promise<number[]> {
  const { rows } = await sql<{ seq: number }>`
    SELECT seq FROM ${logByAddress} WHERE account_id = ${account} AND ${matches} LIMIT ${limit}`.execute(db);
  return rows.map((row) => row.seq);
}
