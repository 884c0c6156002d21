import type { AuditAction, AuditSubject, UserAction } from '../../kernel/audit-actions.ts';
import type { AccountStatus, Plan } from '../../kernel/facts/plans.ts';
import type { Role } from '../../kernel/facts/roles.ts';
import type { ViewPage } from '../../kernel/facts/saved-views.ts';
import type { MailPayload } from '../../kernel/jobs.ts';
import type { AccountId, Actor } from './accounts.ts';

/** A session, without its token and the token's hash. */
export interface SessionRecord {
  readonly id: string;
  /** Where it was last seen; null: unknown. */
  readonly ip: string | null;
  /** As the browser sent it; '' if it sent none. */
  readonly userAgent: string;
  readonly createdAt: number;
  /** To the hour (SESSION_REFRESH_MINUTES). */
  readonly lastSeenAt: number;
}

export interface PasskeyRecord {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  /** Null: not since it was added, or only before this was recorded. */
  readonly lastUsedAt: number | null;
}

/** A change of how a user signs in: what it does, and what the sign-in library does meanwhile, commits together. */
export interface UserChange {
  /** As read after locking. */
  readonly user: User;
  /** Ends all sessions but these; returns how many. */
  endSessions(keep?: readonly string[]): Promise<number>;
  /** False: it had ended. */
  endSession(id: string): Promise<boolean>;
  countPasskeys(): Promise<number>;
  removePasskeys(keep?: readonly string[]): Promise<number>;
  /** False: the user has no such passkey. */
  removePasskey(id: string): Promise<boolean>;
  /** See `Members.accept`; of the account that was named to `change`. */
  acceptInvitation(tokenHash: string, by: Actor): Promise<Invitation | null>;
  /** Forgets what was counted of the subject: see `Attempts.clear`. */
  clearAttempts(subject: string): Promise<void>;
  mail(payload: MailPayload): Promise<void>;
  /** To the audit log: see `AuditLog.recordUserEvent`. */
  record(event: Omit<UserEvent, 'user'>): Promise<void>;
}

/** Sessions and passkeys. The sign-in library makes them, on the same tables (see `Store.authDatabase`). */
export interface SignIns {
  /** Those that have not expired, the one seen last first; at most SESSIONS_LISTED. */
  sessions(user: string): Promise<SessionRecord[]>;
  /** Oldest first. */
  passkeys(user: string): Promise<PasskeyRecord[]>;
  /** By the ID of the credential (WebAuthn Level 3 §4). */
  markPasskeyUsed(credentialId: string): Promise<void>;
  /**
   * One transaction with the user locked. `work` may await only `UserChange` and the library's adapters, since on
   * SQLite anything else would wait for the end of this transaction. Throws ApiError: `not_signed_in` if `session` has
   * ended meanwhile, `not_found` if the user is gone. `account`: locked as well, first, as everywhere.
   */
  change<T>(
    who: { readonly user: string; readonly session?: string; readonly account?: AccountId },
    work: (change: UserChange) => Promise<T>,
  ): Promise<T>;
}

/** A search of a page that a member has named. */
export interface SavedView {
  readonly id: string;
  readonly name: string;
  /** The query string of the page. */
  readonly search: string;
}

/** Whose views: a member of the account, or of the account whose test account this is; both have the same. */
export interface ViewOwner {
  readonly account: AccountId;
  readonly user: string;
}

export interface SavedViews {
  /** By name. */
  list(owner: ViewOwner, page: ViewPage): Promise<SavedView[]>;
  /** Throws ApiError `view_exists`, `too_many_views`, `not_found` for who is no member any more. */
  add(owner: ViewOwner, page: ViewPage, view: Omit<SavedView, 'id'>): Promise<SavedView>;
  /** Null: there is none of this ID. Throws ApiError `view_exists`. */
  rename(owner: ViewOwner, id: string, name: string): Promise<SavedView | null>;
  /** False: there is none of this ID. */
  remove(owner: ViewOwner, id: string): Promise<boolean>;
}

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

export interface User {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly emailVerified: boolean;
  readonly operator: boolean;
  /** Whether a code is asked at sign-in. */
  readonly secondFactor: boolean;
  readonly createdAt: number;
}

