/** Looking for verifications without ever reading more of the log at once than a bounded number of rows. */
import type { Engine } from '../engine.ts';
import { STEP } from '../steps.ts';
import type { AccountId, LoggedVerification, LogSearch, Verifications } from '../store.ts';
import { ADDRESS, ADDRESS_READ, indexed } from './address.ts';
import { BEHIND_LAST, FIRST, toVerification } from './row.ts';

/** Rows that one call may look at. */
const REACH = 5_000;

type Found = Awaited<ReturnType<Verifications['search']>>;

const mine = (engine: Engine, account: AccountId) =>
  engine.db.selectFrom('verifications').where('account_id', '=', account);
type Rows = ReturnType<typeof mine>;

/** The newest of `rows` that are asked for; one more than a page, to know whether there is another. */
async function matching(engine: Engine, rows: Rows, wanted: LogSearch): Promise<LoggedVerification[]> {
  const { email, id, reason, keyId, status, limit } = wanted;
  let some = rows;
  if (id !== null) some = some.where('id', '=', id);
  if (email !== null) some = some.where(engine.begins(ADDRESS_READ, indexed(email)));
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

/** The page, where nothing that matches is left unseen but what did not fit. */
function page(found: readonly LoggedVerification[], limit: number): Found {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  if (found.length <= limit || last === undefined) return { items, next: null, searchedTo: null };
  return { items, next: last.seq, searchedTo: last.createdAt };
}

/** The newest rows one by one, as far as REACH. */
async function walk(engine: Engine, account: AccountId, wanted: LogSearch): Promise<Found> {
  const all = engine.db.selectFrom('verifications');
  const before = wanted.before ?? BEHIND_LAST;
  const newest = all
    .where(engine.stretch(account, FIRST, before))
    .orderBy('account_id', 'desc')
    .orderBy('seq', 'desc');
  const edge = await newest
    .select(['seq', 'created_at'])
    .offset(REACH - 1)
    .limit(1)
    .executeTakeFirst();
  const reached = all.where(engine.stretch(account, edge?.seq ?? FIRST, before));
  const found = page(await matching(engine, reached, wanted), wanted.limit);
  if (found.next !== null || edge === undefined) return found;
  return { items: found.items, next: edge.seq, searchedTo: edge.created_at };
}

/** Rows that an index found: newest first, some at a time, until the page is full. */
async function pick(engine: Engine, account: AccountId, seqs: readonly number[], wanted: LogSearch): Promise<Found> {
  const { before, limit } = wanted;
  const newest = seqs.filter((seq) => before === null || seq < before).sort((a, b) => b - a);
  const found: LoggedVerification[] = [];
  for (let at = 0; at < newest.length && found.length <= limit; at += STEP) {
    const some = mine(engine, account).where('seq', 'in', newest.slice(at, at + STEP));
    found.push(...(await matching(engine, some, wanted)));
  }
  return page(found, limit);
}

/** Rows that an index answers; null where they are too many to be sorted. */
async function indexedRows(engine: Engine, account: AccountId, { id, email }: LogSearch): Promise<number[] | null> {
  const all = mine(engine, account).select('seq');
  const some = id === null ? all.where(engine.begins(ADDRESS, indexed(email ?? ''))) : all.where('id', '=', id);
  const rows = await some.limit(REACH + 1).execute();
  return rows.length > REACH ? null : rows.map((row) => row.seq);
}

/** See `Verifications.search`. */
export async function search(engine: Engine, account: AccountId, asked: LogSearch): Promise<Found> {
  const wanted = asked.email === '' ? { ...asked, email: null } : asked;
  const seqs = wanted.id === null && wanted.email === null ? null : await indexedRows(engine, account, wanted);
  // A beginning that very many addresses have is met soon enough among the newest.
  return seqs === null ? walk(engine, account, wanted) : pick(engine, account, seqs, wanted);
}
