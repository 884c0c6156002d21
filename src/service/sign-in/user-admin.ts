import { mailboxOf } from '../../engine/address/mailbox.ts';
import type { Clock } from '../../kernel/clock.ts';
import { toDate } from '../../kernel/clock.ts';
import { randomToken } from '../../kernel/ids.ts';
import type { Store, User } from '../../store/store.ts';
import type { Library } from './library.ts';
import { endSecondFactor } from './second-factor-sessions.ts';

/** 190 bits, too long to guess. */
const TOKEN_LENGTH = 32;
export const newToken = (): string => randomToken(TOKEN_LENGTH);

/** What survives a new password. */
export interface KeptAccess {
  readonly sessions: boolean;
  readonly passkeys: boolean;
}
const NOTHING_KEPT: KeptAccess = { sessions: false, passkeys: false };

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
   * For whoever has proven to own the address: ends all links of the user, and their sessions and passkeys unless they are
   * kept. Whoever used the address before it was proven keeps nothing, and no second factor either.
   */
  setPassword(user: string, hash: string, keep?: KeptAccess): Promise<void>;
  /** The token of a link to choose a password; the store keeps only a hash. */
  passwordToken(user: string, livesMs: number): Promise<string>;
  /** Removes the authenticator app, its recovery codes and all passkeys. */
  forgetSecondFactor(user: string): Promise<void>;
}

export function createUserAdmin(parts: {
  store: Pick<Store, 'users'>;
  library: () => Promise<Library>;
  clock: Clock;
}): UserAdmin {
  const { library, clock } = parts;
  const { users } = parts.store;

  async function forgetSecondFactor(user: string): Promise<void> {
    const { adapter, internalAdapter } = await (await library()).$context;
    const where = [{ field: 'userId', value: user }];
    await internalAdapter.updateUser(user, { twoFactorEnabled: false });
    await adapter.deleteMany({ model: 'twoFactor', where });
    await adapter.deleteMany({ model: 'passkey', where });
    await endSecondFactor({ adapter }, user);
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
          // Created concurrently.
          if ((await users.byEmail(email)) !== null) return null;
          throw error;
        });
      if (made === null) return null;
      if (!(await users.claimMailbox(made.id, mailbox)) && alone) {
        // Claimed concurrently.
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

    async setPassword(user, hash, keep = NOTHING_KEPT) {
      const { adapter, internalAdapter } = await (await library()).$context;
      const proven = (await users.get(user))?.emailVerified === true;
      const kept = proven ? keep : NOTHING_KEPT;
      if (!proven) await forgetSecondFactor(user);
      if (await internalAdapter.findCredentialAccount(user)) await internalAdapter.updatePassword(user, hash);
      else
        await internalAdapter.createAccount({
          userId: user,
          providerId: 'credential',
          accountId: user,
          password: hash,
        });
      if (!kept.sessions) await internalAdapter.deleteUserSessions(user);
      if (!kept.passkeys) await adapter.deleteMany({ model: 'passkey', where: [{ field: 'userId', value: user }] });
      if (kept.sessions) await endSecondFactor({ adapter }, user);
      await endLinks(await library(), user);
      if (!proven) await internalAdapter.updateUser(user, { emailVerified: true });
    },

    async passwordToken(user, livesMs) {
      const { internalAdapter } = await (await library()).$context;
      const token = newToken();
      const expiresAt = toDate(clock.now() + livesMs);
      await internalAdapter.createVerificationValue({ identifier: resetOf(token), value: user, expiresAt });
      return token;
    },

    forgetSecondFactor,
  };
}

/** The identifier under which the library stores the token of a password link. */
export const resetOf = (token: string): string => `reset-password:${token}`;

/** Ends password links and sign-ins awaiting a second factor, which must not survive a password change. */
export async function endLinks(library: Library, user: string): Promise<void> {
  const { adapter } = await library.$context;
  await adapter.deleteMany({ model: 'verification', where: [{ field: 'value', value: user }] });
}
