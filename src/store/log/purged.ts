import { sql, type Transaction } from 'kysely';
import type { Row, Tables } from '../tables.ts';

type Deleted = Pick<Row<'verifications'>, 'account_id' | 'hold_id' | 'credits'>;

/**
 * Keeps the credits of deleted verifications in a sum, so that the audit's sums still agree. The accounts are locked.
 */
export async function addPurged(trx: Transaction<Tables>, deleted: readonly Deleted[]): Promise<void> {
  await addTo(trx, 'accounts', sums(deleted, 'account_id'));
  await addTo(trx, 'shared_holds', sums(deleted, 'hold_id'));
}

function sums(deleted: readonly Deleted[], by: 'account_id' | 'hold_id'): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const { [by]: id, credits } of deleted) if (id !== null) found.set(id, (found.get(id) ?? 0) + credits);
  return found;
}

/** In one statement, however many rows: charges wait for the transaction. */
async function addTo(
  trx: Transaction<Tables>,
  table: 'accounts' | 'shared_holds',
  credits: ReadonlyMap<string, number>,
): Promise<void> {
  if (credits.size === 0) return;
  const rows = Array.from(credits, ([id, sum]) => sql`(CAST(${id} AS TEXT), CAST(${sum} AS BIGINT))`);
  await sql`UPDATE ${sql.table(table)} SET purged_credits = purged_credits + gone.column2
    FROM (VALUES ${sql.join(rows)}) AS gone WHERE id = gone.column1`.execute(trx);
}
