import type { BetterAuthPlugin } from 'better-auth';
import { createAuthEndpoint } from 'better-auth/api';
import { setSessionCookie } from 'better-auth/cookies';

interface Whom {
  readonly userId: string;
}
/** Only our own code calls these, so there is nothing to validate (standardschema.dev is how the library asks). */
const Whom: { '~standard': { version: 1; vendor: string; validate(value: unknown): { value: Whom }; types?: Types } } =
  {
    '~standard': { version: 1, vendor: 'mailvet', validate: (value) => ({ value: value as Whom }) },
  };
type Types = { readonly input: Whom; readonly output: Whom };

/** The name that the two-factor plug-in gives its cookie, before the prefix. */
const CHALLENGE = 'two_factor';

/** What the library does inside of other endpoints and offers at no place of its own. They have no path. */
export const ownEndpoints = {
  id: 'mailvet',
  endpoints: {
    /** A session for a user who proved who they are by a link. */
    beginSession: createAuthEndpoint.serverOnly({ method: 'POST', body: Whom }, async (ctx) => {
      const { internalAdapter } = ctx.context;
      const user = await internalAdapter.findUserById(ctx.body.userId);
      if (!user) return null;
      await setSessionCookie(ctx, { session: await internalAdapter.createSession(user.id), user });
      return user.id;
    }),
    /** Whose sign-in waits for its second factor, by the cookie of the first one. */
    challengedUser: createAuthEndpoint.serverOnly({ method: 'POST', requireHeaders: true }, async (ctx) => {
      const { context } = ctx;
      const identifier = await ctx.getSignedCookie(context.createAuthCookie(CHALLENGE).name, context.secret);
      if (!identifier) return null;
      const challenge = await context.internalAdapter.findVerificationValue(identifier);
      return challenge?.value ?? null;
    }),
  },
} satisfies BetterAuthPlugin;
