import { APIError, createAuthMiddleware } from 'better-auth/api';
import { DEFAULT_FIELD, type FormGuardOptions, formGuard } from './form.ts';

export type { GuardOptions, GuardOutcome, GuardRejection } from './form.ts';

/** The package has ES modules only: declarations for CommonJS have to say so. */
type BetterAuthPlugin = import('better-auth', { with: { 'resolution-mode': 'import' }}).BetterAuthPlugin;

export interface EmailGuardOptions extends Omit<FormGuardOptions<{ readonly headers: Headers | undefined }>, 'field'> {
  /**
   * Field with the address by endpoint; by default those where an address is new, `/sign-up/email` and `/change-email`.
   */
  paths?: Readonly<Record<string, string>> | undefined;
}

const PATHS = { '/sign-up/email': DEFAULT_FIELD, '/change-email': 'newEmail' };

/**
 * A plugin: endpoints that take a new address reply with 422 to one that `guard` rejects, with its code, message and
 * suggestion.
 */
export function emailGuard({ paths = PATHS, ...options }: EmailGuardOptions): BetterAuthPlugin {
  return {
    id: 'mailvet',
    hooks: {
      before: Object.entries(paths).map(([path, field]) => {
        const guarded = formGuard({ ...options, field }, ({ headers }) => headers?.get('accept-language'));
        return {
          matcher: (context) => context.path === path,
          handler: createAuthMiddleware(async (context) => {
            const outcome = await guarded.check(context.body, { headers: context.headers });
            // The endpoint gets the body with the address to store.
            if (outcome.ok) return { context: { body: context.body } };
            const { code, message, suggestion } = outcome;
            throw new APIError('UNPROCESSABLE_ENTITY', { code, message, field, suggestion });
          }),
        };
      }),
    },
  };
}
