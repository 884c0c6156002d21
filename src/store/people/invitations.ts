import type { Transaction } from 'kysely';
import { newId } from '../../kernel/ids.ts';
import type { Engine } from '../engine.ts';
import { lockAccount, needAccount } from '../lock.ts';
import { ROLE_ORDER } from '../people.ts';
import type { AccountId, Actor, Invitation, Members, Role } from '../store.ts';
import type { Row, Tables } from '../tables.ts';
import { storable } from '../text.ts';
import { tell } from './trail.ts';

const toInvitation = (row: Omit<Row<'invitations'>, 'token_hash'>, accountName: string): Invitation => ({
  id: row.id,
  account: row.account_id as AccountId,
  accountName,
  email: row.email,
  role: row.role,
  invitedBy: row.invited_by,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
});

const isHigher = (role: Role, than: Role): boolean => ROLE_ORDER.indexOf(role) > ROLE_ORDER.indexOf(than);

/** Makes the user a member, or raises the role of one who is. The account is locked. */
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
    await tell(trx, account, now, by, { action: 'member.added', target: email, detail });
  } else if (isHigher(role, before.role)) {
    const update = trx.updateTable('members').set({ role }).where('account_id', '=', account);
    await update.where('user_id', '=', user).execute();
    const detail = { user, from: before.role, to: role, invited: true };
    await tell(trx, account, now, by, { action: 'member.role_changed', target: email, detail });
  }
}

/** Invitations past their time count as gone; upkeep deletes them. */
export function invitations(
  engine: Engine,
): Pick<Members, 'invite' | 'invitations' | 'withdraw' | 'invitation' | 'accept'> {
  const { db } = engine;
  const pending = (now: number) =>
    db
      .selectFrom('invitations as i')
      .innerJoin('accounts as a', 'a.id', 'i.account_id')
      .selectAll('i')
      .select('a.name')
      .where('i.expires_at', '>', now)
      .where('a.status', '<>', 'deleted');

  return {
    async invite(account, { email, role, tokenHash, expiresAt }, by) {
      const now = await engine.now();
      const row = {
        id: newId('inv', now),
        account_id: account,
        email: storable(email).toLowerCase(),
        role,
        invited_by: storable(by.name),
        created_at: now,
        expires_at: expiresAt,
      };
      return engine.transaction(async (trx) => {
        const { name } = await needAccount(engine, trx, account);
        const earlier = trx.deleteFrom('invitations').where('account_id', '=', account);
        await earlier.where('email', '=', row.email).execute();
        await trx
          .insertInto('invitations')
          .values({ ...row, token_hash: tokenHash })
          .execute();
        await tell(trx, account, now, by, { action: 'member.invited', target: row.email, detail: { role } });
        return toInvitation(row, name);
      });
    },

    async invitations(account) {
      const mine = pending(await engine.now()).where('i.account_id', '=', account);
      const rows = await mine.orderBy('i.created_at').orderBy('i.id').execute();
      return rows.map((row) => toInvitation(row, row.name));
    },

    async withdraw(account, id, by) {
      const now = await engine.now();
      return engine.transaction(async (trx) => {
        const mine = trx.deleteFrom('invitations').where('account_id', '=', account).where('id', '=', id);
        const gone = await mine.returning(['email', 'role']).executeTakeFirst();
        if (gone === undefined) return false;
        const detail = { role: gone.role };
        await tell(trx, account, now, by, { action: 'invitation.withdrawn', target: gone.email, detail });
        return true;
      });
    },

    async invitation(tokenHash) {
      const row = await pending(await engine.now())
        .where('i.token_hash', '=', tokenHash)
        .executeTakeFirst();
      return row === undefined ? null : toInvitation(row, row.name);
    },

    async accept(tokenHash, user, by) {
      const now = await engine.now();
      return engine.transaction(async (trx) => {
        const token = trx.selectFrom('invitations').select('account_id').where('token_hash', '=', tokenHash);
        const found = await token.executeTakeFirst();
        if (found === undefined) return null;
        const account = await lockAccount(engine, trx, found.account_id);
        if (account === null) return null;
        const used = trx.deleteFrom('invitations').where('token_hash', '=', tokenHash).where('expires_at', '>', now);
        const row = await used.returningAll().executeTakeFirst();
        if (row === undefined) return null;
        await admit(trx, found.account_id as AccountId, user, row.role, now, by, row.email);
        return toInvitation(row, account.name);
      });
    },
  };
}
