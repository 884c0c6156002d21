import { AsyncLocalStorage } from 'node:async_hooks';
import { type Kysely, sql, type Transaction } from 'kysely';
import { DAY_MS, toDate, toIso } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { SESSION_MAX_DAYS } from '../../kernel/facts/lifetimes.ts';
import { SESSIONS_LISTED } from '../../kernel/facts/limits.ts';
import { sha256Hex } from '../../kernel/ids.ts';
import type { StorageDriver } from '../driver.ts';
import { countOf } from '../rows.ts';
import type { AccountId, Attempts, Store, UserChange } from '../store.ts';
import type { Tables } from '../tables.ts';
import { writeUserEvent } from './audit-log.ts';
import { acceptInvitation, insertMember } from './members.ts';
import { readUser, timeOfLibrary } from './users.ts';

/** Half of a row's name is the subject's, so that all its counts are found together, half that of the origin. */
const SUBJECT_DIGITS = 32;

/** Subjects contain addresses typed by anyone: of any length, and private. Only a hash is stored. */
const subjectName = (subject: string): string => sha256Hex(subject).slice(0, SUBJECT_DIGITS);

const storedName = (subject: string, origin = ''): string =>
  subjectName(subject) + sha256Hex(origin).slice(0, SUBJECT_DIGITS);

/** See `Attempts.clear`. */
async function clearAttempts(db: Kysely<Tables>, subject: string): Promise<void> {
  const name = subjectName(subject);
  const all = db.deleteFrom('attempts').where('subject', '>=', name.padEnd(2 * SUBJECT_DIGITS, '0'));
  await all.where('subject', '<=', name.padEnd(2 * SUBJECT_DIGITS, 'f')).execute();
}

export function attempts(driver: StorageDriver): Attempts {
  const { db } = driver;
  return {
    async count(subject, windowMs, origin) {
      const now = await driver.now();
      const name = storedName(subject, origin);
      // More than one window ahead: the clock had been.
      const ahead = db
        .deleteFrom('attempts')
        .where('subject', '=', name)
        .where('ends_at', '>', now + 2 * windowMs);
      if ((await ahead.executeTakeFirst()).numDeletedRows > 0n) driver.onEvent({ kind: 'attempt_window_restarted' });
      const fresh = { count: 1, ends_at: now + windowMs };
      const row = await db
        .insertInto('attempts')
        .values({ subject: name, ...fresh })
        .onConflict((oc) =>
          oc.column('subject').doUpdateSet({
            count: sql<number>`CASE WHEN attempts.ends_at <= ${now} THEN 1 ELSE attempts.count + 1 END`,
            ends_at: sql<number>`CASE WHEN attempts.ends_at <= ${now} THEN excluded.ends_at ELSE attempts.ends_at END`,
          }),
        )
        .returning(['count', 'ends_at'])
        .executeTakeFirstOrThrow();
      return { count: row.count, endsAt: row.ends_at };
    },

    clear: (subject) => clearAttempts(db, subject),
  };
}

/** The database as the sign-in library sees it. */
interface AuthDatabase {
  readonly db: Kysely<Tables>;
  /**
   * A write transaction to which everything belongs that `work` does on `db`. It must await nothing else of the store:
   * on SQLite that would wait for the end of this transaction.
   */
  transaction<T>(work: (trx: Transaction<Tables>) => Promise<T>): Promise<T>;
}

/** The library is given one Kysely instance at the start, so that instance leads to the transaction of its caller. */
export function authDatabase(driver: StorageDriver): AuthDatabase {
  const current = new AsyncLocalStorage<Transaction<Tables>>();
  const db = new Proxy(driver.db, {
    get(plain, name) {
      const target = current.getStore() ?? plain;
      const value: unknown = Reflect.get(target, name, target);
      // `fn` is a function with methods of its own, which a bound one would not have.
      return typeof value === 'function' && name !== 'fn' ? value.bind(target) : value;
    },
  });
  return { db, transaction: (work) => driver.transaction((trx) => current.run(trx, () => work(trx))) };
}

/** When several nodes create it at once, the first one written counts for all. */
export function secret({ db }: StorageDriver): Store['secret'] {
  const kept = async (name: string): Promise<string | null> =>
    (await db.selectFrom('secrets').select('value').where('name', '=', name).executeTakeFirst())?.value ?? null;

  return async (name, make) => {
    const known = await kept(name);
    if (known !== null) return known;
    await db
      .insertInto('secrets')
      .values({ name, value: make() })
      .onConflict((oc) => oc.doNothing())
      .execute();
    const written = await kept(name);
    if (written === null) throw new Error(`The secret ${name} was not kept.`);
    return written;
  };
}

