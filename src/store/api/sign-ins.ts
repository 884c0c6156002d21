import type { MailPayload } from '../../kernel/jobs.ts';
import type { AccountId } from './accounts.ts';
import type { Actor } from './actor.ts';
import type { UserEvent } from './audit-log.ts';
import type { Invitation, User } from './people.ts';

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
