/** Looking for verifications without ever reading more of the log at once than a bounded number of rows. */
import type { Engine } from '../engine.ts';
import type { AccountId, LoggedVerification, LogSearch, Verifications } from '../store.ts';
import { ADDRESS, ADDRESS_READ, indexed } from './address.ts';
import { toVerification } from './row.ts';

/** Rows that one call may look at. */
const REACH = 5_000;

type Found = Awaited<ReturnType<Verifications['search']>>;

const mine = (engine: Engine, account: AccountId) =>
  engine.db.selectFrom('verifications').where('account_id', '=', account);
type Rows = ReturnType<typeof mine>;

/** The newest of `rows` that are asked for; one more than a page, to know whether there is another. */
async function matching(engine: Engine, rows: Rows, wanted: LogSearch): Promise<LoggedVerification[]> {
  const { email, id, reason, keyId, status, before, limit } = wanted;
  let some = rows;
  if (before !== null) some = some.where('seq', '<', before);
  if (id !== null) some = some.where('id', '=', id);
  if (email !== null) some = some.where(engine.begins(ADDRESS_READ, indexed(email)));
  if (reason !== null) some = reason === 'none' ? some.where('reason', 'is', null) : some.where('reason', '=', reason);
  if (keyId !== null) some = some.where('key_id', '=', keyId);
  if (status !== null) some = some.where('status', '=', status);
  const found = await some
    .selectAll()
    .orderBy('seq', 'desc')
    .limit(limit + 1)
    .execute();
  return found.map((row) => ({ ...toVerification(row), seq: row.seq }));
}

/** The page, where nothing that matches is left unseen but what did not fit. */
function page(found: LoggedVerification[], limit: number): Found {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  if (found.length <= limit || last === undefined) return { items, next: null, searchedTo: null };
  return { items, next: last.seq, searchedTo: last.createdAt };
}

/** The newest rows one by one, as far as REACH. */
async function walk(engine: Engine, account: AccountId, wanted: LogSearch): Promise<Found> {
  let rows = mine(engine, account);
  if (wanted.before !== null) rows = rows.where('seq', '<', wanted.before);
  const newest = rows.select(['seq', 'created_at']).orderBy('seq', 'desc');
  const edge = await newest
    .offset(REACH - 1)
    .limit(1)
    .executeTakeFirst();
  const reached = edge === undefined ? rows : rows.where('seq', '>=', edge.seq);
  const found = page(await matching(engine, reached, wanted), wanted.limit);
  if (found.next !== null || edge === undefined) return found;
  return { items: found.items, next: edge.seq, searchedTo: edge.created_at };
}

/** See `Verifications.search`. */
export async function search(engine: Engine, account: AccountId, asked: LogSearch): Promise<Found> {
  const wanted = asked.email === '' ? { ...asked, email: null } : asked;
  const all = mine(engine, account);
  if (wanted.id !== null) return page(await matching(engine, all, wanted), wanted.limit);
  if (wanted.email === null) return walk(engine, account, wanted);
  const begun = all.where(engine.begins(ADDRESS, indexed(wanted.email))).select('seq');
  const rows = await begun.limit(REACH + 1).execute();
  // A beginning that so many addresses have is met soon enough among the newest.
  if (rows.length > REACH) return walk(engine, account, wanted);
  const seqs = rows.map((row) => row.seq);
  if (seqs.length === 0) return { items: [], next: null, searchedTo: null };
  return page(await matching(engine, all.where('seq', 'in', seqs), wanted), wanted.limit);
}
