/** What the store keeps of people: who signs in, who may do what in which account, and who did what. */
import type { AccountId } from './store.ts';

/** From least to most. */
export const ROLE_ORDER = ['member', 'admin', 'owner'] as const;
export type Role = (typeof ROLE_ORDER)[number];

/** Who made a change, as the audit log shows it. */
export interface Actor {
  /** `operator`: a user acting on an account as an operator; `command`: the command line; `service`: the program itself. */
  readonly kind: 'user' | 'operator' | 'key' | 'command' | 'service';
  /** Id of the user or key. */
  readonly id: string | null;
  /** A user's address, a key's name; what was true at the time. */
  readonly name: string;
  readonly ip: string | null;
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
  list(): Promise<(User & { readonly accounts: readonly { id: AccountId; role: Role }[] })[]>;
  count(): Promise<number>;
  setOperator(id: string, operator: boolean): Promise<boolean>;
  /** The user, sessions, memberships and all; refuses (false) while an account would lose its last owner. */
  remove(id: string, by?: Actor): Promise<boolean>;
}

export interface Membership {
  readonly account: AccountId;
  readonly accountName: string;
  readonly plan: string;
  readonly status: 'active' | 'suspended';
  readonly role: Role;
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
  readonly createdAt: number;
  readonly expiresAt: number;
}

/**
 * `last_owner`: the account would be left without an owner. `changed`: the member no longer has the role for which it was
 * judged whether this may be done. Nothing was changed in either case.
 */
export type RoleOutcome = 'done' | 'not_found' | 'last_owner' | 'changed';

/** Every change is written to the audit log in the same transaction. */
export interface Members {
  /** Null: not a member, or the account is gone. */
  role(account: string, user: string): Promise<{ account: AccountId; role: Role } | null>;
  /** Oldest account first. */
  ofUser(user: string): Promise<Membership[]>;
  list(account: AccountId): Promise<Member[]>;
  /** False where the user is a member already, or the account is gone. */
  add(account: AccountId, user: string, role: Role, by: Actor): Promise<boolean>;
  /** `judged`: the role that the member had when it was judged whether this may be done. */
  setRole(account: AccountId, user: string, role: Role, by: Actor, judged?: Role): Promise<RoleOutcome>;
  remove(account: AccountId, user: string, by: Actor, judged?: Role): Promise<RoleOutcome>;
  /** `tokenHash`: SHA-256 of the link's token, hex. An earlier invitation of the same address is replaced. */
  invite(
    account: AccountId,
    input: { email: string; role: Role; tokenHash: string; expiresAt: number },
    by: Actor,
  ): Promise<Invitation>;
  /** Those that can be used. */
  invitations(account: AccountId): Promise<Invitation[]>;
  withdraw(account: AccountId, id: string, by: Actor): Promise<boolean>;
  /** Null where it is used, withdrawn or past its time. */
  invitation(tokenHash: string): Promise<Invitation | null>;
  /** Uses the invitation up and makes the user a member (one who is a member keeps the higher role); null as above. */
  accept(tokenHash: string, user: string, by: Actor): Promise<Invitation | null>;
}

export interface TrailEntry {
  readonly id: number;
  readonly at: number;
  readonly actor: Actor;
  /** `key.created`, `filter.removed`, `member.role_changed` … */
  readonly action: string;
  /** In words: a key's name, a filter's value, a member's address. */
  readonly target: string;
  /** What changed, small; no secrets. */
  readonly detail: Readonly<Record<string, unknown>>;
}
/** The audit log. Written by the store itself, in the transaction of what it tells of. */
export interface Trail {
  /** Newest first; ids below `before`. */
  list(account: AccountId, page: { before: number | null; limit: number }): Promise<TrailEntry[]>;
}

/** Counts of attempts in fixed windows, on all nodes together. Of a subject only a hash is kept. */
export interface Attempts {
  /** Counts one and answers how many there are in the running window, and when it ends. */
  count(subject: string, windowMs: number): Promise<{ count: number; endsAt: number }>;
  clear(subject: string): Promise<void>;
}

/** What one process counted of requests since it last told the store. */
export interface TrafficRow {
  readonly account: AccountId;
  /** Start of the hour, ms. */
  readonly hour: number;
  /** `status`: replies of 4xx by status; `mx`, `smtp`: verifications of that level by latency bucket. */
  readonly metric: 'status' | 'mx' | 'smtp';
  /** HTTP status, or the number of the latency bucket (kernel/latency.ts). */
  readonly bucket: number;
  readonly count: number;
}
export interface Traffic {
  /** Adds to what is there; nothing for accounts that are gone. */
  add(rows: readonly TrafficRow[]): Promise<void>;
  /** From the hour of `from` to before `to`, oldest first. */
  list(account: AccountId, from: number, to: number): Promise<TrafficRow[]>;
}
