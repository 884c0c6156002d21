import { mailboxOf } from '../../engine/address/mailbox.ts';
import { type Clock, toDate } from '../../kernel/clock.ts';
import { randomToken } from '../../kernel/ids.ts';
import type { AccountId, OidcIdentity, Store, UserChange } from '../../store/store.ts';
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

interface NewUser {
  /** This and the name are as validate.ts returns them. */
  readonly email: string;
  readonly name: string;
  /** The password is hashed. */
  readonly password: string | null;
  /** Whether the address is known to be theirs; one that is not is confined to its account. */
  readonly proven?: boolean;
  /** Not if the mailbox has a user under another address. */
  readonly alone?: boolean;
}

interface NewPasswordOptions {
  readonly keep?: KeptAccess;
  readonly within?: Within;
  readonly account?: AccountId;
  readonly identity?: OidcIdentity;
}

/** Creates and changes users without their session: for the command line and links. */
export function createUserAdmin(parts: {
  store: Pick<Store, 'users' | 'signIns'>;
  library: () => Promise<Library>;
  clock: Clock;
  notify: NotifyUser;
}) {
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
    /** Creates a user. Null if the address already has one. */
    async create({ email, name, password, proven = true, alone = false }: NewUser) {
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

    /**
     * For whoever has proven to own the address: ends all links of the user, and their sessions and passkeys unless
     * they are kept. Whoever used the address before it was proven keeps nothing: no second factor either, and no link
     * to an OpenID provider but `identity`. Mails the user. `hash` null: none from now on, as the user signs in
     * otherwise. `account`: locked with the user, for what `within` does.
     */
    async setPassword(
      user: string,
      hash: string | null,
      from: ChangeSource,
      { keep = NOTHING_KEPT, within, account, identity }: NewPasswordOptions = {},
    ) {
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

    /** The token of a link to choose a password; the store keeps only a hash. */
    passwordToken: (user: string, livesMs: number, within?: Within) => tokenFor(resetOf, user, livesMs, within),
    /** Does the same for a link that signs in. */
    signInToken: (user: string, livesMs: number, within?: Within) => tokenFor(signInOf, user, livesMs, within),

    /** Removes the authenticator app, its recovery codes and all passkeys. Mails the user if there were any. */
    async forgetSecondFactor(user: string, from: ChangeSource, within?: Within) {
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

export type UserAdmin = ReturnType<typeof createUserAdmin>;

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
