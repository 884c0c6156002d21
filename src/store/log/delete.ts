import type { TransactionDriver } from '../driver.ts';
import type { Row } from '../tables.ts';
import { addPurged } from './purged.ts';

/** See `BulkTransactions.deleteVerifications`. */
export const deleteVerifications = (
  driver: TransactionDriver,
  some: readonly Pick<Row<'verifications'>, 'seq' | 'account_id'>[],
): Promise<number> =>
  driver.transaction(async (trx) => {
    await driver.lockAccounts(trx, [...new Set(some.map((row) => row.account_id))]);
    const seqs = some.map((row) => row.seq);
    const gone = trx.deleteFrom('verifications').where('seq', 'in', seqs);
    const deleted = await gone.returning(['account_id', 'hold_id', 'credits']).execute();
    await addPurged(trx, deleted);
    return deleted.length;
  });
