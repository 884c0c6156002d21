import type { Transaction } from 'kysely';
import type { Tables } from './tables.ts';
import { storable } from './text.ts';

/** The ledger's row of credits that the balance was given. */
export async function addGrant(trx: Transaction<Tables>, account: string, amount: number, note: string, now: number) {
  const grant = { account_id: account, kind: 'grant' as const, amount, note: storable(note), created_at: now };
  await trx.insertInto('ledger').values(grant).execute();
}
