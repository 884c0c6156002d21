import type { Transaction } from 'kysely';
import { Refusal } from '../kernel/errors.ts';
import type { Engine } from './engine.ts';
import type { Row, Tables } from './tables.ts';

/** Locks the account until the transaction ends, and answers it; null when there is none, or it was deleted. */
export async function lockAccount(
  engine: Engine,
  trx: Transaction<Tables>,
  account: string,
): Promise<Row<'accounts'> | null> {
  await engine.lockAccounts(trx, [account]);
  const rows = trx.selectFrom('accounts').selectAll().where('id', '=', account).where('status', '<>', 'deleted');
  return (await rows.executeTakeFirst()) ?? null;
}

/** The same for work that makes no sense without the account, which was there a moment ago. Throws Refusal. */
export async function needAccount(engine: Engine, trx: Transaction<Tables>, account: string): Promise<Row<'accounts'>> {
  const row = await lockAccount(engine, trx, account);
  if (row === null) throw new Refusal('not_found', 'There is no such account.');
  return row;
}
