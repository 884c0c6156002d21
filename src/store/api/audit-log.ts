import type { AuditAction, AuditSubject, UserAction } from '../../kernel/audit-actions.ts';
import type { AccountId } from './accounts.ts';
import type { Actor } from './actor.ts';

export interface AuditEntry {
  readonly id: number;
  /** Null: of a user without an account. */
  readonly account: string | null;
  readonly at: number;
  readonly actor: Actor;
  /** `key.created`, `filter.removed`, `member.role_changed` … */
  readonly action: AuditAction;
  /** In words: a key's name, a filter's value, a member's address. */
  readonly target: string;
  /** What changed, small; no secrets. */
  readonly detail: Readonly<Record<string, unknown>>;
  /** How often it happened, from `at` to `lastAt`. */
  readonly count: number;
  readonly lastAt: number;
}

/** Something that happened to a user, whatever their accounts. */
export interface UserEvent {
  /** Nothing is recorded of an address that has no user. */
  readonly user: { readonly id: string } | { readonly email: string };
  /** `self`: the user. */
  readonly by: Actor | { readonly kind: 'self' | 'anonymous'; readonly ip: string | null };
  readonly action: UserAction;
  readonly detail?: Readonly<Record<string, unknown>>;
  /** How often; once by default. */
  readonly count?: number;
}

export interface AuditQuery {
  /** Ids below it; null: the newest. */
  readonly before: number | null;
  readonly limit: number;
  /** All by default. */
  readonly about?: AuditSubject | null;
}

/** The audit log. Changes are written by the store itself, in the transaction of what it tells of. */
export interface AuditLog {
  /** Newest first. `all`: of all accounts, and of users without one; for operators. */
  list(of: AccountId | 'all', query: AuditQuery): Promise<AuditEntry[]>;
  /**
   * Writes what happened to a user to the log of each account that they are a member of, or to that of the operators.
   * The same events of one hour are one entry; so are all events of one action beyond USER_EVENTS_PER_HOUR.
   */
  recordUserEvent(event: UserEvent): Promise<void>;
}
