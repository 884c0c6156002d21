/** Erasing a person from the log, so that the sums of the account still agree. */
import { sql, type Transaction } from 'kysely';
import { sha256Hex } from '../../kernel/ids.ts';
import { REPLY_LIFE } from '../charge/idempotency.ts';
import type { Engine } from '../engine.ts';
import { needAccount } from '../lock.ts';
import { tell } from '../people/trail.ts';
import { breath, STEP } from '../steps.ts';
import type { AccountId, Actor } from '../store.ts';
import type { Tables } from '../tables.ts';
import { storable } from '../text.ts';
import { ADDRESS } from './address.ts';
import { BEHIND_LAST, FIRST } from './row.ts';

const fold = (text: string): string => storable(text).toLowerCase();

/** By the index, as often as it finds some: what it gives is deleted before it goes on. */
async function* byIndex({ db }: Engine, account: AccountId, email: string): AsyncGenerator<number[]> {
  const text = fold(email);
  const mine = db.selectFrom('verifications').select('seq').where('account_id', '=', account);
  const same = mine.where(ADDRESS, '=', sql<string>`substr(${text}, 1, 320)`).where(sql`lower(email)`, '=', text);
  for (let full = true; full; ) {
    const rows = await same.limit(STEP).execute();
    yield rows.map((row) => row.seq);
    full = rows.length === STEP;
  }
}

/** All of the log, compared here. */
async function* byReading(engine: Engine, account: AccountId, email: string): AsyncGenerator<number[]> {
  const oldest = engine.db.selectFrom('verifications').select(['seq', 'email']).orderBy('account_id').orderBy('seq');
  for (let from = FIRST, full = true; full; ) {
    const rows = await oldest
      .where(engine.stretch(account, from, BEHIND_LAST))
      .limit(STEP)
      .execute();
    yield rows.filter((row) => fold(row.email) === fold(email)).map((row) => row.seq);
    full = rows.length === STEP;
    from = (rows.at(-1)?.seq ?? from) + 1;
  }
}

/** Replies that are kept to be given again. They were stored at the same time as what they say, which an index has. */
async function forgetReplies(
  trx: Transaction<Tables>,
  account: AccountId,
  gone: readonly { body: string; created_at: number }[],
): Promise<void> {
  for (const [at, rows] of Map.groupBy(gone, (row) => row.created_at)) {
    const bodies = rows.map((row) => row.body);
    const kept = trx.deleteFrom('idempotency').where('account_id', '=', account);
    const same = kept.where('expires_at', '=', at + REPLY_LIFE);
    await same.where('body', 'in', bodies).execute();
  }
}

/** How many there were. The account is locked. */
async function forget(
  trx: Transaction<Tables>,
  account: AccountId,
  seqs: readonly number[],
  now: number,
): Promise<number> {
  if (seqs.length === 0) return 0;
  const mine = trx.deleteFrom('verifications').where('account_id', '=', account).where('seq', 'in', seqs);
  const gone = await mine.returning(['body', 'credits', 'created_at']).execute();
  const credits = gone.reduce((sum, row) => sum + row.credits, 0);
  const update = trx.updateTable('accounts').set((eb) => ({ purged_credits: eb('purged_credits', '+', credits) }));
  await update.where('id', '=', account).execute();
  const young = gone.filter((row) => row.created_at + REPLY_LIFE > now);
  await forgetReplies(trx, account, young);
  return gone.length;
}

/** See `Verifications.erase`. The audit log's row names no address, and says how many are gone after every step. */
export async function erase(engine: Engine, account: AccountId, email: string, by: Actor): Promise<number> {
  const now = await engine.now();
  const target = `sha256:${sha256Hex(fold(email)).slice(0, 16)}`;
  const step = (seqs: readonly number[], before: { erased: number; entry: number | null }) =>
    engine.transaction(async (trx) => {
      await needAccount(engine, trx, account);
      const erased = before.erased + (await forget(trx, account, seqs, now));
      const detail = { erased };
      if (before.entry === null) {
        return { erased, entry: await tell(trx, account, now, by, { action: 'log.erased', target, detail }) };
      }
      const row = trx.updateTable('trail').set({ detail: JSON.stringify(detail) });
      await row.where('id', '=', before.entry).execute();
      return { erased, entry: before.entry };
    });

  // The engines' lower case and ours are the same as long as it is about ASCII.
  const isAscii = /^\p{ASCII}*$/u.test(fold(email));
  let done = await step([], { erased: 0, entry: null });
  for await (const seqs of (isAscii ? byIndex : byReading)(engine, account, email)) {
    if (seqs.length > 0) done = await step(seqs, done);
    await breath();
  }
  return done.erased;
}