/** See `Store.forgetSecret`. */
export const forgetSecret =
  ({ db }: StorageDriver): Store['forgetSecret'] =>
  async (name, value) => {
    await db.deleteFrom('secrets').where('name', '=', name).where('value', '=', value).execute();
  };

/** How OpenID providers know the user, who is locked. */
function identitiesOf(
  trx: Transaction<Tables>,
  user: string,
  now: number,
): Pick<UserChange, 'subjectAt' | 'linkIdentity' | 'unlinkIdentities' | 'endOidcSessions'> {
  return {
    async subjectAt(issuer) {
      const mine = trx.selectFrom('oidc_identities').select('subject').where('user_id', '=', user);
      return (await mine.where('issuer', '=', issuer).executeTakeFirst())?.subject ?? null;
    },
    async linkIdentity({ issuer, subject }) {
      const { numInsertedOrUpdatedRows } = await trx
        .insertInto('oidc_identities')
        .values({ issuer, subject, user_id: user, created_at: now })
        .onConflict((oc) => oc.doNothing())
        .executeTakeFirst();
      return numInsertedOrUpdatedRows === 1n;
    },
    async unlinkIdentities(keep) {
      let theirs = trx.deleteFrom('oidc_identities').where('user_id', '=', user);
      if (keep !== undefined)
        theirs = theirs.where(({ not, and, eb }) =>
          not(and([eb('issuer', '=', keep.issuer), eb('subject', '=', keep.subject)])),
        );
      return Number((await theirs.executeTakeFirst()).numDeletedRows);
    },
    async endOidcSessions(marks) {
      const theirs = trx.deleteFrom('auth_sessions').where('userId', '=', user).where('oidcSession', 'is not', null);
      const ended = marks === 'all' ? theirs : theirs.where('oidcSession', 'in', marks);
      return Number((await ended.executeTakeFirst()).numDeletedRows);
    },
  };
}

export function signIns(driver: StorageDriver, database: AuthDatabase): Store['signIns'] {
  const { db } = driver;
  /** Writes the sign-in library's time format. */
  const moment = (ms: number) => (driver.name === 'sqlite' ? toIso(ms) : toDate(ms));

  /** What is possible within a change. The user is locked. */
  async function changeOf(
    trx: Transaction<Tables>,
    id: string,
    now: number,
    account: AccountId | undefined,
  ): Promise<UserChange> {
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
      countPasskeys: () => countOf(trx.selectFrom('auth_passkeys').where('userId', '=', id)),
      async removePasskeys(keep = []) {
        let theirs = trx.deleteFrom('auth_passkeys').where('userId', '=', id);
        if (keep.length > 0) theirs = theirs.where('id', 'not in', keep);
        return count(await theirs.executeTakeFirst());
      },
      async removePasskey(passkey) {
        const theirs = trx.deleteFrom('auth_passkeys').where('userId', '=', id).where('id', '=', passkey);
        return count(await theirs.executeTakeFirst()) === 1;
      },
      ...identitiesOf(trx, id, now),
      async join(role, by) {
        if (account === undefined) throw new TypeError('No account was named to the change.');
        return insertMember(trx, { account, user: id, role }, now, by);
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
    async userByIdentity({ issuer, subject }) {
      const mine = db.selectFrom('oidc_identities').select('user_id').where('issuer', '=', issuer);
      return (await mine.where('subject', '=', subject).executeTakeFirst())?.user_id ?? null;
    },

    async usersByOidcSession(mark) {
      const sessions = db.selectFrom('auth_sessions').select('userId').distinct().where('oidcSession', '=', mark);
      return (await sessions.execute()).map(({ userId }) => userId);
    },

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
        createdAt: timeOfLibrary(row.createdAt),
        lastSeenAt: timeOfLibrary(row.updatedAt),
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
        createdAt: createdAt === null ? 0 : timeOfLibrary(createdAt),
        lastUsedAt: lastUsedAt === null ? null : timeOfLibrary(lastUsedAt),
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
        return work(await changeOf(trx, user, now, account));
      });
    },
  };
}
