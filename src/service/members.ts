import { canonicalEmail } from '../engine/address/canonical.ts';
import type { Clock } from '../kernel/clock.ts';
import { Refusal } from '../kernel/errors.ts';
import { randomToken, sha256Hex } from '../kernel/ids.ts';
import { type Actor, type Invitation, type Member, ROLE_ORDER, type Role, type RoleOutcome } from '../store/people.ts';
import type { AccountId, Store } from '../store/store.ts';
import type { Mail } from './mail.ts';
import { isUsableEmail } from './sign-in/usable.ts';

export type { AccountId, Actor, Invitation, Member, Role };

/** A member who acts on their account. */
export interface Acting {
  readonly account: AccountId;
  readonly user: string;
  readonly role: Role;
  readonly actor: Actor;
}

/** Who may do what in an account. Everything that is refused throws Refusal. */
export interface MemberService {
  /** Null: not a member, or no such account. */
  role(account: string, user: string): Promise<{ account: AccountId; role: Role } | null>;
  list(account: AccountId): Promise<{ members: Member[]; invitations: Invitation[] }>;
  setRole(by: Acting, user: string, role: Role): Promise<void>;
  /** Another member, or oneself: to leave. */
  remove(by: Acting, user: string): Promise<void>;
  /** `mailed`: the link went to the address. Else it is told this once, but never where strangers may sign up. */
  invite(
    by: Acting,
    input: { email: string; role: Role },
  ): Promise<{ id: string; link: string | null; mailed: boolean }>;
  withdraw(by: Acting, id: string): Promise<void>;
}

const DAY_MS = 86_400_000;
const TRIES = 5;
const INVITATION_MS = 7 * DAY_MS;
/** Every invitation is a mail to an address that somebody typed. */
const INVITATIONS_PER_HOUR = 30;

const NEEDS: Readonly<Record<Role, string>> = { member: 'a member', admin: 'an admin or owner', owner: 'an owner' };

/** Throws `role_not_sufficient` where `role` is less than `needed`. */
export function requireRole(role: Role, needed: Role): void {
  if (ROLE_ORDER.indexOf(role) >= ROLE_ORDER.indexOf(needed)) return;
  const sentence = `This takes the role of ${NEEDS[needed]}; yours is ${role}.`;
  throw new Refusal('role_not_sufficient', sentence, { required_role: needed });
}

export function createMemberService(parts: {
  store: Pick<Store, 'members' | 'attempts'>;
  clock: Clock;
  /** Public address of the service, without a slash at its end. */
  url: () => string;
  /** Null: none is set up. */
  mail: Pick<Mail, 'invitation'> | null;
  /** Whether strangers may sign up, and so be owners of accounts. */
  strangers: boolean;
}): MemberService {
  const { store, clock, url, mail, strangers } = parts;
  const { members } = store;

  /** Members are touched by admins, owners by owners only; judged anew where the role changed on the way. */
  async function touch(by: Acting, user: string, act: (judged: Role) => Promise<RoleOutcome>): Promise<RoleOutcome> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const judged = (await members.role(by.account, user))?.role;
      if (judged === undefined) throw noMember();
      requireRole(by.role, judged === 'owner' ? 'owner' : 'admin');
      const outcome = await act(judged);
      if (outcome !== 'changed') return outcome;
    }
    throw new Refusal('overloaded', 'The role of this member changes all the time: look, and try again.', {
      retry_after: 1,
    });
  }

  /** An invitation to be an owner is an owner's to take back or to replace. */
  function requireOwnerFor(by: Acting, invitations: readonly Invitation[]): void {
    if (invitations.some(({ role }) => role === 'owner')) requireRole(by.role, 'owner');
  }

  return {
    role: (account, user) => members.role(account, user),

    async list(account) {
      const [all, invitations] = await Promise.all([members.list(account), members.invitations(account)]);
      return { members: all, invitations };
    },

    async setRole(by, user, role) {
      if ((await members.role(by.account, user)) === null) throw noMember();
      if (role === 'owner') requireRole(by.role, 'owner');
      done(await touch(by, user, (judged) => members.setRole(by.account, user, role, by.actor, judged)));
    },

    async remove(by, user) {
      if (user === by.user) done(await members.remove(by.account, user, by.actor));
      else done(await touch(by, user, (judged) => members.remove(by.account, user, by.actor, judged)));
    },

    async invite(by, input) {
      requireRole(by.role, input.role === 'owner' ? 'owner' : 'admin');
      const email = mailableAddress(input.email);
      const present = await members.list(by.account);
      if (present.some((member) => member.email.toLowerCase() === email.toLowerCase()))
        throw new Refusal('already_member', undefined, { field: 'email' });
      const open = await members.invitations(by.account);
      requireOwnerFor(
        by,
        open.filter((earlier) => earlier.email === email.toLowerCase()),
      );
      const hour = await store.attempts.count(`invite:${by.account}`, 3_600_000);
      if (hour.count > INVITATIONS_PER_HOUR) throw tooMany(hour.endsAt, clock.now());
      // 43 characters of base 62: 256 bits. In the fragment, so that no server ever sees it in a path.
      const token = randomToken(43);
      const expiresAt = clock.now() + INVITATION_MS;
      const asked = { email, role: input.role, tokenHash: sha256Hex(token), expiresAt };
      const invitation = await members.invite(by.account, asked, by.actor);
      const link = `${url()}/invitation#token=${token}`;
      const letter = { to: email, account: invitation.accountName, role: input.role, by: by.actor.name, link };
      const mailed = (await mail?.invitation(letter)) ?? false;
      // Whoever has it chooses the password of the address: where anybody could ask for it, only its mailbox has it.
      return { id: invitation.id, link: mailed || strangers ? null : link, mailed };
    },

    async withdraw(by, id) {
      const open = await members.invitations(by.account);
      requireOwnerFor(
        by,
        open.filter((one) => one.id === id),
      );
      if (!(await members.withdraw(by.account, id, by.actor)))
        throw new Refusal('not_found', 'There is no such invitation; it may have been used or withdrawn.');
    },
  };
}

function done(outcome: RoleOutcome): void {
  if (outcome === 'not_found') throw noMember();
  if (outcome === 'last_owner') throw new Refusal('last_owner');
}

const noMember = () => new Refusal('not_found', 'There is no such member in this account.');

/** Trimmed, an address by our own parser, and one that can sign in. Throws Refusal. */
function mailableAddress(text: string): string {
  const email = text.trim();
  if (canonicalEmail(email).ok && isUsableEmail(email)) return email;
  throw new Refusal('invalid_parameter', 'email must be an address such as jane@example.com, in ASCII.', {
    field: 'email',
  });
}

function tooMany(endsAt: number, now: number): Refusal {
  const retry_after = Math.max(1, Math.ceil((endsAt - now) / 1000));
  const minutes = Math.ceil(retry_after / 60);
  const sentence = `At most ${INVITATIONS_PER_HOUR} people can be invited in an hour; go on in ${minutes} minutes.`;
  return new Refusal('rate_limit_exceeded', sentence, { limit: INVITATIONS_PER_HOUR, retry_after });
}
