/**
 * Claims of work on lists. Whoever changes what is to be done locks the account first, so claims of a list take turns.
 */
import { type Compilable, type SqlBool, sql, type Transaction } from 'kysely';
import { LIST_CLAIMS_MAX } from '../../kernel/facts/limits.ts';
import type { ClaimedChunk, Planned, StorageDriver, TransactionDriver } from '../driver.ts';
import { isHeld, leaseTimes } from '../leases.ts';
import type { ListClaim, WaitingClaim } from '../store.ts';
import type { Row, Tables } from '../tables.ts';
import { endList } from './end.ts';

const FAILED = {
  code: 'internal_error',
  error: 'Some addresses of this list could not be verified, however often it was tried. The rest was not charged.',
} as const;

interface Claiming<R> {
  /** What can be claimed now. */
  readonly free: (trx: Transaction<Tables>, now: number) => Compilable<R>;
  /** How often a row was claimed without a result. */
  readonly claims: (row: R) => number;
  /** Claims them. */
  readonly take: (trx: Transaction<Tables>, rows: readonly R[]) => Compilable;
}

/** Claims rows of the list while it is running. The lease begins. */
async function claiming<R>(
  driver: TransactionDriver,
  { account, list, lease, leaseMs }: ListClaim,
  { free, claims, take }: Claiming<R>,
): Promise<R[]> {
  const now = await driver.now();
  return driver.readAndChange({
    accounts: [account],
    queries(trx) {
      const running = trx.selectFrom('lists').select('id').where('id', '=', list).where('status', '=', 'running');
      return { lists: running.where('account_id', '=', account), rows: free(trx, now) };
    },
    plan(trx, { lists, rows }): Planned<R[]> {
      if (lists.length === 0 || rows.length === 0) return { result: [], changes: [] };
      if (rows.some((row) => claims(row) >= LIST_CLAIMS_MAX)) {
        const finish = () => endList({ driver, trx, now }, account, list, 'failed', FAILED);
        return { result: [], changes: [], finish };
      }
      const changes = [take(trx, rows).compile(), leaseKept(trx, lease, now, leaseMs).compile()];
      return { result: [...rows], changes };
    },
  });
}

/** See `BulkTransactions.claim`. */
export const claimChunks = (
  driver: TransactionDriver,
  claim: ListClaim & { readonly chunks: number },
): Promise<ClaimedChunk[]> =>
  claiming<ClaimedChunk>(driver, claim, {
    free: (trx, now) =>
      trx
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
        .where(isFree('c.lease', now))
        .orderBy('c.first_row')
        .limit(claim.chunks),
    claims: ({ attempts }) => attempts,
    take(trx, rows) {
      const first = rows.map((chunk) => chunk.first_row);
      return ofList(trx.updateTable('list_chunks'), claim)
        .set((eb) => ({ lease: claim.lease, attempts: eb('attempts', '+', 1) }))
        .where('first_row', 'in', first);
    },
  });

/** See `BulkTransactions.claimWaiting`. */
export const claimWaiting = (driver: TransactionDriver, claim: WaitingClaim): Promise<Row<'list_waiting'>[]> =>
  claiming<Row<'list_waiting'>>(driver, claim, {
    free(trx, now) {
      const waiting = ofList(trx.selectFrom('list_waiting').selectAll(), claim);
      const due = waiting.where('due_at', '<=', now).where(isFree('list_waiting.lease', now));
      const { notOperators = [] } = claim;
      const mine =
        notOperators.length === 0
          ? due
          : due.where((eb) => eb.or([eb('operator', 'is', null), eb('operator', 'not in', notOperators)]));
      return mine.orderBy('due_at').orderBy('address').limit(claim.limit);
    },
    claims: ({ claims }) => claims,
    take(trx, rows) {
      const addresses = rows.map((row) => row.address);
      return ofList(trx.updateTable('list_waiting'), claim)
        .set((eb) => ({ lease: claim.lease, claims: eb('claims', '+', 1) }))
        .where('address', 'in', addresses);
    },
  });

/** Rows of a table that has rows of lists. */
export const ofList = <Q extends { where(column: 'account_id' | 'list_id', op: '=', value: string): Q }>(
  query: Q,
  { account, list }: { readonly account: string; readonly list: string },
): Q => query.where('account_id', '=', account).where('list_id', '=', list);

/** Whether nobody has a row. `lease`: the column, with its table, as list_leases has one of that name. */
const isFree = (lease: 'c.lease' | 'list_waiting.lease', now: number) =>
  sql<SqlBool>`(${sql.ref(lease)} IS NULL OR NOT EXISTS (
    SELECT 1 FROM list_leases WHERE list_leases.lease = ${sql.ref(lease)} AND ${isHeld('list_leases', now)}))`;

/** Keeps a lease from now on. */
export function leaseKept(db: StorageDriver['db'], lease: string, now: number, leaseMs: number) {
  const times = leaseTimes(now, leaseMs);
  const insertion = db.insertInto('list_leases').values({ lease, ...times });
  return insertion.onConflict((oc) => oc.column('lease').doUpdateSet(times));
}
