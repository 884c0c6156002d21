import type { Transaction } from 'kysely';
import type { Row, Tables } from '../tables.ts';

type Deleted = Pick<Row<'verifications'>, 'account_id' | 'hold_id' | 'credits'>;

/** Keeps the credits of deleted verifications in a sum, so that the audit's sums still agree. The accounts are locked. */
export async function addPurged(trx: Transaction<Tables>, deleted: readonly Deleted[]): Promise<void> {
  const sum = (rows: readonly Deleted[]) => rows.reduce((total, row) => total + row.credits, 0);
  for (const [account, rows] of Map.groupBy(deleted, (row) => row.account_id)) {
    const update = trx.updateTable('accounts').set((eb) => ({ purged_credits: eb('purged_credits', '+', sum(rows)) }));
    await update.where('id', '=', account).execute();
  }
  for (const [hold, rows] of Map.groupBy(deleted, (row) => row.hold_id)) {
    if (hold === null) continue;
    const update = trx.updateTable('shared_holds');
    const more = update.set((eb) => ({ purged_credits: eb('purged_credits', '+', sum(rows)) }));
    await more.where('id', '=', hold).execute();
  }
}
