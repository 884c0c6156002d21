/**
 * Which sessions were begun with the OpenID provider, and which session there: it can end them. What is in the
 * session is a hash of the issuer and the `sid` of the ID token, which may be missing (Back-Channel Logout 1.0 §2.1).
 */
import type { BetterAuthPlugin } from 'better-auth';
import { sha256Hex } from '../../kernel/ids.ts';

export const oidcMark = (issuer: string, sid: string | null): string => sha256Hex(JSON.stringify([issuer, sid]));

/** Where the mark waits for the code of an authenticator app, by the identifier of that challenge. */
export const oidcSessionOf = (challenge: string): string => `oidc-session:${challenge}`;

const AFTER_CHALLENGE: ReadonlySet<string> = new Set(['/two-factor/verify-totp', '/two-factor/verify-backup-code']);

export const oidcSessions = {
  id: 'mailvet-oidc-sessions',
  schema: { session: { fields: { oidcSession: { type: 'string', required: false, input: false } } } },
  init: () => ({
    options: {
      databaseHooks: {
        session: {
          create: {
            async before(session: Readonly<Record<string, unknown>>, endpoint) {
              // A session that replaces another one is the provider's as well.
              const replaced: Readonly<Record<string, unknown>> | undefined = endpoint?.context.session?.session;
              const known = replaced?.oidcSession ?? session.oidcSession;
              if (typeof known === 'string') return { data: { oidcSession: known } };
              if (endpoint === null || !AFTER_CHALLENGE.has(endpoint.path ?? '')) return;
              const { secret, internalAdapter, createAuthCookie } = endpoint.context;
              const challenge = await endpoint.getSignedCookie(createAuthCookie('two_factor').name, secret);
              if (!challenge) return;
              const kept = await internalAdapter.consumeVerificationValue(oidcSessionOf(challenge));
              return kept === null ? undefined : { data: { oidcSession: kept.value } };
            },
          },
        },
      },
    },
  }),
} satisfies BetterAuthPlugin;
