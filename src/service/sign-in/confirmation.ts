import { ApiError } from '../../kernel/errors.ts';
import type { Devices } from './devices.ts';
import type { Library } from './library.ts';
import { type BrowserRequest, callLibrary, type ErrorMapping, headersOf } from './library-calls.ts';
import type { Limits } from './limits.ts';
import type { PasskeyService } from './passkeys.ts';
import type { PasswordService } from './password-change.ts';
import type { SignedIn } from './session.ts';
import type { UserAudit } from './user-audit.ts';

/** One of these. `credential`: of one of the user's passkeys, in the JSON form used by browsers. */
interface Proof {
  readonly password?: string;
  readonly code?: string;
  readonly credential?: Readonly<Record<string, unknown>>;
}

/**
 * Confirms that a signed-in user is at the keyboard, not just somebody with the session. Throws ApiError:
 * `missing_parameter`, `wrong_password`, `wrong_code`, `passkey_refused`, or too many attempts.
 */
export type ConfirmUser = (browser: BrowserRequest, user: SignedIn, proof: Proof) => Promise<void>;

const CODE: ErrorMapping = {
  INVALID_CODE: 'wrong_code',
  INVALID_BACKUP_CODE: 'wrong_code',
  TOTP_NOT_ENABLED: 'wrong_code',
  BACKUP_CODES_NOT_ENABLED: 'wrong_code',
  // Concurrent requests used the recovery codes; the other one won.
  CONFLICT: 'wrong_code',
};

const ONE_TIME_CODE = /^\d{6}$/;

export function createConfirmation(parts: {
  library: () => Promise<Library>;
  limits: Limits;
  devices: Devices;
  audit: UserAudit;
  passwords: Pick<PasswordService, 'confirm'>;
  passkeys: Pick<PasskeyService, 'confirm'>;
}): ConfirmUser {
  const { library, limits, devices, audit, passwords, passkeys } = parts;

  /** Of the authenticator app, or a recovery code, which is used up. */
  async function confirmCode(browser: BrowserRequest, user: SignedIn, typed: string): Promise<void> {
    const off = 'Two-factor authentication is off. Use your password.';
    if (!user.secondFactor) throw new ApiError('wrong_code', off, { field: 'code' });
    await limits.count('code', user.id, await devices.originOf(browser, user.id));
    const code = typed.replaceAll(/\s/g, '');
    const isOneTime = ONE_TIME_CODE.test(code);
    if (isOneTime && !(await limits.firstUse(user.id, code))) throw new ApiError('wrong_code');
    const { api } = await library();
    const call = { body: { code }, headers: headersOf(browser, 'session_token') };
    await callLibrary(CODE, async () => (isOneTime ? api.verifyTOTP(call) : api.verifyBackupCode(call)));
    await limits.clear('code', user.id);
  }
  return async (browser, user, { password, code, credential }) => {
    if (password !== undefined) return passwords.confirm(user.id, password, browser);
    if (code !== undefined)
      return audit.attempt({ user: { id: user.id }, by: 'self', from: browser, factor: 'code' }, () =>
        confirmCode(browser, user, code),
      );
    if (credential !== undefined) return passkeys.confirm(browser, user, credential);
    throw new ApiError('missing_parameter', 'password, code or credential is missing.', { field: 'password' });
  };
}
