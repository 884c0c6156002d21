import type { Transaction } from 'kysely';
import type { AuditAction } from '../../kernel/audit-actions.ts';
import type { StorageDriver } from '../driver.ts';
import type { Actor, AuditEntry, AuditLog } from '../store.ts';
import type { Row, Tables } from '../tables.ts';
import { storable } from '../text.ts';

export interface AuditEvent {
  readonly action: AuditAction;
  readonly target: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** Writes the audit log in the transaction of the change. Without an actor it writes nothing. Returns the row's id. */
export async function writeAudit(
  trx: Transaction<Tables>,
  account: string,
  at: number,
  by: Actor | undefined,
  { action, target, detail = {} }: AuditEvent,
): Promise<number | null> {
  if (by === undefined) return null;
  const row = {
    account_id: account,
    at,
    actor_kind: by.kind,
    actor_id: by.id,
    actor_name: storable(by.name),
    ip: by.ip,
    action,
    target: storable(target),
    detail: JSON.stringify(detail),
  };
  const { id } = await trx.insertInto('trail').values(row).returning('id').executeTakeFirstOrThrow();
  return id;
}

const toEntry = (row: Row<'trail'>): AuditEntry => ({
  id: row.id,
  at: row.at,
  actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name, ip: row.ip },
  action: row.action,
  target: row.target,
  detail: JSON.parse(row.detail),
});

export function auditLog({ db }: StorageDriver): AuditLog {
  return {
    async list(account, { before, limit }) {
      let mine = db.selectFrom('trail').selectAll().where('account_id', '=', account);
      if (before !== null) mine = mine.where('id', '<', before);
      return (await mine.orderBy('id', 'desc').limit(limit).execute()).map(toEntry);
    },
  };
}
