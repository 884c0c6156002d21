import type { BetterAuthPlugin } from 'better-auth';
import { createAuthEndpoint } from 'better-auth/api';
import { setSessionCookie } from 'better-auth/cookies';
import { DAY_MS } from '../../kernel/clock.ts';

interface NewSession {
  readonly userId: string;
  /** Whether it replaces one that was begun with a second factor. */
  readonly secondFactor: boolean;
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

/** The two-factor plug-in's cookie, without the prefix. */
const CHALLENGE = 'two_factor';
/** Ours: the devices of devices.ts. */
const DEVICE = 'device';

/** Operations that the library performs only inside other endpoints. Server-only: they have no path. */
export const internalAuthEndpoints = {
  id: 'mailvet',
  endpoints: {
    /** Creates a session for a user authenticated by a link. */
    beginSession: createAuthEndpoint.serverOnly({ method: 'POST', body: accepting<NewSession>() }, async (ctx) => {
      const { internalAdapter } = ctx.context;
      const { userId, secondFactor } = ctx.body;
      const user = await internalAdapter.findUserById(userId);
      if (!user) return null;
      const session = await internalAdapter.createSession(user.id, false, { secondFactor }, true);
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
