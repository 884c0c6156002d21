import type { Transaction } from 'kysely';
import type { AccountStatus } from '../../kernel/facts/plans.ts';
import type { Role } from '../../kernel/facts/roles.ts';
import type { StorageDriver } from '../driver.ts';
import { lockAccount } from '../lock.ts';
import { accountId } from '../rows.ts';
import type { AccountId, AccountRole, Actor, Members, RoleOutcome } from '../store.ts';
import type { Tables } from '../tables.ts';
import { liveIdOf, testAccount, testIdOf } from '../test-account.ts';
import { writeAudit } from './audit-log.ts';
import { endInvitationsOf, invitations, missingRole } from './invitations.ts';

const emailOf = async (trx: Transaction<Tables>, user: string): Promise<string> =>
  (await trx.selectFrom('auth_users').select('email').where('id', '=', user).executeTakeFirst())?.email ?? user;

/** Whether the user is the account's only owner. The account must be locked. */
async function isLastOwner(trx: Transaction<Tables>, account: string, user: string): Promise<boolean> {
  const owners = trx.selectFrom('members').select('user_id').where('account_id', '=', account);
  const rows = await owners.where('role', '=', 'owner').limit(2).execute();
  return rows.length === 1 && rows[0]?.user_id === user;
}

/** False for one who is a member already. */
export async function insertMember(
  trx: Transaction<Tables>,
  { account, user, role }: { readonly account: string; readonly user: string; readonly role: Role },
  now: number,
  by: Actor,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('members')
    .values({ account_id: account, user_id: user, role, created_at: now })
    .onConflict((oc) => oc.doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows !== 1n) return false;
  const detail = { user, role };
  await writeAudit(trx, account, now, by, { action: 'member.added', target: await emailOf(trx, user), detail });
  return true;
}

export function members(driver: StorageDriver): Members {
  const { db } = driver;

  /** Changes the member's role; null removes the member. */
  async function change(account: AccountId, user: string, role: Role | null, by: Actor): Promise<RoleOutcome> {
    const now = await driver.now();
    return driver.transaction(async (trx) => {
      if ((await lockAccount(driver, trx, account)) === null) return 'not_found';
      const mine = trx.selectFrom('members').select('role').where('account_id', '=', account);
      const before = await mine.where('user_id', '=', user).executeTakeFirst();
      if (before === undefined) return 'not_found';
      const leaves = role === null && by.id === user;
      const roles = role === null ? [before.role] : [before.role, role];
      const missing = leaves ? null : await missingRole(trx, account, roles, by);
      if (missing !== null) return `${missing}_needed` as const;
      if (before.role === role) return 'done';
      if (before.role === 'owner' && (await isLastOwner(trx, account, user))) return 'last_owner';
      const target = await emailOf(trx, user);
      if (role === null) {
        await trx.deleteFrom('members').where('account_id', '=', account).where('user_id', '=', user).execute();
        const detail = { user, role: before.role };
        await writeAudit(trx, account, now, by, { action: 'member.removed', target, detail });
      } else {
        const update = trx.updateTable('members').set({ role }).where('account_id', '=', account);
        await update.where('user_id', '=', user).execute();
        const detail = { user, from: before.role, to: role };
        await writeAudit(trx, account, now, by, { action: 'member.role_changed', target, detail });
      }
      await endInvitationsOf(trx, account, user, role, now, by);
      return 'done';
    });
  }

  async function roleIn(account: string, user: string): Promise<AccountRole | null> {
    const row = await db
      .selectFrom('accounts as a')
      .innerJoin('members as m', (join) =>
        join.on((eb) => eb('m.account_id', '=', eb.fn.coalesce('a.test_of', 'a.id'))).on('m.user_id', '=', user),
      )
      .select(['a.id', 'm.role', 'a.status', 'a.second_factor_required', 'a.test_of'])
      .where('a.id', '=', account)
      .where('a.status', '<>', 'deleted')
      .executeTakeFirst();
    if (row === undefined) return null;
    const { id, role, status, second_factor_required: required, test_of } = row;
    const suspended = status === 'suspended';
    return { account: accountId(id), role, secondFactorRequired: required === 1, suspended, test: test_of !== null };
  }

  return {
    ...invitations(driver),

    async role(account, user) {
      const found = await roleIn(account, user);
      const live = liveIdOf(account);
      if (found !== null || live === null) return found;
      const membership = await roleIn(live, user);
      if (membership === null || membership.test) return null;
      await testAccount(driver, membership.account);
      return roleIn(account, user);
    },

    async ofUser(user) {
      const rows = await db
        .selectFrom('members as m')
        .innerJoin('accounts as a', 'a.id', 'm.account_id')
        .select(['a.id', 'a.name', 'a.plan', 'a.status', 'a.second_factor_required', 'm.role'])
        .where('m.user_id', '=', user)
        .where('a.status', '<>', 'deleted')
        .$narrowType<{ status: AccountStatus }>()
        .orderBy('a.created_at')
        .orderBy('a.id')
        .execute();
      return rows.map(({ id, name, plan, status, role, second_factor_required: required }) => ({
        account: accountId(id),
        testAccount: testIdOf(accountId(id)),
        accountName: name,
        plan,
        status,
        role,
        secondFactorRequired: required === 1,
      }));
    },

    async list(account) {
      const rows = await db
        .selectFrom('members as m')
        .innerJoin('auth_users as u', 'u.id', 'm.user_id')
        .innerJoin('accounts as a', 'a.id', 'm.account_id')
        .select(['m.user_id', 'u.email', 'u.name', 'm.role', 'u.twoFactorEnabled', 'm.created_at'])
        .where('m.account_id', '=', account)
        .where('a.status', '<>', 'deleted')
        .orderBy('m.created_at')
        .orderBy('m.user_id')
        .execute();
      return rows.map((row) => ({
        userId: row.user_id,
        email: row.email,
        name: row.name,
        role: row.role,
        secondFactor: Boolean(row.twoFactorEnabled),
        createdAt: row.created_at,
      }));
    },

    async add(account, user, role, by) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        if ((await lockAccount(driver, trx, account)) === null) return false;
        return insertMember(trx, { account, user, role }, now, by);
      });
    },

    setRole: (account, user, role, by) => change(account, user, role, by),
    remove: (account, user, by) => change(account, user, null, by),
  };
}
