/** Entries of the audit log as rows. */
import type { AuditAction } from '../../kernel/audit-actions.ts';
import type { Actor, AuditEntry } from '../store.ts';
import type { Row } from '../tables.ts';
import { storable } from '../text.ts';

export interface AuditEvent {
  readonly action: AuditAction;
  readonly target: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}

export const toRow = (account: string | null, at: number, by: Actor, { action, target, detail = {} }: AuditEvent) => ({
  account_id: account,
  at,
  actor_kind: by.kind,
  actor_id: by.id,
  actor_name: storable(by.name),
  ip: by.ip,
  action,
  target: storable(target),
  detail: JSON.stringify(detail),
});

export const toEntry = (row: Row<'trail'>): AuditEntry => ({
  id: row.id,
  account: row.account_id,
  at: row.at,
  actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name, ip: row.ip },
  action: row.action,
  target: row.target,
  detail: JSON.parse(row.detail),
  count: row.count,
  lastAt: row.last_at ?? row.at,
});
