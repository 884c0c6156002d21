import { Refusal } from '../../kernel/errors.ts';
import type { Store } from '../../store/store.ts';
import type { Mail } from '../mail.ts';
import { asked, type Cookies, cookiesOf, headersOf, type Meanings, type Visitor } from './calls.ts';
import type { Later } from './later.ts';
import type { Library } from './library.ts';
import type { Limits } from './limits.ts';
import { endLinks, type People, resetOf } from './people.ts';
import { isUsableEmail, refuseWeak } from './usable.ts';
import type { SignedIn } from './who.ts';

export interface PasswordService {
  /** Sends a link where the address is known; neither the answer nor its time tells whether it is. Throws Refusal. */
  forgot(visitor: Visitor, email: string): Promise<void>;
  /** Chooses a password by a link; ends every session of the user. */
  reset(visitor: Visitor, by: { token: string; password: string }): Promise<void>;
  /** Ends every other session of the user, and rotates this one. */
  change(visitor: Visitor, user: SignedIn, by: { current: string; password: string }): Promise<Cookies>;
  /** Asked again before what cannot be undone. Throws Refusal: `wrong_password`, or too many tries. */
  confirm(user: string, password: string): Promise<void>;
}

const HOUR_MS = 3_600_000;

const CHANGE: Meanings = { INVALID_PASSWORD: 'wrong_password', CREDENTIAL_ACCOUNT_NOT_FOUND: 'wrong_password' };
const RESET: Meanings = { INVALID_TOKEN: 'link_expired', USER_NOT_FOUND: 'link_expired' };

/** What tokens of links are made of; others are not looked up. */
const TOKEN = /^[0-9A-Za-z]{16,128}$/;

/** Counts the try of a token and refuses what cannot be one. */
export async function takeToken(limits: Limits, visitor: Visitor, token: string): Promise<string> {
  await limits.countIp('token-ip', visitor.ip);
  if (TOKEN.test(token)) return token;
  throw new Refusal('link_expired');
}

export interface LinkParts {
  readonly library: () => Promise<Library>;
  readonly limits: Limits;
  readonly people: People;
  readonly store: Pick<Store, 'users'>;
  readonly url: () => string;
  readonly mail: Mail | null;
  readonly later: Later;
}

export function createPasswords({ library, limits, people, store, url, mail, later }: LinkParts): PasswordService {
  return {
    async forgot(visitor, typed) {
      if (mail === null) {
        const sentence = 'This service sends no mail: ask its operator for a link (mailvet user reset-password).';
        throw new Refusal('not_found', sentence);
      }
      const email = typed.trim().toLowerCase();
      await limits.countIp('mail-ip', visitor.ip);
      await limits.count('mail', email);
      later.run('a link to choose a password was not sent', async () => {
        const user = isUsableEmail(email) ? await store.users.byEmail(email) : null;
        if (user === null) return;
        const token = await people.passwordToken(user.id, HOUR_MS);
        await mail.reset(user.email, `${url()}/reset-password#token=${token}`);
      });
    },

    async reset(visitor, { token: typed, password }) {
      const token = await takeToken(limits, visitor, typed);
      const { api, $context } = await library();
      const { internalAdapter } = await $context;
      const known = await internalAdapter.findVerificationValue(resetOf(token));
      const user = known === null ? null : await store.users.get(known.value);
      if (user === null) throw new Refusal('link_expired');
      refuseWeak(password, user.email);
      await asked(RESET, () => api.resetPassword({ body: { token, newPassword: password } }));
      await endLinks(await library(), user.id);
      await limits.clear('sign-in', user.email);
    },

    async change(visitor, user, { current, password }) {
      refuseWeak(password, user.email);
      await limits.count('password', user.id);
      const { api } = await library();
      const body = { currentPassword: current, newPassword: password, revokeOtherSessions: true };
      const { headers } = await asked(CHANGE, () =>
        api.changePassword({ body, headers: headersOf(visitor, 'session_token'), returnHeaders: true }),
      );
      await endLinks(await library(), user.id);
      await limits.clear('password', user.id);
      return { setCookie: cookiesOf(headers) };
    },

    async confirm(user, password) {
      await limits.count('password', user);
      const { internalAdapter, password: passwords } = await (await library()).$context;
      const hash = (await internalAdapter.findCredentialAccount(user))?.password;
      if (!hash || !(await passwords.verify({ hash, password })))
        throw new Refusal('wrong_password', undefined, { field: 'password' });
      await limits.clear('password', user);
    },
  };
}
