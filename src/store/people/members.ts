import type { Transaction } from 'kysely';
import type { AccountStatus } from '../../kernel/facts/plans.ts';
import { isAtLeast, ROLES, type Role } from '../../kernel/facts/roles.ts';
import { newId } from '../../kernel/ids.ts';
import type { MailPayload } from '../../kernel/jobs.ts';
import { lockAccount, lockExistingAccount } from '../account-rows.ts';
import type { StorageDriver, TransactionDriver } from '../driver.ts';
import { accountId, storable } from '../rows.ts';
import type { AccountId, AccountRole, Actor, Invitation, InvitationInput, RoleOutcome, Store } from '../store.ts';
import type { Row, Tables } from '../tables.ts';
import { liveIdOf, testAccount, testIdOf } from '../test-account.ts';
import { writeAudit } from './audit-log.ts';

const toInvitation = (row: Omit<Row<'invitations'>, 'token_hash'>, accountName: string): Invitation => ({
  id: row.id,
  account: accountId(row.account_id),
  accountName,
  email: row.email,
  role: row.role,
  invitedBy: row.invited_by,
  provesAddress: row.proves_address === 1,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
});

/** Owners may manage owners, admins anyone else. */
const managerOf = (roles: readonly Role[]): 'owner' | 'admin' => (roles.includes('owner') ? 'owner' : 'admin');

/**
 * The role that `by` lacks to invite, change or remove members with these roles; null if `by` may. A user's role is
 * read again in the transaction, because it may have changed since the guard read it. The account is locked.
 */
async function missingRole(
  trx: Transaction<Tables>,
  account: string,
  roles: readonly Role[],
  by: Actor,
): Promise<'owner' | 'admin' | null> {
  if (by.kind !== 'user') return null;
  const mine = trx.selectFrom('members').select('role').where('account_id', '=', account);
  const acting = await mine.where('user_id', '=', by.id).executeTakeFirst();
  const needed = managerOf(roles);
  return acting !== undefined && isAtLeast(acting.role, needed) ? null : needed;
}

/** Ends what a member has sent and may no longer send with this role (null: removed). The account is locked. */
export async function endInvitationsOf(
  trx: Transaction<Tables>,
  account: string,
  sender: string,
  role: Role | null,
  now: number,
  by: Actor | undefined,
): Promise<void> {
  const sent = trx.selectFrom('invitations').select(['id', 'email', 'role']).where('account_id', '=', account);
  for (const { id, email, role: invited } of await sent.where('sender_id', '=', sender).execute()) {
    if (role !== null && isAtLeast(role, managerOf([invited]))) continue;
    await trx.deleteFrom('invitations').where('id', '=', id).execute();
    const detail = { role: invited, sender };
    await writeAudit(trx, account, now, by, { action: 'invitation.withdrawn', target: email, detail });
  }
}

/** Makes the user a member, or raises a member's role. The account is locked. */
async function admitMember(
  trx: Transaction<Tables>,
  account: AccountId,
  user: string,
  role: Role,
  now: number,
  by: Actor,
  email: string,
): Promise<void> {
  const mine = trx.selectFrom('members').select('role').where('account_id', '=', account).where('user_id', '=', user);
  const before = await mine.executeTakeFirst();
  if (before === undefined) {
    await trx.insertInto('members').values({ account_id: account, user_id: user, role, created_at: now }).execute();
    const detail = { user, role, invited: true };
    await writeAudit(trx, account, now, by, { action: 'member.added', target: email, detail });
  } else if (!isAtLeast(before.role, role)) {
    const update = trx.updateTable('members').set({ role }).where('account_id', '=', account);
    await update.where('user_id', '=', user).execute();
    const detail = { user, from: before.role, to: role, invited: true };
    await writeAudit(trx, account, now, by, { action: 'member.role_changed', target: email, detail });
  }
}

/** See `Members.accept`. Locks the account. */
export async function acceptInvitation(
  driver: StorageDriver,
  trx: Transaction<Tables>,
  tokenHash: string,
  user: string,
  now: number,
  by: Actor,
): Promise<Invitation | null> {
  const token = trx.selectFrom('invitations').select('account_id').where('token_hash', '=', tokenHash);
  const found = await token.executeTakeFirst();
  if (found === undefined) return null;
  const account = await lockAccount(driver, trx, found.account_id);
  if (account === null) return null;
  const used = trx.deleteFrom('invitations').where('token_hash', '=', tokenHash).where('expires_at', '>', now);
  const row = await used.returningAll().executeTakeFirst();
  if (row === undefined) return null;
  await admitMember(trx, accountId(found.account_id), user, row.role, now, by, row.email);
  return toInvitation(row, account.name);
}

