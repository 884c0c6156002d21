import type { Transaction } from 'kysely';
import { isAtLeast, type Role } from '../../kernel/facts/roles.ts';
import { newId } from '../../kernel/ids.ts';
import type { StorageDriver } from '../driver.ts';
import { lockAccount, lockExistingAccount } from '../lock.ts';
import { accountId } from '../rows.ts';
import type { AccountId, Actor, Invitation, Members } from '../store.ts';
import type { Row, Tables } from '../tables.ts';
import { storable } from '../text.ts';
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

/** Owners manage owners, admins anyone else. */
const managerOf = (roles: readonly Role[]): 'owner' | 'admin' => (roles.includes('owner') ? 'owner' : 'admin');

/**
 * The role that `by` lacks to invite, change or remove members with these roles; null if `by` may. A user's role is
 * read again in the transaction, because it may have changed since the guard read it. The account is locked.
 */
export async function missingRole(
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
async function admit(
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
  await admit(trx, accountId(found.account_id), user, row.role, now, by, row.email);
  return toInvitation(row, account.name);
}

/** Expired invitations count as absent; the purge deletes them. */
export function invitations(
  driver: StorageDriver,
): Pick<Members, 'invite' | 'invitations' | 'withdraw' | 'invitation' | 'accept'> {
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
    async invite(account, { email, role, tokenHash, expiresAt, provesAddress = false, mailTo = null }, by) {
      const now = await driver.now();
      const row = {
        id: newId('inv', now),
        account_id: account,
        email: storable(email).toLowerCase(),
        role,
        invited_by: storable(by.name),
        sender_id: by.kind === 'user' ? by.id : null,
        proves_address: provesAddress ? 1 : 0,
        created_at: now,
        expires_at: expiresAt,
      };
      return driver.transaction(async (trx) => {
        const { name } = await lockExistingAccount(driver, trx, account);
        const earlier = trx.selectFrom('invitations').select(['id', 'role']).where('account_id', '=', account);
        const replaced = await earlier.where('email', '=', row.email).executeTakeFirst();
        // Whoever may not send an invitation may not replace it either.
        const roles = replaced === undefined ? [role] : [role, replaced.role];
        if ((await missingRole(trx, account, roles, by)) !== null) return null;
        if (replaced !== undefined) await trx.deleteFrom('invitations').where('id', '=', replaced.id).execute();
        await trx
          .insertInto('invitations')
          .values({ ...row, token_hash: tokenHash })
          .execute();
        await writeAudit(trx, account, now, by, { action: 'member.invited', target: row.email, detail: { role } });
        if (mailTo !== null) await driver.jobs.add(trx, { kind: 'mail', payload: mailTo(name), account });
        return toInvitation(row, name);
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
