import type { Kysely, Transaction } from 'kysely';
import { fromIso } from '../../kernel/clock.ts';
import type { Role } from '../../kernel/facts/roles.ts';
import { BATCH_ROWS } from '../batches.ts';
import type { StorageDriver } from '../driver.ts';
import { accountId, countOf } from '../rows.ts';
import type { AccountId, Actor, Store, User } from '../store.ts';
import type { Row, Tables } from '../tables.ts';
import { writeAudit, writeUserEvent } from './audit-log.ts';
import { endInvitationsOf } from './members.ts';

/**
 * A mailbox belongs to the first user who claims it; the others who have an address there belong to it without a claim.
 */
function mailboxes(driver: StorageDriver): Pick<Store['users'], 'idByMailbox' | 'claimMailbox' | 'claimMailboxes'> {
  const { db } = driver;

  /** How many were free. */
  async function claim(on: Kysely<Tables>, rows: readonly Row<'mailboxes'>[]): Promise<bigint> {
    const insert = on.insertInto('mailboxes').values(rows);
    const { numInsertedOrUpdatedRows } = await insert.onConflict((oc) => oc.doNothing()).executeTakeFirst();
    return numInsertedOrUpdatedRows ?? 0n;
  }

  /** Reads one batch of users without a claim, in order of their ids. Returns the last id, null for none. */
  const claimStep = (mailboxOf: (email: string) => string, after: string): Promise<string | null> =>
    driver.transaction(async (trx) => {
      const unclaimed = trx
        .selectFrom('auth_users as u')
        .leftJoin('mailboxes as m', 'm.user_id', 'u.id')
        .select('u.id')
        .where('m.user_id', 'is', null)
        .where('u.id', '>', after)
        .orderBy('u.id')
        .limit(BATCH_ROWS);
      const ids = (await unclaimed.execute()).map(({ id }) => id);
      // Now they cannot be removed meanwhile.
      await driver.lockUsers(trx, ids);
      if (ids.length === 0) return null;
      const users = trx.selectFrom('auth_users').select(['id', 'email']).where('id', 'in', ids).orderBy('id');
      const rows = (await users.execute()).map(({ id, email }) => ({ mailbox: mailboxOf(email), user_id: id }));
      if (rows.length > 0) await claim(trx, rows);
      return ids.at(-1) ?? null;
    });

  return {
    async idByMailbox(mailbox) {
      const row = await db.selectFrom('mailboxes').select('user_id').where('mailbox', '=', mailbox).executeTakeFirst();
      return row?.user_id ?? null;
    },

    async claimMailbox(user, mailbox) {
      return (await claim(db, [{ mailbox, user_id: user }])) === 1n;
    },

    async claimMailboxes(mailboxOf) {
      for (let after: string | null = ''; after !== null; ) after = await claimStep(mailboxOf, after);
    },
  };
}

export const timeOfLibrary = (at: string | Date): number =>
  typeof at === 'string' ? (fromIso(at) ?? 0) : at.getTime();

const toUser = (row: Row<'auth_users'>): User => ({
  id: row.id,
  email: row.email,
  name: row.name,
  emailVerified: Boolean(row.emailVerified),
  operator: Boolean(row.operator),
  secondFactor: Boolean(row.twoFactorEnabled),
  createdAt: timeOfLibrary(row.createdAt),
});

const USER_COLUMNS = [
  'id',
  'name',
  'email',
  'emailVerified',
  'createdAt',
  'updatedAt',
  'twoFactorEnabled',
  'operator',
] as const;

export async function readUser(db: Kysely<Tables>, id: string): Promise<User | null> {
  const row = await db.selectFrom('auth_users').select(USER_COLUMNS).where('id', '=', id).executeTakeFirst();
  return row === undefined ? null : toUser(row);
}

