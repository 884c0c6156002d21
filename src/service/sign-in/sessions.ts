import { Refusal } from '../../kernel/errors.ts';
import { asked, type Cookies, cookiesOf, hasCookie, headersOf, type Meanings, type Visitor } from './calls.ts';
import type { Library } from './library.ts';
import type { Limits } from './limits.ts';
import { endLinks } from './people.ts';
import { isUsableEmail, usablePersonName } from './usable.ts';
import type { Sessions, SignedIn } from './who.ts';

export interface SessionService extends Sessions {
  /** By password. `secondFactor`: nobody is signed in yet, a code is asked next. Throws Refusal. */
  signIn(visitor: Visitor, by: { email: string; password: string }): Promise<Cookies & { secondFactor: boolean }>;
  /** The code of an authenticator app, or a recovery code, after `signIn`. Throws Refusal. */
  signInCode(visitor: Visitor, code: string): Promise<Cookies>;
  signOut(visitor: Visitor): Promise<Cookies>;
  /** Every session of the user, this one too; links to choose a password, and what waits for a second factor. */
  signOutEverywhere(visitor: Visitor, user: SignedIn): Promise<Cookies>;
  rename(user: SignedIn, name: string): Promise<void>;
  /** For somebody who proved who they are by a link: a new session, and the end of the one that the browser had. */
  signInAs(visitor: Visitor, user: string): Promise<Cookies>;
}

export interface SessionParts {
  readonly library: () => Promise<Library>;
  readonly limits: Limits;
}

const BEGIN_AGAIN = 'The sign-in took too long, or there were too many wrong codes: begin again with the password.';
const NO_CHALLENGE: Meanings['x'] = ['sign_in_failed', BEGIN_AGAIN];

const PASSWORD: Meanings = { INVALID_EMAIL_OR_PASSWORD: 'sign_in_failed', PASSWORD_TOO_LONG: 'sign_in_failed' };
const CODE: Meanings = {
  INVALID_CODE: 'second_factor_failed',
  INVALID_BACKUP_CODE: 'second_factor_failed',
  TOTP_NOT_ENABLED: 'second_factor_failed',
  BACKUP_CODES_NOT_ENABLED: 'second_factor_failed',
  // Two requests used the recovery codes at once; one of them did.
  CONFLICT: 'second_factor_failed',
  INVALID_TWO_FACTOR_COOKIE: NO_CHALLENGE,
  TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: NO_CHALLENGE,
};

const ONE_TIME_CODE = /^\d{6}$/;

export function createSessions({ library, limits }: SessionParts): SessionService {
  async function signOut(visitor: Visitor): Promise<Cookies> {
    if (!hasCookie(visitor.cookie, 'session_token')) return { setCookie: [] };
    const { api } = await library();
    const { headers } = await api.signOut({ headers: headersOf(visitor, 'session_token'), returnHeaders: true });
    return { setCookie: cookiesOf(headers) };
  }

  return {
    async who(cookie) {
      if (!hasCookie(cookie, 'session_token')) return null;
      const { api } = await library();
      const headers = headersOf({ cookie, origin: undefined }, 'session_token');
      const found = await asked({ FAILED_TO_GET_SESSION: 'internal_error' }, () =>
        api.getSession({ headers, returnHeaders: true }),
      );
      if (found.response === null) return null;
      const { id, email, name, operator, twoFactorEnabled } = found.response.user;
      const user = { id, email, name, operator: operator === true, secondFactor: twoFactorEnabled === true };
      return { user, setCookie: cookiesOf(found.headers) };
    },

    async signIn(visitor, { email: typed, password }) {
      const email = typed.trim().toLowerCase();
      await limits.countIp('sign-in-ip', visitor.ip);
      await limits.count('sign-in', email);
      const { api, $context } = await library();
      if (!isUsableEmail(email)) {
        // As much work as for an address that the library would look up.
        await (await $context).password.hash(password);
        throw new Refusal('sign_in_failed');
      }
      const { headers, response } = await asked(PASSWORD, () =>
        api.signInEmail({ body: { email, password }, headers: headersOf(visitor), returnHeaders: true }),
      );
      await limits.clear('sign-in', email);
      // The session that the browser had is worth nothing now that it has another.
      await signOut(visitor);
      return { secondFactor: 'twoFactorRedirect' in response, setCookie: cookiesOf(headers) };
    },

    async signInCode(visitor, typed) {
      const { api } = await library();
      const headers = headersOf(visitor, 'two_factor');
      const user = await api.challengedUser({ headers });
      if (user === null) throw new Refusal('sign_in_failed', BEGIN_AGAIN);
      await limits.count('code', user);
      const code = typed.replaceAll(/\s/g, '');
      const call = { body: { code }, headers, returnHeaders: true } as const;
      // Claimed before it is looked at, so that of two requests with one code only one can succeed.
      if (ONE_TIME_CODE.test(code) && !(await limits.firstUse(user, code))) throw new Refusal('second_factor_failed');
      const done = await asked(CODE, async () =>
        ONE_TIME_CODE.test(code) ? api.verifyTOTP(call) : api.verifyBackupCode(call),
      );
      await limits.clear('code', user);
      await signOut(visitor);
      return { setCookie: cookiesOf(done.headers) };
    },

    signOut,

    async signOutEverywhere(visitor, user) {
      const { internalAdapter } = await (await library()).$context;
      await internalAdapter.deleteUserSessions(user.id);
      await endLinks(await library(), user.id);
      return signOut(visitor);
    },

    async rename(user, name) {
      const { internalAdapter } = await (await library()).$context;
      await internalAdapter.updateUser(user.id, { name: usablePersonName(name) });
    },

    async signInAs(visitor, user) {
      const { api } = await library();
      const { headers, response } = await api.beginSession({ body: { userId: user }, returnHeaders: true });
      if (response === null) throw new Refusal('link_expired');
      await signOut(visitor);
      return { setCookie: cookiesOf(headers) };
    },
  };
}
