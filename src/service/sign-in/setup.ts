import type { Clock } from '../../kernel/clock.ts';
import { Refusal } from '../../kernel/errors.ts';
import { sha256Hex } from '../../kernel/ids.ts';
import type { Account, Store } from '../../store/store.ts';
import { FIRST_ACCOUNT } from '../first-account.ts';
import type { Cookies, Visitor } from './calls.ts';
import type { Library } from './library.ts';
import type { Limits } from './limits.ts';
import { takeToken } from './password-change.ts';
import { newToken, type People } from './people.ts';
import type { SessionService } from './sessions.ts';
import { refuseWeak, usableEmail, usablePersonName } from './usable.ts';

export interface SetupService {
  /** The token of a new one-time link, while nobody can sign in; else null. An earlier one is void. */
  offer(): Promise<string | null>;
  /** Whoever has the link runs the host: they become owner of the oldest account, and operator. Throws Refusal. */
  use(visitor: Visitor, by: { token: string; name: string; email: string; password: string }): Promise<Cookies>;
}

export interface SetupParts {
  readonly store: Pick<Store, 'users' | 'accounts' | 'members'>;
  readonly library: () => Promise<Library>;
  readonly limits: Limits;
  readonly people: People;
  readonly sessions: Pick<SessionService, 'signInAs'>;
  readonly clock: Clock;
}

const LIVES_MS = 3_600_000;

export function createSetup({ store, library, limits, people, sessions, clock }: SetupParts): SetupService {
  // In this process only: it dies with it.
  let link: { readonly hash: string; readonly endsAt: number } | null = null;

  /** Takes the link out of reach of any other request, at once. */
  function take(token: string): NonNullable<typeof link> {
    const taken = link;
    if (taken === null || taken.hash !== sha256Hex(token) || taken.endsAt <= clock.now())
      throw new Refusal('link_expired');
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
    const user = await people.create({ ...by, password: await passwords.hash(by.password) });
    if (user === null) throw new Refusal('link_expired');
    try {
      await store.users.setOperator(user.id, true);
      const { id } = await oldestAccount();
      // Last: an owner could not be taken back.
      await store.members.add(id, user.id, 'owner', { kind: 'user', id: user.id, name: user.email, ip });
      return user.id;
    } catch (error) {
      await store.users.remove(user.id);
      throw error;
    }
  }

  return {
    async offer() {
      if ((await store.users.count()) > 0) return null;
      const token = newToken();
      link = { hash: sha256Hex(token), endsAt: clock.now() + LIVES_MS };
      return token;
    },

    async use(visitor, { token: typed, name, email, password }) {
      const token = await takeToken(limits, visitor, typed);
      const owner = { name: usablePersonName(name), email: usableEmail(email), password };
      refuseWeak(password, owner.email);
      const taken = take(token);
      try {
        if ((await store.users.count()) > 0) throw new Refusal('link_expired');
        return await sessions.signInAs(visitor, await makeOwner(owner, visitor.ip));
      } catch (error) {
        // Nobody can sign in yet, so the link is still needed.
        if (!(error instanceof Refusal) || error.status >= 500) link = taken;
        throw error;
      }
    },
  };
}
