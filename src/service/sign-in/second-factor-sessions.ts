/**
 * Which sessions were begun with a second factor: accounts can require one of their members. The fact is the session's,
 * not the user's, as a passkey is optional at sign-in, and sessions from before the second factor was set up took a
 * password alone.
 */
import type { BetterAuthPlugin, DBAdapter } from 'better-auth';

/** The library's endpoints that begin a session after a code, or after a passkey, which is two factors in one. */
const WITH_SECOND_FACTOR: ReadonlySet<string> = new Set([
  '/two-factor/verify-totp',
  '/two-factor/verify-backup-code',
  '/passkey/verify-authentication',
]);

export const secondFactorSessions = {
  id: 'mailvet-second-factor-sessions',
  schema: {
    session: { fields: { secondFactor: { type: 'boolean', required: false, defaultValue: false, input: false } } },
  },
  init: () => ({
    options: {
      databaseHooks: {
        session: {
          create: {
            async before(session: Readonly<Record<string, unknown>>, endpoint) {
              // A session that replaces another one, as after a change of the password, is worth as much.
              const replaced: Readonly<Record<string, unknown>> | undefined = endpoint?.context.session?.session;
              const kept = replaced?.secondFactor === true || session.secondFactor === true;
              const secondFactor = kept || WITH_SECOND_FACTOR.has(endpoint?.path ?? '');
              return { data: { secondFactor } };
            },
          },
        },
      },
    },
  }),
} satisfies BetterAuthPlugin;

/** After a factor was removed, the sessions of a user who has none left are like those begun with a password alone. */
export async function endSecondFactor(
  { adapter }: { readonly adapter: Pick<DBAdapter, 'findOne' | 'count' | 'updateMany'> },
  user: string,
): Promise<void> {
  const ofUser = [{ field: 'userId', value: user }];
  const byId = [{ field: 'id', value: user }];
  const row = await adapter.findOne<{ twoFactorEnabled?: boolean | null }>({ model: 'user', where: byId });
  if (row?.twoFactorEnabled === true || (await adapter.count({ model: 'passkey', where: ofUser })) > 0) return;
  await adapter.updateMany({ model: 'session', where: ofUser, update: { secondFactor: false } });
}
