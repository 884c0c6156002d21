/** The end of an account: at once for everybody who asks for it, then step by step for its rows. */
import { sql, type Transaction } from 'kysely';
import type { Engine } from './engine.ts';
import { lockAccount } from './lock.ts';
import { STEP } from './steps.ts';
import type { AccountId } from './store.ts';
import type { Tables } from './tables.ts';

/** Of `users`, those who are in no account any more and no operators. Their sessions go with them. */
async function removeStranded(engine: Engine, trx: Transaction<Tables>, users: readonly string[]): Promise<void> {
  if (users.length === 0) return;
  // From here on nobody makes them a member of another account.
  await engine.lockUsers(trx, users);
  await trx
    .deleteFrom('auth_users')
    .where('id', 'in', users)
    .where('operator', '=', 0)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('members').select('user_id').whereRef('members.user_id', '=', 'auth_users.id'))),
    )
    .execute();
}

export function removeAccount(engine: Engine, id: AccountId): Promise<boolean> {
  return engine.transaction(async (trx) => {
    if ((await lockAccount(engine, trx, id)) === null) return false;
    await trx.updateTable('accounts').set({ status: 'deleted' }).where('id', '=', id).execute();
    await trx.deleteFrom('invitations').where('account_id', '=', id).execute();
    const members = await trx.deleteFrom('members').where('account_id', '=', id).returning('user_id').execute();
    const users = members.map((row) => row.user_id);
    await removeStranded(engine, trx, users);
    return true;
  });
}

/** Tables with rows of an account and what names a row in them; the log first, as it is the largest and most private. */
const OWNED = [
  ['verifications', ['seq']],
  ['idempotency', ['account_id', 'route', 'key']],
  ['trail', ['id']],
  ['filters', ['id']],
  ['traffic_hours', ['account_id', 'hour', 'metric', 'bucket']],
  ['usage_hours', ['account_id', 'hour', 'key_id', 'validation_type', 'status', 'reason']],
  ['ledger', ['id']],
  ['keys', ['id']],
] as const satisfies [keyof Tables, string[]][];

/** Accounts that were deleted and hold nothing any more: what settles late still has its account. */
const over = (engine: Engine) =>
  engine.db
    .selectFrom('accounts')
    .select('id')
    // Literally, so that the partial index answers.
    .where(sql<boolean>`status = 'deleted'`)
    .where('locked', '=', 0)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('holds').select('holds.id').whereRef('holds.account_id', '=', 'accounts.id'))),
    )
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();

/** Deletes rows of the first such account, or it itself when there are none; how many that were. */
export async function removalStep(engine: Engine): Promise<number> {
  const account = await over(engine);
  if (account === undefined) return 0;
  return engine.transaction(async (trx) => {
    await engine.lockAccounts(trx, [account.id]);
    for (const [table, names] of OWNED) {
      const name = sql.join(names.map((column) => sql.ref(column)));
      const { numAffectedRows } = await sql`
        DELETE FROM ${sql.table(table)} WHERE account_id = ${account.id} AND (${name}) IN (
          SELECT ${name} FROM ${sql.table(table)} WHERE account_id = ${account.id} LIMIT ${STEP}
        )`.execute(trx);
      if (Number(numAffectedRows ?? 0) > 0) return Number(numAffectedRows);
    }
    const gone = trx.deleteFrom('accounts').where('id', '=', account.id).where('locked', '=', 0);
    const { numDeletedRows } = await gone.executeTakeFirst();
    return Number(numDeletedRows);
  });
}
