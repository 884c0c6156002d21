/**
 * The configured sign-in library. Importing it takes over 100 ms, so this file is imported at the first request that
 * needs it, not at startup.
 */

import { passkey } from '@better-auth/passkey';
import { type BetterAuthPlugin, betterAuth, type DBAdapter, type DBTransactionAdapter, type Where } from 'better-auth';
import { APIError, createAuthEndpoint } from 'better-auth/api';
import { setSessionCookie } from 'better-auth/cookies';
import { twoFactor } from 'better-auth/plugins/two-factor';
import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS, toDate } from '../../kernel/clock.ts';
import {
  FRESH_SIGN_IN_DAYS,
  OIDC_MINUTES,
  RESET_LINK_HOURS,
  SESSION_DAYS,
  SESSION_REFRESH_MINUTES,
} from '../../kernel/facts/lifetimes.ts';
import { PASSWORD_LENGTH } from '../../kernel/facts/limits.ts';
import { newId, randomToken, sha256Hex } from '../../kernel/ids.ts';
import type { Logger } from '../../kernel/log.ts';
import type { Store } from '../../store/store.ts';
import { CLIENT_IP_HEADER, relyingParty } from './library-calls.ts';
import { libraryInserts } from './library-inserts.ts';
import { oidcSessionOf, oidcSessions } from './oidc-sessions.ts';
import { hashPassword, verifyPassword } from './passwords.ts';
import { secondFactorSessions } from './second-factor-sessions.ts';

interface NewSession {
  readonly userId: string;
  /** Whether it replaces one that was begun with a second factor. */
  readonly secondFactor: boolean;
  /** See oidc-sessions.ts. */
  readonly oidcSession: string | null;
}
interface NewChallenge {
  readonly userId: string;
  readonly oidcSession: string;
  readonly expiresAt: Date;
}
interface OidcState {
  readonly state: string;
}
interface DeviceCookie {
  readonly value: string;
  readonly days: number;
}
interface Accepting<T> {
  '~standard': { version: 1; vendor: string; validate(value: unknown): { value: T }; types?: { input: T; output: T } };
}
/** A Standard Schema that accepts everything, because only our own code calls these endpoints. */
const accepting = <T>(): Accepting<T> => ({
  '~standard': { version: 1, vendor: 'mailvet', validate: (value) => ({ value: value as T }) },
});

/** The two-factor plug-in has this cookie, without the prefix. */
const CHALLENGE = 'two_factor';
/** This one is ours: devices.ts sets it. */
const DEVICE = 'device';
/** Ours: a sign-in with the OpenID provider that is under way. */
const OIDC = 'oidc';

