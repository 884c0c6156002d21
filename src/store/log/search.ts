/** Searches the log, reading a bounded number of rows at a time. */
import { LOG_SEARCH_ROWS } from '../../kernel/limits.ts';
import { BATCH_ROWS } from '../batches.ts';
import type { StorageDriver } from '../driver.ts';
import type { AccountId, LoggedVerification, LogSearch, Verifications } from '../store.ts';
import { ADDRESS, ADDRESS_READ, indexed, seqsByAddress } from './address.ts';
import { AFTER_LAST_SEQ, FIRST_SEQ, toVerification } from './row.ts';

type SearchPage = Awaited<ReturnType<Verifications['search']>>;

const mine = (driver: StorageDriver, account: AccountId) =>
  driver.db.selectFrom('verifications').where('account_id', '=', account);
type Rows = ReturnType<typeof mine>;

/** The newest matches among `rows`; one more than a page, to know whether there is a next page. */
async function matching(driver: StorageDriver, rows: Rows, wanted: LogSearch): Promise<LoggedVerification[]> {
  const { email, id, reason, keyId, status, limit } = wanted;
  let some = rows;
  if (id !== null) some = some.where('id', '=', id);
  if (email !== null) some = some.where(driver.prefixMatch(ADDRESS_READ, indexed(email)));
  if (reason !== null) some = reason === 'none' ? some.where('reason', 'is', null) : some.where('reason', '=', reason);
  if (keyId !== null) some = some.where('key_id', '=', keyId);
  if (status !== null) some = some.where('status', '=', status);
  const newest = some.orderBy('account_id', 'desc').orderBy('seq', 'desc');
  const found = await newest
    .selectAll()
    .limit(limit + 1)
    .execute();
  return found.map((row) => ({ ...toVerification(row), seq: row.seq }));
}

/** A page, when all matches were read except those that did not fit. */
function page(found: readonly LoggedVerification[], limit: number): SearchPage {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  if (found.length <= limit || last === undefined) return { items, next: null, searchedTo: null };
  return { items, next: last.seq, searchedTo: last.createdAt };
}

/** The last of the newest LOG_SEARCH_ROWS rows before this one; undefined: there are not so many. */
export const edgeOf = (driver: StorageDriver, account: AccountId, before: number) =>
  driver.db
    .selectFrom('verifications')
    .select(['seq', 'created_at'])
    .where(driver.seqRange(account, FIRST_SEQ, before))
    .orderBy('account_id', 'desc')
    .orderBy('seq', 'desc')
    .offset(LOG_SEARCH_ROWS - 1)
    .limit(1)
    .executeTakeFirst();

/** Scans the newest LOG_SEARCH_ROWS rows. */
async function scan(driver: StorageDriver, account: AccountId, wanted: LogSearch): Promise<SearchPage> {
  const before = wanted.before ?? AFTER_LAST_SEQ;
  const edge = await edgeOf(driver, account, before);
  const reached = driver.db.selectFrom('verifications').where(driver.seqRange(account, edge?.seq ?? FIRST_SEQ, before));
  const found = page(await matching(driver, reached, wanted), wanted.limit);
  if (found.next !== null || edge === undefined) return found;
  return { items: found.items, next: edge.seq, searchedTo: edge.created_at };
}

/** Reads rows that an index found, newest first, in batches until the page is full. */
async function fetchRows(
  driver: StorageDriver,
  account: AccountId,
  seqs: readonly number[],
  wanted: LogSearch,
): Promise<SearchPage> {
  const { before, limit } = wanted;
  const newest = seqs.filter((seq) => before === null || seq < before).sort((a, b) => b - a);
  const found: LoggedVerification[] = [];
  for (let at = 0; at < newest.length && found.length <= limit; at += BATCH_ROWS) {
    const some = mine(driver, account).where('seq', 'in', newest.slice(at, at + BATCH_ROWS));
    found.push(...(await matching(driver, some, wanted)));
  }
  return page(found, limit);
}

/** Rows found by an index; null when there are too many to sort. */
async function indexedRows(
  driver: StorageDriver,
  account: AccountId,
  { id, email }: LogSearch,
): Promise<number[] | null> {
  const most = LOG_SEARCH_ROWS + 1;
  const seqs =
    id === null
      ? await seqsByAddress(driver, account, driver.prefixMatch(ADDRESS, indexed(email ?? '')), most)
      : (await mine(driver, account).select('seq').where('id', '=', id).execute()).map((row) => row.seq);
  return seqs.length > LOG_SEARCH_ROWS ? null : seqs;
}

/** See `Verifications.search`. */
export async function search(driver: StorageDriver, account: AccountId, asked: LogSearch): Promise<SearchPage> {
  const wanted = asked.email === '' ? { ...asked, email: null } : asked;
  const seqs = wanted.id === null && wanted.email === null ? null : await indexedRows(driver, account, wanted);
  // A prefix that very many addresses share is found soon enough among the newest rows.
  return seqs === null ? scan(driver, account, wanted) : fetchRows(driver, account, seqs, wanted);
}