/** Users are made, and their passwords kept, by the sign-in library on the same tables (see `Store.authDatabase`). */
export interface Users {
  get(id: string): Promise<User | null>;
  /** Without regard to case. */
  byEmail(email: string): Promise<User | null>;
  /** The user to whom this mailbox belongs. */
  idByMailbox(mailbox: string): Promise<string | null>;
  /** False where it belongs to another user. */
  claimMailbox(user: string, mailbox: string): Promise<boolean>;
  /** Claims the mailboxes of users who have none yet, for the oldest of those with the same one. */
  claimMailboxes(mailboxOf: (email: string) => string): Promise<void>;
  list(): Promise<(User & { readonly accounts: readonly { id: AccountId; role: Role }[] })[]>;
  count(): Promise<number>;
  /** False when there is no such user. */
  setOperator(id: string, operator: boolean, by?: Actor): Promise<boolean>;
  /** The user, sessions, memberships and all; refuses (false) while an account would lose its last owner. */
  remove(id: string, by?: Actor): Promise<boolean>;
}

export interface Membership {
  readonly account: AccountId;
  readonly accountName: string;
  readonly plan: Plan;
  readonly status: AccountStatus;
  readonly role: Role;
  /** Of the account. */
  readonly secondFactorRequired: boolean;
  /** The id of its test account, which exists once it was asked for (`role`). */
  readonly testAccount: AccountId;
}

/** Of a test account: the role in its live account. */
export interface AccountRole extends Pick<Membership, 'account' | 'role' | 'secondFactorRequired'> {
  readonly suspended: boolean;
  readonly test: boolean;
}

export interface Member {
  readonly userId: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly secondFactor: boolean;
  readonly createdAt: number;
}

export interface Invitation {
  readonly id: string;
  readonly account: AccountId;
  readonly accountName: string;
  readonly email: string;
  readonly role: Role;
  readonly invitedBy: string;
  /** Only the mailbox or the operator has the link: whoever uses it owns the address. */
  readonly provesAddress: boolean;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface InvitationInput {
  readonly email: string;
  readonly role: Role;
  readonly tokenHash: string;
  readonly expiresAt: number;
  /** False by default. */
  readonly provesAddress?: boolean;
  /** The mail to send, by the name of the account; null or absent: none. */
  readonly mailTo?: ((account: string) => MailPayload) | null;
}

/**
 * `last_owner`: the account would be left without an owner. `admin_needed`, `owner_needed`: the role of `by` does not
 * suffice, or no longer. Nothing was changed in these cases.
 */
export type RoleOutcome = 'done' | 'not_found' | 'last_owner' | 'admin_needed' | 'owner_needed';

/** Every change is written to the audit log in the same transaction. */
export interface Members {
  /**
   * Null: not a member, or the account was deleted. The test account of a member's account is created when it is
   * missing.
   */
  role(account: string, user: string): Promise<AccountRole | null>;
  /** Oldest account first. */
  ofUser(user: string): Promise<Membership[]>;
  list(account: AccountId): Promise<Member[]>;
  /** False when the user is a member already, or the account was deleted. */
  add(account: AccountId, user: string, role: Role, by: Actor): Promise<boolean>;
  /** Admins may change members and admins, only owners may change owners or make one. */
  setRole(account: AccountId, user: string, role: Role, by: Actor): Promise<RoleOutcome>;
  /** The same rule; every member may leave. */
  remove(account: AccountId, user: string, by: Actor): Promise<RoleOutcome>;
  /**
   * `tokenHash`: SHA-256 of the link's token, hex. An earlier invitation of the same address is replaced. Null: `by` is
   * a member who may not send it, or no longer.
   */
  invite(account: AccountId, input: InvitationInput, by: Actor): Promise<Invitation | null>;
  /** Those that can be used. */
  invitations(account: AccountId): Promise<Invitation[]>;
  /** Only owners may withdraw an owner's invitation. */
  withdraw(account: AccountId, id: string, by: Actor): Promise<Exclude<RoleOutcome, 'last_owner'>>;
  /** Null where it is used, withdrawn or past its time. */
  invitation(tokenHash: string): Promise<Invitation | null>;
  /** Uses the invitation up and makes the user a member (one who is a member keeps the higher role); null as above. */
  accept(tokenHash: string, user: string, by: Actor): Promise<Invitation | null>;
}

/** Counts of attempts in fixed windows, on all nodes together. Of a subject only a hash is kept. */
export interface Attempts {
  /**
   * Counts one of the subject, or of the subject from this origin, and answers how many there are in the running
   * window, and when it ends.
   */
  count(subject: string, windowMs: number, origin?: string): Promise<{ count: number; endsAt: number }>;
  /** From all origins. */
  clear(subject: string): Promise<void>;
}
