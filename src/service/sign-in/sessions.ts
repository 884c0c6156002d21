import type { Factor } from '../../kernel/audit-actions.ts';
import { type Clock, DAY_MS } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { SESSION_MAX_DAYS } from '../../kernel/facts/lifetimes.ts';
import type { SessionRecord, Store } from '../../store/store.ts';
import { parsePersonName } from '../names.ts';
import { type Devices, deviceName } from './devices.ts';
import type { Library } from './library.ts';
import {
  type BrowserRequest,
  type Cookies,
  callLibrary,
  cookiesOf,
  type ErrorMapping,
  hasCookie,
  headersOf,
} from './library-calls.ts';
import { inserting } from './library-inserts.ts';
import type { Limits } from './limits.ts';
import type { Sessions, SignedIn } from './session.ts';
import { endLinks } from './user-admin.ts';
import { recordedSignIn, type UserAudit } from './user-audit.ts';
import { isUsableEmail } from './validate.ts';

/** A session as its user sees it. */
export interface UserSession {
  readonly id: string;
  /** The browser claims this, such as `Firefox on Linux`. */
  readonly device: string;
  /** Where it was last seen; null: unknown. */
  readonly ip: string | null;
  readonly createdAt: number;
  readonly lastSeenAt: number;
}

export const toUserSession = ({ userAgent, ...session }: SessionRecord): UserSession => ({
  ...session,
  device: deviceName(userAgent) ?? 'Unknown device',
});

export function createSessionList(parts: {
  store: Pick<Store, 'signIns'>;
  library: () => Promise<Library>;
  audit: Pick<UserAudit, 'record'>;
}) {
  const { library, audit } = parts;
  const { signIns } = parts.store;
  return {
    /** Returns those of the user, the one seen last first; at most SESSIONS_LISTED. */
    async sessionsOf(user: SignedIn) {
      const all = await signIns.sessions(user.id);
      return all.map((one) => ({ ...toUserSession(one), current: one.id === user.session }));
    },
    /** False: the user has no such session. */
    revokeSession: (browser: BrowserRequest, user: SignedIn, id: string) =>
      signIns.change({ user: user.id, session: user.session }, async (change) => {
        if (!(await change.endSession(id))) return false;
        await audit.record(change, browser, 'user.signed_out', id === user.session ? {} : { others: 1 });
        return true;
      }),
    /** Ends other sessions of the user, password links, and sign-ins awaiting a second factor; returns how many. */
    async endOtherSessions(browser: BrowserRequest, user: SignedIn) {
      const opened = await library();
      return signIns.change({ user: user.id, session: user.session }, async (change) => {
        await endLinks(opened, user.id);
        const ended = await change.endSessions([user.session]);
        if (ended > 0) await audit.record(change, browser, 'user.signed_out', { others: ended });
        return ended;
      });
    },
  };
}

interface SessionParts {
  readonly library: () => Promise<Library>;
  readonly limits: Limits;
  readonly devices: Devices;
  readonly audit: UserAudit;
  readonly signIns: Pick<Store['signIns'], 'change'>;
  readonly clock: Clock;
}

const BEGIN_AGAIN = 'The sign-in took too long, or there were too many wrong codes. Start again with your password.';
const NO_CHALLENGE: ErrorMapping['x'] = ['sign_in_failed', BEGIN_AGAIN];

const PASSWORD: ErrorMapping = { INVALID_EMAIL_OR_PASSWORD: 'sign_in_failed', PASSWORD_TOO_LONG: 'sign_in_failed' };
const CHALLENGE_ERRORS: ErrorMapping = {
  INVALID_CODE: 'second_factor_failed',
  INVALID_BACKUP_CODE: 'second_factor_failed',
  TOTP_NOT_ENABLED: 'second_factor_failed',
  BACKUP_CODES_NOT_ENABLED: 'second_factor_failed',
  // Concurrent requests used the recovery codes; the other one won.
  CONFLICT: 'second_factor_failed',
  INVALID_TWO_FACTOR_COOKIE: NO_CHALLENGE,
  TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: NO_CHALLENGE,
};

