import { canonicalEmail } from '../engine/address/parse.ts';
import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import { INVITATION_DAYS, INVITATIONS_PER_HOUR } from '../kernel/facts/lifetimes.ts';
import { isAtLeast, type Role } from '../kernel/facts/roles.ts';
import { randomToken, sha256Hex } from '../kernel/ids.ts';
import type { AccountId, Actor, InvitationInput, RoleOutcome, Store } from '../store/store.ts';
import type { MailLimits } from './mail-limits.ts';
import { isUsableEmail } from './sign-in/validate.ts';

export type { AccountId, Actor, Role };

export interface ActingMember {
  readonly account: AccountId;
  readonly user: string;
  readonly role: Role;
  readonly actor: Actor;
}

/** Activity of a member is written at most so often, ms. */
const ACTIVITY_EVERY_MS = 5 * MINUTE_MS;

/** Notes who uses which account, in memory; `flush` writes it. */
export function createMemberActivity(members: Pick<Store['members'], 'recordActivity'>, clock: Clock) {
  /** Activity is kept by account and user: when it was, and whether it is written. */
  const active = new Map<
    string,
    { readonly account: AccountId; readonly user: string; at: number; written: boolean }
  >();
  return {
    note(account: AccountId, user: string) {
      const key = `${account} ${user}`;
      const now = clock.elapsed();
      const before = active.get(key);
      if (before !== undefined && now - before.at < ACTIVITY_EVERY_MS) return;
      active.set(key, { account, user, at: now, written: false });
    },
    async flush() {
      const now = clock.elapsed();
      for (const [key, one] of active) {
        if (!one.written) await members.recordActivity(one.account, one.user, ACTIVITY_EVERY_MS);
        one.written = true;
        if (now - one.at >= ACTIVITY_EVERY_MS) active.delete(key);
      }
    },
  };
}

export type MemberActivity = ReturnType<typeof createMemberActivity>;

export interface NewInvitation {
  readonly invitation: InvitationInput;
  readonly linkSent: { readonly link: string | null; readonly mailed: boolean };
}

const ROLE_TEXT: Readonly<Record<Role, string>> = {
  viewer: 'a viewer',
  member: 'a member, admin or owner',
  admin: 'an admin or owner',
  owner: 'an owner',
};

/** Throws `role_not_sufficient` if `role` ranks below `needed`. */
export function requireRole(role: Role, needed: Role): void {
  if (isAtLeast(role, needed)) return;
  const message = `This requires the role of ${ROLE_TEXT[needed]}; yours is ${role}.`;
  throw new ApiError('role_not_sufficient', message, { required_role: needed });
}

