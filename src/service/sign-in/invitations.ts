import { Refusal } from '../../kernel/errors.ts';
import { sha256Hex } from '../../kernel/ids.ts';
import type { Invitation, Store } from '../../store/store.ts';
import type { Cookies, Visitor } from './calls.ts';
import type { Library } from './library.ts';
import type { Limits } from './limits.ts';
import { takeToken } from './password-change.ts';
import type { People } from './people.ts';
import type { SessionService } from './sessions.ts';
import { refuseWeak, usableEmail, usablePersonName } from './usable.ts';

export interface InvitationService {
  /** `known`: the address signs in already, so no password is chosen. Throws Refusal. */
  lookUp(visitor: Visitor, token: string): Promise<{ invitation: Invitation; known: boolean }>;
  /** A new address is signed in afterwards; a known one has to be before. Throws Refusal. */
  accept(visitor: Visitor, by: { token: string; name?: string; password?: string }): Promise<Cookies>;
}

export interface InvitationParts {
  readonly store: Pick<Store, 'users' | 'members'>;
  readonly library: () => Promise<Library>;
  readonly limits: Limits;
  readonly people: People;
  readonly sessions: Pick<SessionService, 'signInAs' | 'who'>;
}

export function createInvitations(parts: InvitationParts): InvitationService {
  const { store, library, limits, people, sessions } = parts;

  async function find(visitor: Visitor, typed: string): Promise<{ invitation: Invitation; hash: string }> {
    const hash = sha256Hex(await takeToken(limits, visitor, typed));
    const invitation = await store.members.invitation(hash);
    if (invitation === null) throw new Refusal('link_expired');
    return { invitation, hash };
  }

  async function acceptAs(hash: string, user: { id: string; email: string }, ip: string): Promise<void> {
    const by = { kind: 'user', id: user.id, name: user.email, ip } as const;
    if ((await store.members.accept(hash, user.id, by)) === null) throw new Refusal('link_expired');
  }

  return {
    async lookUp(visitor, token) {
      const { invitation } = await find(visitor, token);
      return { invitation, known: (await store.users.byEmail(invitation.email)) !== null };
    },

    async accept(visitor, { token, name, password }) {
      const { invitation, hash } = await find(visitor, token);
      const known = await store.users.byEmail(invitation.email);
      if (known !== null) {
        const session = await sessions.who(visitor.cookie);
        if (session?.user.id !== known.id)
          throw new Refusal('not_signed_in', `Sign in as ${known.email} first, then open the link again.`);
        await acceptAs(hash, known, visitor.ip);
        return { setCookie: session.setCookie };
      }
      if (name === undefined) throw missing('name');
      if (password === undefined) throw missing('password');
      const email = usableEmail(invitation.email);
      const called = usablePersonName(name);
      refuseWeak(password, email);
      const { password: passwords } = await (await library()).$context;
      const user = await people.create({ email, name: called, password: await passwords.hash(password) });
      if (user === null)
        throw new Refusal('link_expired', 'This address signs in already: sign in and open the link again.');
      await acceptAs(hash, user, visitor.ip).catch(async (error: unknown) => {
        await store.users.remove(user.id);
        throw error;
      });
      return sessions.signInAs(visitor, user.id);
    },
  };
}

const missing = (field: string) => new Refusal('missing_parameter', `The parameter "${field}" is missing.`, { field });
