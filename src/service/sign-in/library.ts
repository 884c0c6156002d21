/**
 * The sign-in library, set up for us. Its import takes a tenth of a second and more, so this file is imported at the
 * first request that needs it, never at the start.
 */
import { passkey } from '@better-auth/passkey';
// The `minimal` entry takes no Kysely of ours, and saves a tenth of the time.
import { betterAuth } from 'better-auth';
import { APIError } from 'better-auth/api';
import { twoFactor } from 'better-auth/plugins/two-factor';
import type { Clock } from '../../kernel/clock.ts';
import { newId, randomToken } from '../../kernel/ids.ts';
import type { Logger } from '../../kernel/log.ts';
import type { Store } from '../../store/store.ts';
import { ownEndpoints } from './own-endpoints.ts';
import { hashPassword, verifyPassword } from './passwords.ts';
import { relyingParty } from './relying-party.ts';
import { PASSWORD_MAX, PASSWORD_MIN } from './usable.ts';

export const SESSION_SECONDS = 7 * 86_400;
const DAY_SECONDS = 86_400;
const RESET_SECONDS = 3600;
const ERROR_MAX = 300;

export type Library = ReturnType<typeof openLibrary>;

export interface LibraryParts {
  readonly database: Store['authDatabase'];
  readonly secret: string;
  /** Of the dashboard, without a slash at its end. */
  readonly publicUrl: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Only `api` of it is used, called with headers of our own making: the library sees no request. So its own rate limits
 * (per process, by path), CSRF and origin checks have nothing to look at; ours (limits.ts, the guard of the dashboard)
 * are counted on all nodes together and hold for every route.
 */
export function openLibrary({ database, secret, publicUrl, clock, logger }: LibraryParts) {
  return betterAuth({
    appName: 'Mailvet',
    baseURL: publicUrl,
    basePath: '/dashboard/auth',
    secret,
    // Its Kysely is one of any tables.
    database: { db: database.db as never, type: database.type },
    user: {
      modelName: 'auth_users',
      additionalFields: { operator: { type: 'boolean', required: false, defaultValue: false, input: false } },
    },
    account: { modelName: 'auth_accounts' },
    verification: { modelName: 'auth_verifications', storeIdentifier: 'hashed' },
    session: {
      modelName: 'auth_sessions',
      expiresIn: SESSION_SECONDS,
      // Prolonged once a day, so that most requests only read.
      updateAge: DAY_SECONDS,
      // How old a sign-in may be to add a passkey.
      freshAge: DAY_SECONDS,
    },
    emailAndPassword: {
      enabled: true,
      minPasswordLength: PASSWORD_MIN,
      maxPasswordLength: PASSWORD_MAX,
      resetPasswordTokenExpiresIn: RESET_SECONDS,
      revokeSessionsOnPasswordReset: true,
      password: { hash: hashPassword, verify: verifyPassword },
    },
    plugins: [
      twoFactor({
        issuer: 'Mailvet',
        schema: { twoFactor: { modelName: 'auth_two_factors' } },
        // Ours is counted with the other attempts, and says when it ends.
        accountLockout: { enabled: false },
      }),
      passkey({
        rpID: relyingParty(publicUrl) ?? 'invalid',
        rpName: 'Mailvet',
        advanced: { webAuthnChallengeCookie: 'passkey' },
        // It is asked for no password, so it has to be one factor by having and one by knowing or being.
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        authentication: {
          async afterVerification({ verification }) {
            if (!verification.authenticationInfo.userVerified) throw new APIError('UNAUTHORIZED');
          },
        },
        schema: { passkey: { modelName: 'auth_passkeys' } },
      }),
      ownEndpoints,
    ],
    advanced: {
      cookiePrefix: 'mailvet',
      useSecureCookies: publicUrl.startsWith('https://'),
      defaultCookieAttributes: { httpOnly: true, sameSite: 'strict', path: '/' },
      // Nobody looks at where a session comes from, so it is not kept.
      ipAddress: { disableIpTracking: true },
      database: {
        generateId: ({ model }) => (model === 'user' ? newId('usr', clock.now()) : randomToken(24)),
        // The migrations are ours; the tests go through every table.
        validateSchema: false,
      },
    },
    telemetry: { enabled: false },
    logger: {
      level: 'error',
      // Its further arguments may hold what a person sent.
      log: (_level, message, ...rest) => {
        const cause = rest.find((part) => part instanceof Error)?.message.slice(0, ERROR_MAX);
        logger.warn({ cause }, `sign-in: ${message.slice(0, ERROR_MAX)}`);
      },
    },
  });
}
