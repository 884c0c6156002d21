import type { Transaction } from 'kysely';
import { USER_ACTIONS } from '../../kernel/audit-actions.ts';
import type { StorageDriver } from '../driver.ts';
import type { Actor, AuditLog } from '../store.ts';
import type { Tables } from '../tables.ts';
import { type AuditEvent, toEntry, toRow } from './audit-rows.ts';
import { userEvents } from './user-events.ts';

/** Writes the audit log in the transaction of the change. Without an actor it writes nothing. Returns the row's id. */
export async function writeAudit(
  trx: Transaction<Tables>,
  account: string,
  at: number,
  by: Actor | undefined,
  event: AuditEvent,
): Promise<number | null> {
  if (by === undefined) return null;
  const row = trx.insertInto('trail').values(toRow(account, at, by, event));
  const { id } = await row.returning('id').executeTakeFirstOrThrow();
  return id;
}

export function auditLog(driver: StorageDriver): AuditLog {
  return {
    recordUserEvent: userEvents(driver),

    async list(of, { before, limit, about = null }) {
      let rows = driver.scans.selectFrom('trail').selectAll();
      if (of !== 'all') rows = rows.where('account_id', '=', of);
      if (before !== null) rows = rows.where('id', '<', before);
      if (about !== null) rows = rows.where('action', about === 'user' ? 'in' : 'not in', USER_ACTIONS);
      return (await rows.orderBy('id', 'desc').limit(limit).execute()).map(toEntry);
    },
  };
}
