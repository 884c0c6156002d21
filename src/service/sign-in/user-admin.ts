import { mailboxOf } from '../../engine/address/mailbox.ts';
import { type Clock, toDate } from '../../kernel/clock.ts';
import { randomToken } from '../../kernel/ids.ts';
import type { AccountId, OidcIdentity, Store, User, UserChange } from '../../store/store.ts';
import type { Library } from './library.ts';
import type { ChangeSource, NotifyUser } from './notices.ts';
import { endSecondFactor } from './second-factor-sessions.ts';

/** 190 bits are too long to guess. */
const USER_TOKEN_LENGTH = 32;
export const newToken = (): string => randomToken(USER_TOKEN_LENGTH);

/** What survives a new password, by ID. */
export interface KeptAccess {
  readonly sessions: readonly string[];
  readonly passkeys: readonly string[];
}
const NOTHING_KEPT: KeptAccess = { sessions: [], passkeys: [] };

/** What else belongs to the transaction. */
type Within = (change: UserChange) => Promise<void>;

/** Creates and changes users without their session: for the command line and links. */
export interface UserAdmin {
  /**
   * Creates a user. `proven`: whether the address is known to be theirs; an address that is not is confined to its
   * account. `email` and `name` as returned by validate.ts; `password` is a
   * hash. `alone`: not if the mailbox has a user under another address. Null if the address already has a user.
   */
  create(input: {
    email: string;
    name: string;
    password: string | null;
    proven?: boolean;
    alone?: boolean;
  }): Promise<User | null>;
  /**
   * For whoever has proven to own the address: ends all links of the user, and their sessions and passkeys unless they
   * are kept. Whoever used the address before it was proven keeps nothing: no second factor either, and no link to an
   * OpenID provider but `identity`. Mails the user. `hash` null: none from now on, as the user signs in otherwise.
   * `account`: locked with the user, for what `within` does.
   */
  setPassword(
    user: string,
    hash: string | null,
    from: ChangeSource,
    more?: { keep?: KeptAccess; within?: Within; account?: AccountId; identity?: OidcIdentity },
  ): Promise<void>;
  /** The token of a link to choose a password; the store keeps only a hash. */
  passwordToken(user: string, livesMs: number, within?: Within): Promise<string>;
  /** Does the same for a link that signs in. */
  signInToken(user: string, livesMs: number, within?: Within): Promise<string>;
  /** Removes the authenticator app, its recovery codes and all passkeys. Mails the user if there were any. */
  forgetSecondFactor(user: string, from: ChangeSource, within?: Within): Promise<void>;
}

export function createUserAdmin(parts: {
  store: Pick<Store, 'users' | 'signIns'>;
  library: () => Promise<Library>;
  clock: Clock;
  notify: NotifyUser;
}): UserAdmin {
  const { library, clock, notify } = parts;
  const { users, signIns } = parts.store;

  async function tokenFor(
    identifierOf: (token: string) => string,
    user: string,
    livesMs: number,
    within: Within | undefined,
  ): Promise<string> {
    const { internalAdapter } = await (await library()).$context;
    const token = newToken();
    const expiresAt = toDate(clock.now() + livesMs);
    await signIns.change({ user }, async (change) => {
      await internalAdapter.createVerificationValue({ identifier: identifierOf(token), value: user, expiresAt });
      await within?.(change);
    });
    return token;
  }

  return {
    async create({ email, name, password, proven = true, alone = false }) {
      if ((await users.byEmail(email)) !== null) return null;
      const mailbox = mailboxOf(email);
      if (alone && (await users.idByMailbox(mailbox)) !== null) return null;
      const { internalAdapter } = await (await library()).$context;
      const made = await internalAdapter
        .createUser({ email, name, emailVerified: proven }, { method: 'email-password' })
        .catch(async (error: unknown) => {
          // Another request has created it meanwhile.
          if ((await users.byEmail(email)) !== null) return null;
          throw error;
        });
      if (made === null) return null;
      if (!(await users.claimMailbox(made.id, mailbox)) && alone) {
        // Another request has claimed it meanwhile.
        await users.remove(made.id);
        return null;
      }
      if (password !== null) {
        const credential = { userId: made.id, providerId: 'credential', accountId: made.id, password };
        await internalAdapter.linkAccount(credential).catch(async (error: unknown) => {
          await users.remove(made.id);
          throw error;
        });
      }
      return users.get(made.id);
    },

    async setPassword(user, hash, from, { keep = NOTHING_KEPT, within, account, identity } = {}) {
      const opened = await library();
      const context = await opened.$context;
      const { internalAdapter } = context;
      await signIns.change({ user, ...(account && { account }) }, async (change) => {
        const proven = change.user.emailVerified;
        const kept = proven ? keep : NOTHING_KEPT;
        if (!proven) {
          await removeAuthenticator(opened, user);
          await change.unlinkIdentities(identity);
        }
        const credential = await internalAdapter.findCredentialAccount(user);
        if (hash === null) await (credential && internalAdapter.deleteAccount(credential.id));
        else if (credential) await internalAdapter.updatePassword(user, hash);
        else
          await internalAdapter.createAccount({
            userId: user,
            providerId: 'credential',
            accountId: user,
            password: hash,
          });
        await change.endSessions(kept.sessions);
        const passkeys = await change.removePasskeys(kept.passkeys);
        await endSecondFactor(context, user);
        await endLinks(opened, user);
        if (!proven) await internalAdapter.updateUser(user, { emailVerified: true });
        if (hash !== null) await notify(change, 'password_changed', from, passkeys);
        await within?.(change);
      });
    },

    passwordToken: (user, livesMs, within) => tokenFor(resetOf, user, livesMs, within),
    signInToken: (user, livesMs, within) => tokenFor(signInOf, user, livesMs, within),

    async forgetSecondFactor(user, from, within) {
      const opened = await library();
      const context = await opened.$context;
      await signIns.change({ user }, async (change) => {
        await removeAuthenticator(opened, user);
        const passkeys = await change.removePasskeys();
        await endSecondFactor(context, user);
        if (change.user.secondFactor) await notify(change, 'second_factor_off', from, passkeys);
        else if (passkeys > 0) await notify(change, 'passkey_removed', from, passkeys);
        await within?.(change);
      });
    },
  };
}

/** The identifier under which the library stores the token of a password link. */
export const resetOf = (token: string): string => `reset-password:${token}`;

/** Does the same for a link that signs in. */
export const signInOf = (token: string): string => `sign-in:${token}`;

/** Removes its recovery codes as well. */
export async function removeAuthenticator(library: Library, user: string): Promise<void> {
  const { adapter, internalAdapter } = await library.$context;
  await internalAdapter.updateUser(user, { twoFactorEnabled: false });
  await adapter.deleteMany({ model: 'twoFactor', where: [{ field: 'userId', value: user }] });
}

/** Ends password links and sign-ins awaiting a second factor, which must not survive a password change. */
export async function endLinks(library: Library, user: string): Promise<void> {
  const { adapter } = await library.$context;
  await adapter.deleteMany({ model: 'verification', where: [{ field: 'value', value: user }] });
}