/** See `Members.invite`. The account is locked, or new. */
export async function insertInvitation(
  driver: Pick<TransactionDriver, 'jobs'>,
  trx: Transaction<Tables>,
  account: { readonly id: AccountId; readonly name: string },
  { email, role, tokenHash, expiresAt, provesAddress = false, mailTo = null }: InvitationInput,
  now: number,
  by: Actor,
): Promise<Invitation | null> {
  const row = {
    id: newId('inv', now),
    account_id: account.id,
    email: storable(email).toLowerCase(),
    role,
    invited_by: storable(by.name),
    sender_id: by.kind === 'user' ? by.id : null,
    proves_address: provesAddress ? 1 : 0,
    created_at: now,
    expires_at: expiresAt,
  };
  const earlier = trx.selectFrom('invitations').select(['id', 'role']).where('account_id', '=', account.id);
  const replaced = await earlier.where('email', '=', row.email).executeTakeFirst();
  // Whoever may not send an invitation may not replace it either.
  const roles = replaced === undefined ? [role] : [role, replaced.role];
  if ((await missingRole(trx, account.id, roles, by)) !== null) return null;
  if (replaced !== undefined) await trx.deleteFrom('invitations').where('id', '=', replaced.id).execute();
  await trx
    .insertInto('invitations')
    .values({ ...row, token_hash: tokenHash })
    .execute();
  await writeAudit(trx, account.id, now, by, { action: 'member.invited', target: row.email, detail: { role } });
  if (mailTo !== null) await driver.jobs.add(trx, { kind: 'mail', payload: mailTo(account.name), account: account.id });
  return toInvitation(row, account.name);
}

/** Expired invitations count as absent; the purge deletes them. */
function invitations(
  driver: StorageDriver,
): Pick<Store['members'], 'invite' | 'invitations' | 'withdraw' | 'invitation' | 'accept'> {
  const { db } = driver;
  const pending = (now: number) =>
    db
      .selectFrom('invitations as i')
      .innerJoin('accounts as a', 'a.id', 'i.account_id')
      .selectAll('i')
      .select('a.name')
      .where('i.expires_at', '>', now)
      .where('a.status', '<>', 'deleted');

  return {
    async invite(account, input, by) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        const { name } = await lockExistingAccount(driver, trx, account);
        return insertInvitation(driver, trx, { id: account, name }, input, now, by);
      });
    },

    async invitations(account) {
      const mine = pending(await driver.now()).where('i.account_id', '=', account);
      const rows = await mine.orderBy('i.created_at').orderBy('i.id').execute();
      return rows.map((row) => toInvitation(row, row.name));
    },

    async withdraw(account, id, by) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        if ((await lockAccount(driver, trx, account)) === null) return 'not_found';
        const mine = trx.selectFrom('invitations').select(['email', 'role']).where('account_id', '=', account);
        const sent = await mine.where('id', '=', id).executeTakeFirst();
        if (sent === undefined) return 'not_found';
        const missing = await missingRole(trx, account, [sent.role], by);
        if (missing !== null) return `${missing}_needed` as const;
        await trx.deleteFrom('invitations').where('id', '=', id).execute();
        const detail = { role: sent.role };
        await writeAudit(trx, account, now, by, { action: 'invitation.withdrawn', target: sent.email, detail });
        return 'done';
      });
    },

    async invitation(tokenHash) {
      const row = await pending(await driver.now())
        .where('i.token_hash', '=', tokenHash)
        .executeTakeFirst();
      return row === undefined ? null : toInvitation(row, row.name);
    },

    async accept(tokenHash, user, by) {
      const now = await driver.now();
      return driver.transaction((trx) => acceptInvitation(driver, trx, tokenHash, user, now, by));
    },
  };
}

/** Who gets the mails about an account. */
const MAILED_ROLES = ROLES.filter((role) => isAtLeast(role, 'admin'));

/** Finds the addresses of the account's owners and admins. */
export async function adminsOf(trx: Transaction<Tables>, account: string): Promise<string[]> {
  const people = trx.selectFrom('members as m').innerJoin('auth_users as u', 'u.id', 'm.user_id').select('u.email');
  const recipients = people.where('m.account_id', '=', account).where('m.role', 'in', MAILED_ROLES).orderBy('u.email');
  return (await recipients.execute()).map(({ email }) => email);
}

/** Adds the mails to the account's owners and admins; `mailTo` returns null for none. */
export async function mailAdmins(
  driver: Pick<TransactionDriver, 'jobs'>,
  trx: Transaction<Tables>,
  account: string,
  mailTo: (to: string) => MailPayload | null,
): Promise<void> {
  for (const email of await adminsOf(trx, account)) {
    const payload = mailTo(email);
    if (payload !== null) await driver.jobs.add(trx, { kind: 'mail', payload, account });
  }
}

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

export function members(driver: StorageDriver): Store['members'] {
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
        .select(['m.user_id', 'u.email', 'u.name', 'm.role', 'u.twoFactorEnabled', 'm.created_at', 'm.last_active_at'])
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
        lastActiveAt: row.last_active_at,
      }));
    },

    async recordActivity(account, user, everyMs) {
      const now = await driver.now();
      await db
        .updateTable('members')
        .set({ last_active_at: now })
        .where('account_id', '=', liveIdOf(account) ?? account)
        .where('user_id', '=', user)
        // Another node may have written it meanwhile.
        .where((eb) => eb.or([eb('last_active_at', 'is', null), eb('last_active_at', '<=', now - everyMs)]))
        .execute();
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
