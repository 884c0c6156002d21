import type { Kysely } from 'kysely';
import { BATCH_ROWS } from '../batches.ts';
import type { StorageDriver } from '../driver.ts';
import type { Users } from '../store.ts';
import type { Row, Tables } from '../tables.ts';

/**
 * A mailbox belongs to the first user who claims it; the others who have an address there belong to it without a claim.
 */
export function mailboxes(driver: StorageDriver): Pick<Users, 'idByMailbox' | 'claimMailbox' | 'claimMailboxes'> {
  const { db } = driver;

  /** How many were free. */
  async function claim(on: Kysely<Tables>, rows: readonly Row<'mailboxes'>[]): Promise<bigint> {
    const insert = on.insertInto('mailboxes').values(rows);
    const { numInsertedOrUpdatedRows } = await insert.onConflict((oc) => oc.doNothing()).executeTakeFirst();
    return numInsertedOrUpdatedRows ?? 0n;
  }

  /** One batch of users without a claim, in order of their ids; the last id, null for none. */
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