/** Operations that the library performs only inside other endpoints. Server-only: they have no path. */
const internalAuthEndpoints = {
  id: 'mailvet',
  endpoints: {
    /** Creates a session for a user authenticated by a link. */
    beginSession: createAuthEndpoint.serverOnly({ method: 'POST', body: accepting<NewSession>() }, async (ctx) => {
      const { internalAdapter } = ctx.context;
      const { userId, secondFactor, oidcSession } = ctx.body;
      const user = await internalAdapter.findUserById(userId);
      if (!user) return null;
      const session = await internalAdapter.createSession(user.id, false, { secondFactor, oidcSession }, true);
      await setSessionCookie(ctx, { session, user });
      return user.id;
    }),
    /** The user whose sign-in awaits the second factor, by the cookie of the first step. */
    challengedUser: createAuthEndpoint.serverOnly({ method: 'POST', requireHeaders: true }, async (ctx) => {
      const { context } = ctx;
      const identifier = await ctx.getSignedCookie(context.createAuthCookie(CHALLENGE).name, context.secret);
      if (!identifier) return null;
      const challenge = await context.internalAdapter.findVerificationValue(identifier);
      return challenge?.value ?? null;
    }),
    /** Has the code of an authenticator app asked, as the library's plug-in does after a password. */
    beginChallenge: createAuthEndpoint.serverOnly({ method: 'POST', body: accepting<NewChallenge>() }, async (ctx) => {
      const { context, body } = ctx;
      const maxAgeSeconds = (OIDC_MINUTES * MINUTE_MS) / 1000;
      const cookie = context.createAuthCookie(CHALLENGE, { maxAge: maxAgeSeconds });
      const identifier = `2fa-${randomToken(24)}`;
      for (const row of [
        { identifier, value: body.userId },
        { identifier: `2fa-attempts-${identifier}`, value: '0' },
        { identifier: oidcSessionOf(identifier), value: body.oidcSession },
      ])
        await context.internalAdapter.createVerificationValue({ ...row, expiresAt: body.expiresAt });
      await ctx.setSignedCookie(cookie.name, identifier, context.secret, cookie.attributes);
    }),
    /** The state of the sign-in with the OpenID provider that the browser has begun; null as for the device cookie. */
    oidcState: createAuthEndpoint.serverOnly({ method: 'POST', requireHeaders: true }, async (ctx) => {
      const { context } = ctx;
      return (await ctx.getSignedCookie(context.createAuthCookie(OIDC).name, context.secret)) || null;
    }),
    /** An empty state removes the cookie. */
    setOidcState: createAuthEndpoint.serverOnly({ method: 'POST', body: accepting<OidcState>() }, async (ctx) => {
      const { context, body } = ctx;
      const maxAgeSeconds = body.state === '' ? 0 : (OIDC_MINUTES * MINUTE_MS) / 1000;
      const { name, attributes } = context.createAuthCookie(OIDC, { maxAge: maxAgeSeconds });
      await ctx.setSignedCookie(name, body.state, context.secret, attributes);
    }),
    /** The content of the device cookie; null if it is missing or its signature is wrong. */
    deviceCookie: createAuthEndpoint.serverOnly({ method: 'POST', requireHeaders: true }, async (ctx) => {
      const { context } = ctx;
      return (await ctx.getSignedCookie(context.createAuthCookie(DEVICE).name, context.secret)) || null;
    }),
    setDeviceCookie: createAuthEndpoint.serverOnly({ method: 'POST', body: accepting<DeviceCookie>() }, async (ctx) => {
      const { context, body } = ctx;
      const { name, attributes } = context.createAuthCookie(DEVICE, { maxAge: (body.days * DAY_MS) / 1000 });
      await ctx.setSignedCookie(name, body.value, context.secret, attributes);
    }),
  },
} satisfies BetterAuthPlugin;

// * The store holds SHA-256 hashes of session tokens, so that nobody signs in with what a copy of it contains. A token
// has 190 random bits, so a hash without salt suffices.

/** Tokens by their hash: those that the caller of one operation already has. */
type KnownTokens = ReadonlyMap<string, string>;

const hashedToken = (value: Where['value']): Where['value'] => {
  if (typeof value === 'string') return sha256Hex(value);
  return Array.isArray(value) ? value.map((one) => sha256Hex(String(one))) : value;
};

const hashedWhere = (where: Where[]): Where[] =>
  where.map((condition) =>
    condition.field === 'token' ? { ...condition, value: hashedToken(condition.value) } : condition,
  );

function knownFrom(where: readonly Where[]): KnownTokens {
  const tokens = where.flatMap(({ field, value }) => (field === 'token' ? [value].flat() : []));
  return new Map(tokens.filter((one) => typeof one === 'string').map((token) => [sha256Hex(token), token]));
}

/** The row as the library expects it: with the token by which it asked. Rows found otherwise keep the hash. */
function withToken<Row>(row: Row, known: KnownTokens): Row {
  if (typeof row !== 'object' || row === null || !('token' in row) || typeof row.token !== 'string') return row;
  return { ...row, token: known.get(row.token) ?? row.token };
}

