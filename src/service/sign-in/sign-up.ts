import type { Clock } from '../../kernel/clock.ts';
import { toDate } from '../../kernel/clock.ts';
import { Refusal } from '../../kernel/errors.ts';
import type { Store } from '../../store/store.ts';
import type { Mail } from '../mail.ts';
import type { Cookies, Visitor } from './calls.ts';
import type { Later } from './later.ts';
import type { Library } from './library.ts';
import type { Limits } from './limits.ts';
import { takeToken } from './password-change.ts';
import { newToken, type People } from './people.ts';
import type { SessionService } from './sessions.ts';
import { refuseWeak, usableEmail, usablePersonName } from './usable.ts';

/** Whether mail to an address would arrive, by our own engine; why not, as a sentence. Throws Refusal where we cannot tell. */
export type JudgeAddress = (email: string) => Promise<{ good: true } | { good: false; why: string }>;

export interface SignUpService {
  /** Nobody is told whether the address is known: whoever reads its mail is. Throws Refusal. */
  signUp(visitor: Visitor, by: { name: string; email: string; password: string }): Promise<void>;
  /** By the mail's link: the user, an account of their own, a session. */
  verifyEmail(visitor: Visitor, token: string): Promise<Cookies>;
}

export interface SignUpParts {
  readonly store: Pick<Store, 'users' | 'accounts' | 'members'>;
  readonly library: () => Promise<Library>;
  readonly limits: Limits;
  readonly people: People;
  readonly sessions: Pick<SessionService, 'signInAs'>;
  readonly judge: JudgeAddress;
  /** Null: strangers may not sign up. */
  readonly open: { readonly mail: Mail; readonly credits: number } | null;
  readonly clock: Clock;
  readonly url: () => string;
  readonly later: Later;
}

const DAY_MS = 86_400_000;
const pendingOf = (token: string): string => `sign-up:${token}`;

/** What waits for its link: no user yet, so nobody can take an address that is not theirs. `password` is a hash. */
interface Pending {
  readonly name: string;
  readonly email: string;
  readonly password: string;
}

export function createSignUp(parts: SignUpParts): SignUpService {
  const { store, library, limits, people, sessions, judge, open, clock, url, later } = parts;

  async function write(open: { mail: Mail }, pending: Pending): Promise<void> {
    const { mail } = open;
    if ((await store.users.byEmail(pending.email)) !== null) {
      await mail.known(pending.email, `${url()}/sign-in`);
      return;
    }
    const { internalAdapter } = await (await library()).$context;
    const token = newToken();
    const expiresAt = toDate(clock.now() + DAY_MS);
    const value = JSON.stringify(pending);
    await internalAdapter.createVerificationValue({ identifier: pendingOf(token), value, expiresAt });
    await mail.verify(pending.email, `${url()}/verify-email#token=${token}`);
  }

  return {
    async signUp(visitor, by) {
      if (open === null) throw new Refusal('not_found', 'Sign-up is closed: ask somebody for an invitation.');
      const name = usablePersonName(by.name);
      const email = usableEmail(by.email);
      refuseWeak(by.password, email);
      await limits.countIp('mail-ip', visitor.ip);
      await limits.count('mail', email);
      const judged = await judge(email);
      if (!judged.good) throw new Refusal('email_refused', judged.why, { field: 'email' });
      const { password: passwords } = await (await library()).$context;
      const password = await passwords.hash(by.password);
      later.run('the mail of a sign-up was not sent', () => write(open, { name, email, password }));
    },

    async verifyEmail(visitor, typed) {
      const token = await takeToken(limits, visitor, typed);
      const { internalAdapter } = await (await library()).$context;
      const found = await internalAdapter.consumeVerificationValue(pendingOf(token));
      if (found === null || open === null) throw new Refusal('link_expired');
      const pending = JSON.parse(found.value) as Pending;
      const user = await people.create(pending);
      if (user === null) throw new Refusal('link_expired', 'This address signs in already.');
      const { id: account } = await store.accounts.create({
        name: pending.name,
        plan: 'starter',
        rateLimit: null,
        credits: open.credits,
        note: 'Sign-up',
      });
      const by = { kind: 'user', id: user.id, name: user.email, ip: visitor.ip } as const;
      await store.members.add(account, user.id, 'owner', by);
      return sessions.signInAs(visitor, user.id);
    },
  };
}
