import { Refusal } from '../../kernel/errors.ts';
import { asked, type Cookies, cookiesOf, headersOf, type Meanings, type Visitor } from './calls.ts';
import type { Library } from './library.ts';
import type { Limits } from './limits.ts';
import type { SignedIn } from './who.ts';

export interface SecondFactorService {
  /** A secret for an authenticator app and recovery codes, shown this once; in force when a code confirms it. */
  beginTotp(visitor: Visitor, user: SignedIn, password: string): Promise<TotpSecret>;
  confirmTotp(visitor: Visitor, user: SignedIn, code: string): Promise<Cookies>;
  removeTotp(visitor: Visitor, user: SignedIn, password: string): Promise<Cookies>;
}

export interface TotpSecret {
  /** `otpauth://totp/…` */
  readonly uri: string;
  /** Base32. */
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
}

const BEGIN: Meanings = { INVALID_PASSWORD: 'wrong_password', TOTP_ALREADY_ENABLED: 'second_factor_exists' };
const CONFIRM: Meanings = {
  INVALID_CODE: 'wrong_code',
  TOTP_NOT_ENABLED: ['wrong_code', 'There is no secret to confirm: begin with a new one.'],
};

export function createSecondFactor(parts: { library: () => Promise<Library>; limits: Limits }): SecondFactorService {
  const { library, limits } = parts;
  return {
    async beginTotp(visitor, user, password) {
      if (user.secondFactor) throw new Refusal('second_factor_exists');
      await limits.count('password', user.id);
      const { api } = await library();
      const body = { password, method: 'totp' } as const;
      const made = await asked(BEGIN, () =>
        api.enableTwoFactor({ body, headers: headersOf(visitor, 'session_token') }),
      );
      await limits.clear('password', user.id);
      if (made.method !== 'totp') throw new TypeError('a secret was asked for');
      const secret = new URL(made.totpURI).searchParams.get('secret');
      if (secret === null) throw new TypeError('the URI has no secret');
      return { uri: made.totpURI, secret, recoveryCodes: made.backupCodes };
    },

    async confirmTotp(visitor, user, typed) {
      await limits.count('code', user.id);
      const { api } = await library();
      const code = typed.replaceAll(/\s/g, '');
      if (!(await limits.firstUse(user.id, code))) throw new Refusal('wrong_code');
      const { headers } = await asked(CONFIRM, () =>
        api.verifyTOTP({ body: { code }, headers: headersOf(visitor, 'session_token'), returnHeaders: true }),
      );
      await limits.clear('code', user.id);
      return { setCookie: cookiesOf(headers) };
    },

    async removeTotp(visitor, user, password) {
      await limits.count('password', user.id);
      const { api } = await library();
      const { headers } = await asked(BEGIN, () =>
        api.disableTwoFactor({
          body: { password },
          headers: headersOf(visitor, 'session_token'),
          returnHeaders: true,
        }),
      );
      await limits.clear('password', user.id);
      return { setCookie: cookiesOf(headers) };
    },
  };
}
