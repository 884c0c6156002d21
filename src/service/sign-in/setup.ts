import { type Clock, HOUR_MS } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { SETUP_LINK_HOURS } from '../../kernel/facts/lifetimes.ts';
import { FIRST_ACCOUNT } from '../../kernel/facts/plans.ts';
import { sha256Hex } from '../../kernel/ids.ts';
import type { Account, Store } from '../../store/store.ts';
import { parsePersonName } from '../names.ts';
import type { Library } from './library.ts';
import type { BrowserRequest, Cookies } from './library-calls.ts';
import type { Limits } from './limits.ts';
import { admitToken } from './password-change.ts';
import type { SessionService } from './sessions.ts';
import { newToken, type UserAdmin } from './user-admin.ts';
import { parseEmail, rejectWeakPassword } from './validate.ts';

export interface SetupService {
  /** Whether there is no user. */
  wanted(): Promise<boolean>;
  /** The token of a new one-time link, which replaces any earlier one; null if there already is a user. */
  offer(): Promise<string | null>;
  /**
   * Only someone with access to the host has the link: they become owner of the oldest account, and operator. Throws
   * ApiError.
   */
  use(browser: BrowserRequest, by: { token: string; name: string; email: string; password: string }): Promise<Cookies>;
}

interface SetupParts {
  readonly store: Pick<Store, 'users' | 'accounts' | 'members'>;
  readonly library: () => Promise<Library>;
  readonly limits: Limits;
  readonly userAdmin: UserAdmin;
  readonly sessions: Pick<SessionService, 'signInAs'>;
  readonly clock: Clock;
}

export function createSetup({ store, library, limits, userAdmin, sessions, clock }: SetupParts): SetupService {
  // In memory only: the link ends with the process.
  let link: { readonly hash: string; readonly endsAt: number } | null = null;

  /** Consumes the link synchronously, so that no other request can use it. */
  function take(token: string): NonNullable<typeof link> {
    const taken = link;
    if (taken === null || taken.hash !== sha256Hex(token) || taken.endsAt <= clock.now())
      throw new ApiError('link_expired');
    link = null;
    return taken;
  }

  async function oldestAccount(): Promise<Account> {
    const accounts = await store.accounts.list();
    const oldest = accounts.reduce<Account | null>(
      (found, account) => (found === null || account.createdAt < found.createdAt ? account : found),
      null,
    );
    return oldest ?? store.accounts.create(FIRST_ACCOUNT);
  }

  async function makeOwner(by: { name: string; email: string; password: string }, ip: string): Promise<string> {
    const { password: passwords } = await (await library()).$context;
    const user = await userAdmin.create({ ...by, password: await passwords.hash(by.password) });
    if (user === null) throw new ApiError('link_expired');
    try {
      await store.users.setOperator(user.id, true);
      const { id } = await oldestAccount();
      // Last, because adding an owner cannot be undone.
      await store.members.add(id, user.id, 'owner', { kind: 'user', id: user.id, name: user.email, ip });
      return user.id;
    } catch (error) {
      await store.users.remove(user.id);
      throw error;
    }
  }

  // Once there was one, a link is of no use to others.
  let hasUsers = false;
  async function wanted(): Promise<boolean> {
    hasUsers ||= (await store.users.count()) > 0;
    return !hasUsers;
  }

  return {
    wanted,

    async offer() {
      if (!(await wanted())) return null;
      const token = newToken();
      link = { hash: sha256Hex(token), endsAt: clock.now() + SETUP_LINK_HOURS * HOUR_MS };
      return token;
    },

    async use(browser, { token: typed, name, email, password }) {
      const token = await admitToken(limits, browser, typed);
      const owner = { name: parsePersonName(name), email: parseEmail(email), password };
      await rejectWeakPassword(password, { ...owner, accounts: [FIRST_ACCOUNT.name] });
      const taken = take(token);
      try {
        if ((await store.users.count()) > 0) throw new ApiError('link_expired');
        return await sessions.signInAs(browser, await makeOwner(owner, browser.ip));
      } catch (error) {
        // There still is no user, so restore the link.
        if (!(error instanceof ApiError) || error.status >= 500) link = taken;
        throw error;
      }
    },
  };
}
