/** Claims of work on lists. Whoever changes what is to be done locks the account first, so claims of a list take turns. */
import { type Expression, type SqlBool, sql, type Transaction } from 'kysely';
import { CLOCK_TOLERANCE_SECONDS, LIST_CLAIMS_MAX } from '../../kernel/limits.ts';
import type { ClaimedChunk, StorageDriver, TransactionDriver } from '../driver.ts';
import type { ListClaim, WaitingClaim } from '../store.ts';
import type { Row, Tables } from '../tables.ts';
import { endList } from './end.ts';

const FAILED = {
  code: 'internal_error',
  error: 'Some addresses of this list could not be verified, however often it was tried. The rest was not charged.',
} as const;

/** Runs `take` when the list is running. Its lease begins. */
async function claiming<T>(
  driver: TransactionDriver,
  { account, list, lease, leaseMs }: ListClaim,
  take: (trx: Transaction<Tables>, now: number) => Promise<T[] | 'failed'>,
): Promise<T[]> {
  const now = await driver.now();
  return driver.transaction(async (trx) => {
    await driver.lockAccounts(trx, [account]);
    const mine = trx.selectFrom('lists').select('id').where('id', '=', list).where('account_id', '=', account);
    if ((await mine.where('status', '=', 'running').executeTakeFirst()) === undefined) return [];
    const taken = await take(trx, now);
    if (taken === 'failed') {
      await endList({ driver, trx, now }, account, list, 'failed', FAILED);
      return [];
    }
    if (taken.length > 0) await keepLease(trx, lease, now, leaseMs);
    return taken;
  });
}

/** See `ListTransactions.claim`. */
export const claimChunks = (
  driver: TransactionDriver,
  claim: ListClaim & { readonly chunks: number },
): Promise<ClaimedChunk[]> =>
  claiming(driver, claim, async (trx, now) => {
    const chunks = await trx
      .selectFrom('list_chunks as c')
      .innerJoin('list_blocks as b', (join) =>
        join
          .onRef('b.account_id', '=', 'c.account_id')
          .onRef('b.list_id', '=', 'c.list_id')
          .onRef('b.first_row', '=', 'c.first_row'),
      )
      .select(['c.first_row', 'c.pending', 'c.attempts', 'b.first_address', 'b.addresses'])
      .where('c.account_id', '=', claim.account)
      .where('c.list_id', '=', claim.list)
      .where('c.due_at', '<=', now)
      .where(isFree(sql`c.lease`, now))
      .orderBy('c.first_row')
      .limit(claim.chunks)
      .execute();
    if (chunks.some(({ attempts }) => attempts >= LIST_CLAIMS_MAX)) return 'failed';
    if (chunks.length === 0) return [];
    const first = chunks.map((chunk) => chunk.first_row);
    await ofList(trx.updateTable('list_chunks'), claim)
      .set((eb) => ({ lease: claim.lease, attempts: eb('attempts', '+', 1) }))
      .where('first_row', 'in', first)
      .execute();
    return chunks;
  });

/** See `ListTransactions.claimWaiting`. */
export const claimWaiting = (driver: TransactionDriver, claim: WaitingClaim): Promise<Row<'list_waiting'>[]> =>
  claiming(driver, claim, async (trx, now) => {
    let due = trx
      .selectFrom('list_waiting')
      .selectAll()
      .where('account_id', '=', claim.account)
      .where('list_id', '=', claim.list)
      .where('due_at', '<=', now)
      .where(isFree(sql`lease`, now));
    const { notOperators = [] } = claim;
    if (notOperators.length > 0)
      due = due.where((eb) => eb.or([eb('operator', 'is', null), eb('operator', 'not in', notOperators)]));
    const rows = await due.orderBy('due_at').orderBy('address').limit(claim.limit).execute();
    if (rows.some(({ claims }) => claims >= LIST_CLAIMS_MAX)) return 'failed';
    if (rows.length === 0) return [];
    const addresses = rows.map((row) => row.address);
    await ofList(trx.updateTable('list_waiting'), claim)
      .set((eb) => ({ lease: claim.lease, claims: eb('claims', '+', 1) }))
      .where('address', 'in', addresses)
      .execute();
    return rows;
  });

/** Rows of a table that has rows of lists. */
export const ofList = <Q extends { where(column: 'account_id' | 'list_id', op: '=', value: string): Q }>(
  query: Q,
  { account, list }: Pick<ListClaim, 'account' | 'list'>,
): Q => query.where('account_id', '=', account).where('list_id', '=', list);

/** Whether nobody has a row: the lease has ended, or was renewed at a time to come, since when the clock was set back. */
const isFree = (lease: Expression<unknown>, now: number) =>
  sql<SqlBool>`(${lease} IS NULL OR NOT EXISTS (
    SELECT 1 FROM list_leases l
    WHERE l.lease = ${lease} AND l.ends_at > ${now} AND l.renewed_at <= ${now + CLOCK_TOLERANCE_SECONDS * 1000}))`;

export async function keepLease(trx: StorageDriver['db'], lease: string, now: number, leaseMs: number): Promise<void> {
  const times = { renewed_at: now, ends_at: now + leaseMs };
  const insertion = trx.insertInto('list_leases').values({ lease, ...times });
  await insertion.onConflict((oc) => oc.column('lease').doUpdateSet(times)).execute();
}
