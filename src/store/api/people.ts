import type { AccountStatus, Plan } from '../../kernel/facts/plans.ts';
import type { Role } from '../../kernel/facts/roles.ts';
import type { MailPayload } from '../../kernel/jobs.ts';
import type { AccountId } from './accounts.ts';
import type { Actor } from './actor.ts';

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
