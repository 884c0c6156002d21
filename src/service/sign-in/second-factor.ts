import type { Factor } from '../../kernel/audit-actions.ts';
import { ApiError } from '../../kernel/errors.ts';
import type { Store } from '../../store/store.ts';
import type { Devices } from './devices.ts';
import type { Library } from './library.ts';
import {
  type BrowserRequest,
  type Cookies,
  callLibrary,
  cookiesOf,
  type ErrorMapping,
  headersOf,
} from './library-calls.ts';
import type { Limits } from './limits.ts';
import { type NotifyUser, sourceOf } from './notices.ts';
import type { PasswordService } from './password-change.ts';
import { endSecondFactor } from './second-factor-sessions.ts';
import type { SignedIn } from './session.ts';
import { beginSession } from './sessions.ts';
import { removeAuthenticator } from './user-admin.ts';
import type { UserAudit } from './user-audit.ts';

export interface SecondFactorService {
  /**
   * A secret for an authenticator app, with recovery codes, returned only here; takes effect once a code confirms it.
   */
  beginTotp(browser: BrowserRequest, user: SignedIn, password: string): Promise<TotpSecret>;
  /** Mails the user, as `removeTotp`. */
  confirmTotp(browser: BrowserRequest, user: SignedIn, code: string): Promise<Cookies>;
  removeTotp(browser: BrowserRequest, user: SignedIn, password: string): Promise<Cookies>;
}

interface TotpSecret {
  /** `otpauth://totp/…` */
  readonly uri: string;
  /** Base32. */
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
}

const BEGIN: ErrorMapping = { INVALID_PASSWORD: 'wrong_password', TOTP_ALREADY_ENABLED: 'second_factor_exists' };
const CONFIRM: ErrorMapping = {
  INVALID_CODE: 'wrong_code',
  TOTP_NOT_ENABLED: ['wrong_code', 'There is no secret to confirm. Start again with a new one.'],
};

export function createSecondFactor(parts: {
  store: Pick<Store, 'signIns'>;
  library: () => Promise<Library>;
  limits: Limits;
  devices: Devices;
  audit: UserAudit;
  notify: NotifyUser;
  confirm: PasswordService['confirm'];
}): SecondFactorService {
  const { library, limits, devices, audit, notify, confirm } = parts;
  const { signIns } = parts.store;
  const attempt = <T>(browser: BrowserRequest, { id }: SignedIn, factor: Factor, work: () => Promise<T>): Promise<T> =>
    audit.attempt({ user: { id }, by: 'self', from: browser, factor }, work);

  async function beginTotp(browser: BrowserRequest, user: SignedIn, password: string): Promise<TotpSecret> {
    await limits.countUser('password', user.id);
    const { api } = await library();
    const body = { password, method: 'totp' } as const;
    const made = await callLibrary(BEGIN, () =>
      api.enableTwoFactor({ body, headers: headersOf(browser, 'session_token') }),
    );
    await limits.clear('password', user.id);
    if (made.method !== 'totp') throw new TypeError('not a TOTP secret');
    const secret = new URL(made.totpURI).searchParams.get('secret');
    if (secret === null) throw new TypeError('the URI has no secret');
    return { uri: made.totpURI, secret, recoveryCodes: made.backupCodes };
  }

  async function confirmTotp(browser: BrowserRequest, user: SignedIn, typed: string): Promise<Cookies> {
    await limits.count('code', user.id, await devices.originOf(browser, user.id));
    const { api } = await library();
    const code = typed.replaceAll(/\s/g, '');
    if (!(await limits.firstUse(user.id, code))) throw new ApiError('wrong_code');
    const call = { body: { code }, headers: headersOf(browser, 'session_token'), returnHeaders: true } as const;
    const setCookie = await signIns.change({ user: user.id, session: user.session }, async (change) => {
      // Rotates the session.
      const { headers } = await callLibrary(CONFIRM, () => api.verifyTOTP(call));
      if (!change.user.secondFactor) await notify(change, 'second_factor_on', sourceOf(browser));
      await audit.record(change, browser, 'user.second_factor_enabled');
      return cookiesOf(headers);
    });
    await limits.clear('code', user.id);
    return { setCookie };
  }

  async function removeTotp(browser: BrowserRequest, user: SignedIn, password: string): Promise<Cookies> {
    await confirm(user.id, password, browser);
    const opened = await library();
    const context = await opened.$context;
    return signIns.change({ user: user.id, session: user.session }, async (change) => {
      await removeAuthenticator(opened, user.id);
      if (change.user.secondFactor) await notify(change, 'second_factor_off', sourceOf(browser));
      // The same session, rotated.
      await change.endSession(user.session);
      const next = await beginSession(opened, browser, user.id, user.withSecondFactor);
      await endSecondFactor(context, user.id);
      await audit.record(change, browser, 'user.second_factor_disabled');
      return next;
    });
  }

  return {
    async beginTotp(browser, user, password) {
      if (user.secondFactor) throw new ApiError('second_factor_exists');
      return attempt(browser, user, 'password', () => beginTotp(browser, user, password));
    },
    confirmTotp: (browser, user, code) => attempt(browser, user, 'code', () => confirmTotp(browser, user, code)),
    removeTotp,
  };
}
