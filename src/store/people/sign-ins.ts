import type { Transaction } from 'kysely';
import { DAY_MS, toDate, toIso } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { SESSION_MAX_DAYS } from '../../kernel/facts/lifetimes.ts';
import { SESSIONS_LISTED } from '../../kernel/facts/limits.ts';
import type { StorageDriver } from '../driver.ts';
import type { SignIns, UserChange } from '../store.ts';
import type { Tables } from '../tables.ts';
import { clearAttempts } from './attempts.ts';
import type { AuthDatabase } from './auth-database.ts';
import { acceptInvitation } from './invitations.ts';
import { writeUserEvent } from './user-events.ts';
import { readUser, timeOf } from './users.ts';

export function signIns(driver: StorageDriver, database: AuthDatabase): SignIns {
  const { db } = driver;
  /** In the sign-in library's time format. */
  const moment = (ms: number) => (driver.name === 'sqlite' ? toIso(ms) : toDate(ms));

  /** What is possible within a change. The user is locked. */
  async function changeOf(trx: Transaction<Tables>, id: string, now: number): Promise<UserChange> {
    const user = await readUser(trx, id);
    if (user === null) throw new ApiError('not_found', 'There is no such user.');
    const count = ({ numDeletedRows }: { numDeletedRows: bigint }): number => Number(numDeletedRows);
    return {
      user,
      async endSessions(keep = []) {
        let theirs = trx.deleteFrom('auth_sessions').where('userId', '=', id);
        if (keep.length > 0) theirs = theirs.where('id', 'not in', keep);
        return count(await theirs.executeTakeFirst());
      },
      async endSession(session) {
        const theirs = trx.deleteFrom('auth_sessions').where('userId', '=', id).where('id', '=', session);
        return count(await theirs.executeTakeFirst()) === 1;
      },
      async countPasskeys() {
        const { n } = await trx
          .selectFrom('auth_passkeys')
          .select((eb) => eb.fn.countAll<number>().as('n'))
          .where('userId', '=', id)
          .executeTakeFirstOrThrow();
        return n;
      },
      async removePasskeys(keep = []) {
        let theirs = trx.deleteFrom('auth_passkeys').where('userId', '=', id);
        if (keep.length > 0) theirs = theirs.where('id', 'not in', keep);
        return count(await theirs.executeTakeFirst());
      },
      async removePasskey(passkey) {
        const theirs = trx.deleteFrom('auth_passkeys').where('userId', '=', id).where('id', '=', passkey);
        return count(await theirs.executeTakeFirst()) === 1;
      },
      acceptInvitation: (tokenHash, by) => acceptInvitation(driver, trx, tokenHash, id, now, by),
      clearAttempts: (subject) => clearAttempts(trx, subject),
      async mail(payload) {
        await driver.jobs.add(trx, { kind: 'mail', payload });
      },
      record: (event) => writeUserEvent(driver, trx, now, user, { ...event, user: { id } }),
    };
  }

  return {
    async sessions(user) {
      const now = await driver.now();
      const rows = await db
        .selectFrom('auth_sessions')
        .select(['id', 'ipAddress', 'userAgent', 'createdAt', 'updatedAt'])
        .where('userId', '=', user)
        .where('expiresAt', '>', moment(now))
        .where('createdAt', '>', moment(now - SESSION_MAX_DAYS * DAY_MS))
        .orderBy('updatedAt', 'desc')
        .orderBy('id')
        .limit(SESSIONS_LISTED)
        .execute();
      return rows.map((row) => ({
        id: row.id,
        ip: row.ipAddress || null,
        userAgent: row.userAgent ?? '',
        createdAt: timeOf(row.createdAt),
        lastSeenAt: timeOf(row.updatedAt),
      }));
    },

    async passkeys(user) {
      const rows = await db
        .selectFrom('auth_passkeys')
        .select(['id', 'name', 'createdAt', 'lastUsedAt'])
        .where('userId', '=', user)
        .orderBy('createdAt')
        .orderBy('id')
        .execute();
      return rows.map(({ id, name, createdAt, lastUsedAt }) => ({
        id,
        name: name ?? 'Passkey',
        createdAt: createdAt === null ? 0 : timeOf(createdAt),
        lastUsedAt: lastUsedAt === null ? null : timeOf(lastUsedAt),
      }));
    },

    async markPasskeyUsed(credentialId) {
      const lastUsedAt = toIso(await driver.now());
      await db.updateTable('auth_passkeys').set({ lastUsedAt }).where('credentialID', '=', credentialId).execute();
    },

    async change({ user, session, account }, work) {
      const now = await driver.now();
      return database.transaction(async (trx) => {
        if (account !== undefined) await driver.lockAccounts(trx, [account]);
        await driver.lockUsers(trx, [user]);
        if (session !== undefined) {
          const theirs = trx.selectFrom('auth_sessions').select('id').where('userId', '=', user);
          if ((await theirs.where('id', '=', session).executeTakeFirst()) === undefined)
            throw new ApiError('not_signed_in');
        }
        return work(await changeOf(trx, user, now));
      });
    },
  };
}