function hashing(adapter: DBTransactionAdapter): DBTransactionAdapter {
  /** Returns the same input with hashes, and the way back; unchanged for other tables. */
  function translate<Input extends { model: string; where: Where[] }>(
    input: Input,
  ): { input: Input; known: KnownTokens } {
    if (input.model !== 'session') return { input, known: new Map() };
    return { input: { ...input, where: hashedWhere(input.where) }, known: knownFrom(input.where) };
  }
  return {
    ...adapter,
    async create(call) {
      const token = call.model === 'session' && 'token' in call.data ? call.data.token : null;
      if (typeof token !== 'string') return adapter.create(call);
      const hash = sha256Hex(token);
      return withToken(
        await adapter.create({ ...call, data: { ...call.data, token: hash } }),
        new Map([[hash, token]]),
      );
    },
    async findOne(call) {
      const { input, known } = translate(call);
      return withToken(await adapter.findOne(input), known);
    },
    async findMany<Row>(call: Parameters<DBAdapter['findMany']>[0]) {
      const { input, known } = translate({ ...call, where: call.where ?? [] });
      const rows = await adapter.findMany<Row>(input);
      return rows.map((row) => withToken(row, known));
    },
    async update(call) {
      const { input, known } = translate(call);
      return withToken(await adapter.update(input), known);
    },
    async consumeOne(call) {
      const { input, known } = translate(call);
      return withToken(await adapter.consumeOne(input), known);
    },
    async incrementOne(call) {
      const { input, known } = translate(call);
      return withToken(await adapter.incrementOne(input), known);
    },
    updateMany: (call) => adapter.updateMany(translate(call).input),
    delete: (call) => adapter.delete(translate(call).input),
    deleteMany: (call) => adapter.deleteMany(translate(call).input),
    count: (call) => adapter.count(translate({ ...call, where: call.where ?? [] }).input),
  };
}

const hashingTokens = (adapter: DBAdapter): DBAdapter => ({
  ...adapter,
  ...hashing(adapter),
  transaction: (work) => adapter.transaction((trx) => work(hashing(trx))),
});

/** First of the plug-ins, because others may keep the adapter that they are given. */
const sessionTokenHashes = {
  id: 'mailvet-session-token-hashes',
  init: ({ adapter }) => ({ context: { adapter: hashingTokens(adapter) } }),
} satisfies BetterAuthPlugin;

// Not `better-auth/minimal`: it does not accept our Kysely instance, and is only 10 % faster to load.

const DAY_SECONDS = DAY_MS / 1000;
const SESSION_SECONDS = SESSION_DAYS * DAY_SECONDS;
const RESET_SECONDS = (RESET_LINK_HOURS * HOUR_MS) / 1000;
const ERROR_MAX = 300;

/** Where a session begins, or is used; `headers` as made by headersOf. */
function clientPlace(headers: Headers | undefined): { ipAddress?: string; userAgent?: string } {
  const ipAddress = headers?.get(CLIENT_IP_HEADER);
  return ipAddress ? { ipAddress, userAgent: headers?.get('user-agent') ?? '' } : {};
}

export type Library = ReturnType<typeof openLibrary>;

interface LibraryParts {
  readonly database: Store['authDatabase'];
  readonly secret: string;
  /** The public URL of the dashboard has no trailing slash. */
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
          before: async (_session, call) => ({
            data: { ...clientPlace(call?.headers), createdAt: toDate(clock.now()) },
          }),
        },
        update: { before: async (_changes, call) => ({ data: clientPlace(call?.headers) }) },
      },
    },
    plugins: [
      sessionTokenHashes,
      secondFactorSessions,
      oidcSessions,
      libraryInserts,
      twoFactor({
        issuer: 'Mailvet',
        // Of who has one, it is asked all the same; others confirm otherwise before (ConfirmUser).
        allowPasswordless: true,
        schema: { twoFactor: { modelName: 'auth_two_factors' } },
        // limits.ts counts these attempts, and reports when the lockout ends.
        accountLockout: { enabled: false },
      }),
      passkeysFor(publicUrl),
      internalAuthEndpoints,
    ],
    advanced: {
      cookiePrefix: 'mailvet',
      useSecureCookies: publicUrl.startsWith('https://'),
      defaultCookieAttributes: { httpOnly: true, sameSite: 'strict', path: '/' },
      // It would look for the address of a proxy; clientPlace knows the client's.
      ipAddress: { disableIpTracking: true },
      database: {
        generateId: ({ model }) => (model === 'user' ? newId('usr', clock.now()) : randomToken(24)),
        // The tables come from our migrations; tests cover each of them.
        validateSchema: false,
      },
    },
    telemetry: { enabled: false },
    logger: { level: 'error', log: logTo(logger) },
  });
}

const passkeysFor = (publicUrl: string) =>
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
  });

/** Further arguments may contain user input. */
const logTo =
  (logger: Logger) =>
  (_level: string, message: string, ...rest: readonly unknown[]): void => {
    const cause = rest.find((part) => part instanceof Error)?.message.slice(0, ERROR_MAX);
    logger.warn({ cause }, `sign-in: ${message.slice(0, ERROR_MAX)}`);
  };
