import { ApiError } from '../../kernel/errors.ts';
import { sha256Hex } from '../../kernel/ids.ts';
import type { Actor, Invitation, Store, User } from '../../store/store.ts';
import { parsePersonName } from '../names.ts';
import type { Library } from './library.ts';
import type { BrowserRequest, Cookies } from './library-calls.ts';
import type { Limits } from './limits.ts';
import { sourceOf } from './notices.ts';
import { admitToken } from './password-change.ts';
import type { SessionService } from './sessions.ts';
import type { UserAdmin } from './user-admin.ts';
import { parseEmail, rejectWeakPassword } from './validate.ts';

export interface InvitationService {
  /** `known`: the address already has a user, so no password is needed. Throws ApiError. */
  lookUp(browser: BrowserRequest, token: string): Promise<{ invitation: Invitation; known: boolean }>;
  /** Creates and signs in a new user; an existing user must already be signed in. Throws ApiError. */
  accept(browser: BrowserRequest, by: { token: string; name?: string; password?: string }): Promise<Cookies>;
}

/** The link proves who owns the address, which its present user never did: it becomes theirs, with a new password. */
const claims = (invitation: Invitation, user: User): boolean => invitation.provesAddress && !user.emailVerified;

const actorOf = ({ id, email }: User, ip: string): Actor => ({ kind: 'user', id, name: email, ip });

interface InvitationParts {
  readonly store: Pick<Store, 'users' | 'members'>;
  readonly library: () => Promise<Library>;
  readonly limits: Limits;
  readonly userAdmin: UserAdmin;
  readonly sessions: Pick<SessionService, 'signInAs' | 'fromBrowser' | 'rename'>;
}

export function createInvitations(parts: InvitationParts): InvitationService {
  const { store, library, limits, userAdmin, sessions } = parts;

  async function find(browser: BrowserRequest, typed: string): Promise<{ invitation: Invitation; hash: string }> {
    const hash = sha256Hex(await admitToken(limits, browser, typed));
    const invitation = await store.members.invitation(hash);
    if (invitation === null) throw new ApiError('link_expired');
    return { invitation, hash };
  }

  async function acceptAs(hash: string, user: User, ip: string): Promise<void> {
    if ((await store.members.accept(hash, user.id, actorOf(user, ip))) === null) throw new ApiError('link_expired');
  }

  /** Whoever has not proven to own the address stays in the account that invited them. */
  async function requireProvenElsewhere(user: User, { account }: Invitation): Promise<void> {
    if (user.emailVerified) return;
    const accounts = await store.members.ofUser(user.id);
    if (accounts.some((other) => other.account !== account)) throw new ApiError('address_not_confirmed');
  }

  return {
    async lookUp(browser, token) {
      const { invitation } = await find(browser, token);
      const known = await store.users.byEmail(invitation.email);
      return { invitation, known: known !== null && !claims(invitation, known) };
    },

    async accept(browser, { token, name, password }) {
      const { invitation, hash } = await find(browser, token);
      const known = await store.users.byEmail(invitation.email);
      if (known !== null && !claims(invitation, known)) {
        await requireProvenElsewhere(known, invitation);
        const session = await sessions.fromBrowser(browser);
        if (session?.user.id !== known.id)
          throw new ApiError('not_signed_in', `Sign in as ${known.email} first, then open the link again.`);
        await acceptAs(hash, known, browser.ip);
        return { setCookie: session.setCookie };
      }
      if (name === undefined) throw missing('name');
      if (password === undefined) throw missing('password');
      const email = parseEmail(invitation.email);
      const called = parsePersonName(name);
      await rejectWeakPassword(password, { email, name: called, accounts: [invitation.accountName] });
      const { password: passwords } = await (await library()).$context;
      const hashed = await passwords.hash(password);
      if (known !== null) {
        const by = actorOf(known, browser.ip);
        await userAdmin.setPassword(known.id, hashed, sourceOf(browser), {
          account: invitation.account,
          // An invitation that was withdrawn meanwhile changes nothing.
          async within(change) {
            if ((await change.acceptInvitation(hash, by)) === null) throw new ApiError('link_expired');
          },
        });
        await sessions.rename(known, called);
        return sessions.signInAs(browser, known.id);
      }
      const proven = invitation.provesAddress;
      const user = await userAdmin.create({ email, name: called, password: hashed, proven });
      if (user === null)
        throw new ApiError('link_expired', 'This address already has a user. Sign in, then open the link again.');
      await acceptAs(hash, user, browser.ip).catch(async (error: unknown) => {
        await store.users.remove(user.id);
        throw error;
      });
      return sessions.signInAs(browser, user.id);
    },
  };
}

const missing = (field: string) => new ApiError('missing_parameter', `The parameter "${field}" is missing.`, { field });