/** Accounts whose only owner is this user. */
async function soleOwnerOf(trx: Transaction<Tables>, user: string): Promise<string[]> {
  const rows = await trx
    .selectFrom('members as m')
    .innerJoin('accounts as a', 'a.id', 'm.account_id')
    .select('m.account_id')
    .where('m.user_id', '=', user)
    .where('m.role', '=', 'owner')
    .where('a.status', '<>', 'deleted')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('members as o')
            .select('o.user_id')
            .whereRef('o.account_id', '=', 'm.account_id')
            .where('o.role', '=', 'owner')
            .where('o.user_id', '<>', user),
        ),
      ),
    )
    .execute();
  return rows.map((row) => row.account_id);
}

export function users(driver: StorageDriver): Store['users'] {
  const { db } = driver;

  const accountsOf = async (trx: Transaction<Tables>, user: string): Promise<string[]> => {
    const rows = await trx.selectFrom('members').select('account_id').where('user_id', '=', user).execute();
    return rows.map((row) => row.account_id);
  };

  /** Null: meanwhile the user became a member of another account, which is not locked. */
  const tryRemove = (id: string, by: Actor | undefined, now: number): Promise<boolean | null> =>
    driver.transaction(async (trx) => {
      const accounts = await accountsOf(trx, id);
      await driver.lockAccounts(trx, accounts);
      await driver.lockUsers(trx, [id]);
      if ((await accountsOf(trx, id)).some((account) => !accounts.includes(account))) return null;
      if ((await soleOwnerOf(trx, id)).length > 0) return false;
      const memberships = await trx.deleteFrom('members').where('user_id', '=', id).returning('account_id').execute();
      const deleted = await trx.deleteFrom('auth_users').where('id', '=', id).returning('email').executeTakeFirst();
      if (deleted === undefined) return false;
      for (const { account_id } of memberships) {
        await writeAudit(trx, account_id, now, by, {
          action: 'member.removed',
          target: deleted.email,
          detail: { user: id },
        });
        await endInvitationsOf(trx, account_id, id, null, now, by);
      }
      return true;
    });

  return {
    ...mailboxes(driver),

    get: (id) => readUser(db, id),

    // The sign-in library keeps addresses in lower case.
    async byEmail(email) {
      const mine = db.selectFrom('auth_users').select(USER_COLUMNS).where('email', '=', email.toLowerCase());
      const row = await mine.executeTakeFirst();
      return row === undefined ? null : toUser(row);
    },

    async list() {
      const rows = await db.selectFrom('auth_users').select(USER_COLUMNS).orderBy('createdAt').orderBy('id').execute();
      const memberships = await db
        .selectFrom('members as m')
        .innerJoin('accounts as a', 'a.id', 'm.account_id')
        .select(['m.user_id', 'm.account_id', 'm.role'])
        .where('a.status', '<>', 'deleted')
        .orderBy('a.created_at')
        .orderBy('a.id')
        .execute();
      const byUser = Map.groupBy(memberships, (row) => row.user_id);
      const accounts = (id: string): { id: AccountId; role: Role }[] =>
        (byUser.get(id) ?? []).map((row) => ({ id: accountId(row.account_id), role: row.role }));
      return rows.map((row) => ({ ...toUser(row), accounts: accounts(row.id) }));
    },

    count: () => countOf(db.selectFrom('auth_users')),

    async setOperator(id, operator, by) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        const change = trx
          .updateTable('auth_users')
          .set({ operator: operator ? 1 : 0 })
          .where('id', '=', id);
        const user = await change.returning(['id', 'email']).executeTakeFirst();
        if (user === undefined) return false;
        const action = operator ? 'user.operator_granted' : 'user.operator_withdrawn';
        if (by !== undefined) await writeUserEvent(driver, trx, now, user, { user, by, action });
        return true;
      });
    },

    async remove(id, by) {
      const now = await driver.now();
      for (;;) {
        const removed = await tryRemove(id, by, now);
        if (removed !== null) return removed;
      }
    },
  };
}