export const ONE_TIME_CODE = /^\d{6}$/;
const factorOf = (code: string): Factor => (ONE_TIME_CODE.test(code) ? 'code' : 'recovery_code');

/** A new session of the user; `like`: what it is worth. Throws `link_expired` if the user no longer exists. */
export async function beginSession(
  { api }: Library,
  browser: BrowserRequest,
  user: string,
  like: Partial<Pick<SignedIn, 'withSecondFactor' | 'oidcSession'>> = {},
): Promise<Cookies> {
  const { withSecondFactor: secondFactor = false, oidcSession = null } = like;
  const body = { userId: user, secondFactor, oidcSession };
  const call = { body, headers: headersOf(browser), returnHeaders: true } as const;
  const { headers, response } = await api.beginSession(call);
  if (response === null) throw new ApiError('link_expired');
  return { setCookie: cookiesOf(headers) };
}

export function createSessions({ library, limits, devices, audit, signIns, clock }: SessionParts) {
  async function endSession(browser: BrowserRequest): Promise<Cookies> {
    if (!hasCookie(browser.cookie, 'session_token')) return { setCookie: [] };
    const { api } = await library();
    const { headers } = await api.signOut({ headers: headersOf(browser, 'session_token'), returnHeaders: true });
    return { setCookie: cookiesOf(headers) };
  }

  const fromBrowser: Sessions['fromBrowser'] = async (browser) => {
    if (!hasCookie(browser.cookie, 'session_token')) return null;
    const { api } = await library();
    const headers = headersOf(browser, 'session_token');
    const found = await callLibrary({ FAILED_TO_GET_SESSION: 'internal_error' }, () =>
      api.getSession({ headers, returnHeaders: true }),
    );
    if (found.response === null) return null;
    const { id: session, createdAt, secondFactor: withSecondFactor, oidcSession } = found.response.session;
    if (clock.now() - createdAt.getTime() >= SESSION_MAX_DAYS * DAY_MS) return null;
    const { id, email, name, operator, twoFactorEnabled } = found.response.user;
    const user = {
      id,
      session,
      email,
      name,
      operator: operator === true,
      secondFactor: twoFactorEnabled === true,
      withSecondFactor: withSecondFactor === true,
      oidcSession: oidcSession ?? null,
    };
    return { user, setCookie: cookiesOf(found.headers) };
  };

  /** Null: the user has no password. */
  async function hashOf({ $context }: Library, user: string): Promise<string | null> {
    const { internalAdapter } = await $context;
    return (await internalAdapter.findCredentialAccount(user))?.password ?? null;
  }

  async function signInByPassword(browser: BrowserRequest, email: string, password: string) {
    const from = await devices.originFor(browser, email);
    await limits.count('sign-in', email, from);
    const opened = await library();
    const { api } = opened;
    const { internalAdapter, password: passwords } = await opened.$context;
    if (!isUsableEmail(email)) {
      // Takes as long as for an existing address.
      await passwords.hash(password);
      throw new ApiError('sign_in_failed');
    }
    // The same queries whether or not the address has a user.
    const user = (await internalAdapter.findUserByEmail(email))?.user.id ?? '';
    const hash = await hashOf(opened, user);
    const { headers, response } = await inserting(
      'session',
      (insert, id) =>
        signIns.change({ user: id }, async (change) => {
          // Changed while it was verified. Under the user's lock: a change under way ends only the sessions that it
          // sees.
          if (id !== user || (await hashOf(opened, id)) !== hash) throw new ApiError('sign_in_failed');
          const begun = await insert();
          if (!change.user.secondFactor) await audit.record(change, browser, 'user.signed_in', { factor: 'password' });
          return begun;
        }),
      () =>
        callLibrary(PASSWORD, () =>
          api.signInEmail({ body: { email, password }, headers: headersOf(browser), returnHeaders: true }),
        ),
    );
    await limits.clear('sign-in', email);
    // Ends the browser's previous session.
    await endSession(browser);
    if ('twoFactorRedirect' in response) return { secondFactor: true, setCookie: cookiesOf(headers) };
    const device = await devices.remember(browser, response.user.id);
    return { secondFactor: false, setCookie: [...cookiesOf(headers), ...device] };
  }

  async function signInByCode(browser: BrowserRequest, user: string, headers: Headers, code: string) {
    const opened = await library();
    const { api } = opened;
    const factor = factorOf(code);
    // This comes before the challenge is used up, which a change of the password ends.
    const hash = await hashOf(opened, user);
    await limits.count('code', user, await devices.originOf(browser, user));
    const call = { body: { code }, headers, returnHeaders: true } as const;
    // Claimed before it is checked, so that of two requests with the same code only one can succeed.
    if (factor === 'code' && !(await limits.firstUse(user, code))) throw new ApiError('second_factor_failed');
    const done = await inserting(
      'session',
      (insert) =>
        signIns.change({ user }, async (change) => {
          if ((await hashOf(opened, user)) !== hash || !change.user.secondFactor)
            throw new ApiError('sign_in_failed', BEGIN_AGAIN);
          const begun = await insert();
          await audit.record(change, browser, 'user.signed_in', { factor });
          return begun;
        }),
      () =>
        callLibrary(CHALLENGE_ERRORS, async () =>
          factor === 'code' ? api.verifyTOTP(call) : api.verifyBackupCode(call),
        ),
    );
    await limits.clear('code', user);
    await endSession(browser);
    return { setCookie: [...cookiesOf(done.headers), ...(await devices.remember(browser, user))] };
  }

  return {
    fromBrowser,
    /** Ends the browser's session, for one that takes its place. */
    endSession,

    /** Checks the password. `secondFactor`: nobody is signed in yet, a code is required next. Throws ApiError. */
    async signIn(browser: BrowserRequest, { email: input, password }: { email: string; password: string }) {
      const email = input.trim().toLowerCase();
      const attempt = { user: { email }, by: 'anonymous', from: browser, factor: 'password' } as const;
      return audit.attempt(attempt, () => signInByPassword(browser, email, password));
    },

    /** The code of an authenticator app, or a recovery code, after `signIn`. Throws ApiError. */
    async signInCode(browser: BrowserRequest, input: string) {
      const { api } = await library();
      const headers = headersOf(browser, 'two_factor');
      const user = await api.challengedUser({ headers });
      if (user === null) throw new ApiError('sign_in_failed', BEGIN_AGAIN);
      const code = input.replaceAll(/\s/g, '');
      const attempt = { user: { id: user }, by: 'anonymous', from: browser, factor: factorOf(code) } as const;
      return audit.attempt(attempt, () => signInByCode(browser, user, headers, code));
    },

    async signOut(browser: BrowserRequest) {
      const found = await fromBrowser(browser);
      if (found !== null)
        await signIns.change({ user: found.user.id }, async (change) => {
          if (await change.endSession(found.user.session)) await audit.record(change, browser, 'user.signed_out');
        });
      return endSession(browser);
    },

    /** Ends all sessions of the user, including this one, all password links, and sign-ins awaiting a second factor. */
    async signOutEverywhere(browser: BrowserRequest, user: SignedIn) {
      const opened = await library();
      await signIns.change({ user: user.id, session: user.session }, async (change) => {
        await change.endSessions();
        await endLinks(opened, user.id);
        await audit.record(change, browser, 'user.signed_out', { everywhere: true });
      });
      return endSession(browser);
    },

    async rename(user: Pick<SignedIn, 'id'>, name: string) {
      const { internalAdapter } = await (await library()).$context;
      await internalAdapter.updateUser(user.id, { name: parsePersonName(name) });
    },

    /** For a user authenticated by a link: starts a session and ends the browser's previous one. */
    async signInAs(browser: BrowserRequest, user: string) {
      const opened = await library();
      const { setCookie } = await recordedSignIn({ signIns, audit }, { browser, user, factor: 'link' }, () =>
        beginSession(opened, browser, user),
      );
      await endSession(browser);
      return { setCookie: [...setCookie, ...(await devices.remember(browser, user))] };
    },
  };
}

export type SessionService = ReturnType<typeof createSessions>;
