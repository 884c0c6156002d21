/**
 * The configured sign-in library. Importing it takes over 100 ms, so this file is imported at the first request that
 * needs it, not at startup.
 */
import { passkey } from '@better-auth/passkey';
// Not `better-auth/minimal`: it does not accept our Kysely instance, and is only 10 % faster to load.
import { betterAuth } from 'better-auth';
import { APIError } from 'better-auth/api';
import { twoFactor } from 'better-auth/plugins/two-factor';
import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS, toDate } from '../../kernel/clock.ts';
import {
  FRESH_SIGN_IN_DAYS,
  RESET_LINK_HOURS,
  SESSION_DAYS,
  SESSION_REFRESH_MINUTES,
} from '../../kernel/facts/lifetimes.ts';
import { PASSWORD_LENGTH } from '../../kernel/facts/limits.ts';
import { newId, randomToken } from '../../kernel/ids.ts';
import type { Logger } from '../../kernel/log.ts';
import type { Store } from '../../store/store.ts';
import { internalAuthEndpoints } from './internal-endpoints.ts';
import { CLIENT_IP_HEADER } from './library-calls.ts';
import { libraryInserts } from './library-inserts.ts';
import { hashPassword, verifyPassword } from './passwords.ts';
import { relyingParty } from './relying-party.ts';
import { secondFactorSessions } from './second-factor-sessions.ts';
import { sessionTokenHashes } from './session-token-hashes.ts';

const DAY_SECONDS = DAY_MS / 1000;
const SESSION_SECONDS = SESSION_DAYS * DAY_SECONDS;
const RESET_SECONDS = (RESET_LINK_HOURS * HOUR_MS) / 1000;
const ERROR_MAX = 300;

/** Where a session begins, or is used; `headers` as made by headersOf. */
function placeOf(headers: Headers | undefined): { ipAddress?: string; userAgent?: string } {
  const ipAddress = headers?.get(CLIENT_IP_HEADER);
  return ipAddress ? { ipAddress, userAgent: headers?.get('user-agent') ?? '' } : {};
}

export type Library = ReturnType<typeof openLibrary>;

interface LibraryParts {
  readonly database: Store['authDatabase'];
  readonly secret: string;
  /** Public URL of the dashboard, without a trailing slash. */
  readonly publicUrl: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Only its `api` is used, with headers we construct: the library never sees a request. Its own rate limits (per
 * process, by path), CSRF and origin checks therefore do not apply. Ours (limits.ts, the dashboard's guard) cover every
 * route and count across all nodes.
 */
export function openLibrary({ database, secret, publicUrl, clock, logger }: LibraryParts) {
  return betterAuth({
    appName: 'Mailvet',
    baseURL: publicUrl,
    basePath: '/dashboard/auth',
    secret,
    // The library's Kysely type is generic over tables.
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
      updateAge: (SESSION_REFRESH_MINUTES * MINUTE_MS) / 1000,
      // The maximum age of a sign-in to add a passkey.
      freshAge: FRESH_SIGN_IN_DAYS * DAY_SECONDS,
    },
    emailAndPassword: {
      enabled: true,
      minPasswordLength: PASSWORD_LENGTH.min,
      maxPasswordLength: PASSWORD_LENGTH.max,
      resetPasswordTokenExpiresIn: RESET_SECONDS,
      revokeSessionsOnPasswordReset: true,
      password: { hash: hashPassword, verify: verifyPassword },
    },
    databaseHooks: {
      session: {
        // Its age is compared on other nodes, so it is by the store's clock. The library would take this host's.
        create: {
          before: async (_session, call) => ({ data: { ...placeOf(call?.headers), createdAt: toDate(clock.now()) } }),
        },
        update: { before: async (_changes, call) => ({ data: placeOf(call?.headers) }) },
      },
    },
    plugins: [
      sessionTokenHashes,
      secondFactorSessions,
      libraryInserts,
      twoFactor({
        issuer: 'Mailvet',
        schema: { twoFactor: { modelName: 'auth_two_factors' } },
        // limits.ts counts these attempts, and reports when the lockout ends.
        accountLockout: { enabled: false },
      }),
      passkey({
        rpID: relyingParty(publicUrl) ?? 'invalid',
        rpName: 'Mailvet',
        advanced: { webAuthnChallengeCookie: 'passkey' },
        // A passkey replaces the password, so it must verify the user: two factors in one.
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        authentication: {
          async afterVerification({ verification }) {
            if (!verification.authenticationInfo.userVerified) throw new APIError('UNAUTHORIZED');
          },
        },
        schema: { passkey: { modelName: 'auth_passkeys' } },
      }),
      internalAuthEndpoints,
    ],
    advanced: {
      cookiePrefix: 'mailvet',
      useSecureCookies: publicUrl.startsWith('https://'),
      defaultCookieAttributes: { httpOnly: true, sameSite: 'strict', path: '/' },
      // It would look for the address of a proxy; placeOf knows the client's.
      ipAddress: { disableIpTracking: true },
      database: {
        generateId: ({ model }) => (model === 'user' ? newId('usr', clock.now()) : randomToken(24)),
        // The tables come from our migrations; tests cover each of them.
        validateSchema: false,
      },
    },
    telemetry: { enabled: false },
    logger: {
      level: 'error',
      // Further arguments may contain user input.
      log: (_level, message, ...rest) => {
        const cause = rest.find((part) => part instanceof Error)?.message.slice(0, ERROR_MAX);
        logger.warn({ cause }, `sign-in: ${message.slice(0, ERROR_MAX)}`);
      },
    },
  });
}