/** Members, roles and invitations. All methods throw ApiError. */
export function createMemberService(parts: {
  store: Pick<Store, 'members' | 'attempts'>;
  mailLimits: Pick<MailLimits, 'admit'>;
  activity: Pick<MemberActivity, 'note'>;
  clock: Clock;
  /** Returns the public URL of the service, without a trailing slash. */
  url: () => string;
  /** Whether mail can be sent. */
  mail: boolean;
  /** Whether sign-up is open, so that anyone can own an account. */
  signupOpen: boolean;
}) {
  const { store, mailLimits, activity, clock, url, mail, signupOpen } = parts;
  const { members } = store;

  /** `origin`: whose mails it is counted among. `email` is one that mail can be sent to. */
  async function newInvitation(role: Role, email: string, by: Actor, origin: string): Promise<NewInvitation> {
    const day = mail ? await mailLimits.admit('invitation', email, origin) : null;
    if (day !== null) throw tooManyMails(day, clock.now());
    // 43 characters of base 62 are 256 bits. In the fragment, so that it never appears in a log.
    const token = randomToken(43);
    const expiresAt = clock.now() + INVITATION_DAYS * DAY_MS;
    const link = `${url()}/invitation#token=${token}`;
    const message = { template: 'invitation', to: email, role, by: by.name, link } as const;
    const mailTo = mail ? (account: string) => ({ ...message, account }) : null;
    return {
      invitation: { email, role, tokenHash: sha256Hex(token), expiresAt, provesAddress: mail, mailTo },
      // The link sets the password of the address. If anyone can be an admin, only the mailbox may receive it.
      linkSent: { link: mail || signupOpen ? null : link, mailed: mail },
    };
  }

  return {
    /** Null if the user is not a member or there is no such account. */
    role: (account: string, user: string) => members.role(account, user),

    /** The user, a member, uses the account. */
    noteActivity: (account: AccountId, user: string) => activity.note(account, user),

    async list(account: AccountId) {
      const [all, invitations] = await Promise.all([members.list(account), members.invitations(account)]);
      return { members: all, invitations };
    },

    async setRole(by: ActingMember, user: string, role: Role) {
      throwUnlessDone(await members.setRole(by.account, user, role, by.actor), by, MEMBER);
    },

    /** Removes another member, or the acting member, who leaves. */
    async remove(by: ActingMember, user: string) {
      throwUnlessDone(await members.remove(by.account, user, by.actor), by, MEMBER);
    },

    /** `mailed`: the link goes to the address by mail. Otherwise it is returned, except if sign-up is open. */
    async invite(by: ActingMember, input: { email: string; role: Role }) {
      requireRole(by.role, input.role === 'owner' ? 'owner' : 'admin');
      const email = mailableAddress(input.email);
      const present = await members.list(by.account);
      if (present.some((member) => member.email.toLowerCase() === email.toLowerCase()))
        throw new ApiError('already_member', undefined, { field: 'email' });
      const open = await members.invitations(by.account);
      const replaced = open.some((earlier) => earlier.email === email.toLowerCase() && earlier.role === 'owner');
      if (replaced) requireRole(by.role, 'owner');
      const hour = await store.attempts.count(`invite:${by.account}`, HOUR_MS);
      if (hour.count > INVITATIONS_PER_HOUR) throw tooMany(hour.endsAt, clock.now());
      const { invitation, linkSent } = await newInvitation(input.role, email, by.actor, by.account);
      const sent = await members.invite(by.account, invitation, by.actor);
      if (sent === null) throw roleHasChanged(input.role === 'owner' ? 'owner' : 'admin');
      return { id: sent.id, ...linkSent };
    },

    /** The invitation to be stored with an account that an operator's program creates. */
    ownerOfNew: async (email: string, by: Actor) =>
      newInvitation('owner', mailableAddress(email), by, by.id ?? by.name),

    async withdraw(by: ActingMember, id: string) {
      throwUnlessDone(await members.withdraw(by.account, id, by.actor), by, INVITATION);
    },
  };
}

export type MemberService = ReturnType<typeof createMemberService>;

const MEMBER = 'There is no such member in this account.';
const INVITATION = 'There is no such invitation; it may have been accepted or withdrawn.';

/** `absent`: the message for what is not there. */
function throwUnlessDone(outcome: RoleOutcome, by: ActingMember, absent: string): void {
  if (outcome === 'done') return;
  if (outcome === 'not_found') throw new ApiError('not_found', absent);
  if (outcome === 'last_owner') throw new ApiError('last_owner');
  const needed = outcome === 'owner_needed' ? 'owner' : 'admin';
  requireRole(by.role, needed);
  throw roleHasChanged(needed);
}

/** The role sufficed when the request arrived, and does not any more. */
const roleHasChanged = (needed: Role): ApiError =>
  new ApiError('role_not_sufficient', 'Your role has just changed, and no longer allows this.', {
    required_role: needed,
  });

/** A valid address that can also sign in, trimmed. Throws ApiError. */
function mailableAddress(text: string): string {
  const email = text.trim();
  // The lists may be older than its top-level domain; a mail to one that does not exist fails like any other.
  if (canonicalEmail(email, { allowUnknownTld: true }).ok && isUsableEmail(email)) return email;
  throw new ApiError('invalid_parameter', 'email must be an address such as jane@example.com, in ASCII.', {
    field: 'email',
  });
}

const secondsUntil = (at: number, now: number): number => Math.max(1, Math.ceil((at - now) / 1000));

function tooManyMails({ limit, endsAt }: { limit: number; endsAt: number }, now: number): ApiError {
  const message =
    'This address has received as many mails as it may get from this service in a day. Try again tomorrow.';
  return new ApiError('rate_limit_exceeded', message, { limit, retry_after: secondsUntil(endsAt, now) });
}

function tooMany(endsAt: number, now: number): ApiError {
  const retry_after = secondsUntil(endsAt, now);
  const minutes = Math.ceil(retry_after / 60);
  const message = `At most ${INVITATIONS_PER_HOUR} people can be invited per hour. Try again in ${minutes} minutes.`;
  return new ApiError('rate_limit_exceeded', message, { limit: INVITATIONS_PER_HOUR, retry_after });
}
