import type { AuditAction } from '../../kernel/audit-actions.ts';
import type { AccountId } from './accounts.ts';
import type { Actor } from './actor.ts';

export interface AuditEntry {
  readonly id: number;
  readonly at: number;
  readonly actor: Actor;
  /** `key.created`, `filter.removed`, `member.role_changed` … */
  readonly action: AuditAction;
  /** In words: a key's name, a filter's value, a member's address. */
  readonly target: string;
  /** What changed, small; no secrets. */
  readonly detail: Readonly<Record<string, unknown>>;
}

/** The audit log. Written by the store itself, in the transaction of what it tells of. */
export interface AuditLog {
  /** Newest first; ids below `before`. */
  list(account: AccountId, page: { before: number | null; limit: number }): Promise<AuditEntry[]>;
}
