import type { Clock } from '../../kernel/clock.ts';
import { toDate } from '../../kernel/clock.ts';
import { randomToken } from '../../kernel/ids.ts';
import type { Store, User } from '../../store/store.ts';
import type { Library } from './library.ts';

/** 190 bits: what is behind a link cannot be guessed. */
const TOKEN_LENGTH = 32;
export const newToken = (): string => randomToken(TOKEN_LENGTH);

/** People, as others than themselves make and change them: the command line, and whoever follows a link. */
export interface People {
  /**
   * A user whose address is taken as proved. `email` and `name` as usable.ts made them; a `password` is a hash. Null
   * where the address is known.
   */
  create(input: { email: string; name: string; password: string | null }): Promise<User | null>;
  /** Ends every session and link of the user. */
  setPassword(user: string, password: string): Promise<void>;
  /** The token of a link to choose a password; only its hash is kept. */
  passwordToken(user: string, livesMs: number): Promise<string>;
  /** No code is asked any more, and no passkey is known. */
  forgetSecondFactor(user: string): Promise<void>;
}

export function createPeople(parts: {
  store: Pick<Store, 'users'>;
  library: () => Promise<Library>;
  clock: Clock;
}): People {
  const { library, clock } = parts;
  const { users } = parts.store;
  return {
    async create({ email, name, password }) {
      if ((await users.byEmail(email)) !== null) return null;
      const { internalAdapter } = await (await library()).$context;
      const made = await internalAdapter
        .createUser({ email, name, emailVerified: true }, { method: 'email-password' })
        .catch(async (error: unknown) => {
          // Somebody else was faster.
          if ((await users.byEmail(email)) !== null) return null;
          throw error;
        });
      if (made === null) return null;
      if (password !== null) {
        const credential = { userId: made.id, providerId: 'credential', accountId: made.id, password };
        await internalAdapter.linkAccount(credential).catch(async (error: unknown) => {
          await users.remove(made.id);
          throw error;
        });
      }
      return users.get(made.id);
    },

    async setPassword(user, password) {
      const { internalAdapter, password: passwords } = await (await library()).$context;
      const hash = await passwords.hash(password);
      if (await internalAdapter.findCredentialAccount(user)) await internalAdapter.updatePassword(user, hash);
      else
        await internalAdapter.createAccount({
          userId: user,
          providerId: 'credential',
          accountId: user,
          password: hash,
        });
      await internalAdapter.deleteUserSessions(user);
      await endLinks(await library(), user);
    },

    async passwordToken(user, livesMs) {
      const { internalAdapter } = await (await library()).$context;
      const token = newToken();
      const expiresAt = toDate(clock.now() + livesMs);
      await internalAdapter.createVerificationValue({ identifier: resetOf(token), value: user, expiresAt });
      return token;
    },

    async forgetSecondFactor(user) {
      const { adapter, internalAdapter } = await (await library()).$context;
      const where = [{ field: 'userId', value: user }];
      await internalAdapter.updateUser(user, { twoFactorEnabled: false });
      await adapter.deleteMany({ model: 'twoFactor', where });
      await adapter.deleteMany({ model: 'passkey', where });
    },
  };
}

/** The name under which the library keeps the token of a link to choose a password. */
export const resetOf = (token: string): string => `reset-password:${token}`;

/** Links to choose a password, and sign-ins that wait for a second factor: of no use once the password is another. */
export async function endLinks(library: Library, user: string): Promise<void> {
  const { adapter } = await library.$context;
  await adapter.deleteMany({ model: 'verification', where: [{ field: 'value', value: user }] });
}
