import type { Transaction } from 'kysely';
import { ApiError } from '../kernel/errors.ts';
import type { TransactionDriver } from './driver.ts';
import type { Row, Tables } from './tables.ts';

/** Locks the account until the transaction ends and returns it; null when it does not exist or was deleted. */
export async function lockAccount(
  driver: Pick<TransactionDriver, 'lockAccounts'>,
  trx: Transaction<Tables>,
  account: string,
): Promise<Row<'accounts'> | null> {
  await driver.lockAccounts(trx, [account]);
  const rows = trx.selectFrom('accounts').selectAll().where('id', '=', account).where('status', '<>', 'deleted');
  return (await rows.executeTakeFirst()) ?? null;
}

/** The same, but throws ApiError('not_found') when there is no such account. */
export async function lockExistingAccount(
  driver: Pick<TransactionDriver, 'lockAccounts'>,
  trx: Transaction<Tables>,
  account: string,
): Promise<Row<'accounts'>> {
  const row = await lockAccount(driver, trx, account);
  if (row === null) throw new ApiError('not_found', 'There is no such account.');
  return row;
}
