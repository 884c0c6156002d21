/** Deleting what is past its time. */
import { sql, type Transaction } from 'kysely';
import { toDate, toIso } from '../kernel/clock.ts';
import type { Engine } from './engine.ts';
import { BEHIND_LAST, FIRST } from './log/row.ts';
import { removalStep } from './removal.ts';
import { inSteps, STEP } from './steps.ts';
import type { Tables } from './tables.ts';

const DAY = 24 * 3600 * 1000;
/** As far back as the widest chart goes. */
const TRAFFIC_LIFE = 800 * DAY;

interface Aged {
  readonly seq: number;
  readonly account_id: string;
  readonly created_at: number;
}

/** Their credits are kept in a sum, so that the account's sums still agree. */
async function forget(engine: Engine, trx: Transaction<Tables>, old: readonly Aged[]): Promise<number> {
  await engine.lockAccounts(trx, [...new Set(old.map((row) => row.account_id))]);
  const seqs = old.map((row) => row.seq);
  const gone = trx.deleteFrom('verifications').where('seq', 'in', seqs);
  const purged = await gone.returning(['account_id', 'credits']).execute();
  for (const [account, rows] of Map.groupBy(purged, (row) => row.account_id)) {
    const sum = rows.reduce((total, row) => total + row.credits, 0);
    const update = trx.updateTable('accounts').set((eb) => ({ purged_credits: eb('purged_credits', '+', sum) }));
    await update.where('id', '=', account).execute();
  }
  return purged.length;
}

/** The oldest verifications of all, or of one account, by the order in which they were recorded. */
const ageStep = (engine: Engine, before: number, account?: string): Promise<number> =>
  engine.transaction(async (trx) => {
    const all = trx.selectFrom('verifications').select(['seq', 'account_id', 'created_at']).limit(STEP);
    const oldest =
      account === undefined
        ? all.orderBy('seq')
        : all
            .where(engine.stretch(account, FIRST, BEHIND_LAST))
            .orderBy('account_id')
            .orderBy('seq');
    const old = (await oldest.execute()).filter((row) => row.created_at < before);
    return old.length === 0 ? 0 : forget(engine, trx, old);
  });

/** Accounts that keep their log for fewer days than they have it, by id; at most STEP behind `after` are looked at. */
async function overdue({ db }: Engine, now: number, after: string) {
  const some = await db
    .selectFrom('accounts as a')
    .select(['a.id', 'a.retention_days'])
    .select((eb) =>
      eb
        .selectFrom('verifications as v')
        .select('v.created_at')
        // Not as an equation, for the reason that `Engine.stretch` has.
        .whereRef('v.account_id', '>=', 'a.id')
        .whereRef('v.account_id', '<=', 'a.id')
        .orderBy('v.account_id')
        .orderBy('v.seq')
        .limit(1)
        .as('oldest'),
    )
    .where('a.retention_days', 'is not', null)
    .where('a.id', '>', after)
    .orderBy('a.id')
    .limit(STEP)
    .execute();
  const due = some.flatMap(({ id, retention_days: days, oldest }) => {
    const before = now - (days ?? 0) * DAY;
    return oldest !== null && oldest < before ? [{ id, before }] : [];
  });
  return { due, last: some.length < STEP ? null : some.at(-1)!.id };
}

async function purgeByAccount(engine: Engine, now: number): Promise<number> {
  let total = 0;
  for (let after: string | null = ''; after !== null; ) {
    const { due, last }: Awaited<ReturnType<typeof overdue>> = await overdue(engine, now, after);
    for (const { id, before } of due) total += await inSteps(() => ageStep(engine, before, id));
    after = last;
  }
  return total;
}

/** Rows that end at a time of their own; `names` tell them apart. */
const ENDING = [
  ['idempotency', ['account_id', 'route', 'key'], 'expires_at', 0],
  ['attempts', ['subject'], 'ends_at', 0],
  ['invitations', ['id'], 'expires_at', 0],
  ['traffic_hours', ['account_id', 'hour', 'metric', 'bucket'], 'hour', TRAFFIC_LIFE],
] as const satisfies [keyof Tables, string[], string, number][];

async function endStep({ db }: Engine, now: number, [table, names, time, life]: (typeof ENDING)[number]) {
  const name = sql.join(names.map((column) => sql.ref(column)));
  const { numAffectedRows } = await sql`
    DELETE FROM ${sql.table(table)} WHERE (${name}) IN (
      SELECT ${name} FROM ${sql.table(table)} WHERE ${sql.ref(time)} <= ${now - life} LIMIT ${STEP}
    )`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Sessions, links and half-finished sign-ups: the library forgets those that are asked for again, which most are not. */
const ENDING_SIGN_INS = ['auth_sessions', 'auth_verifications'] as const;

async function signInStep({ db, name }: Engine, now: number, table: (typeof ENDING_SIGN_INS)[number]) {
  // In the library's own form of a time.
  const time = name === 'sqlite' ? toIso(now) : toDate(now);
  const { numAffectedRows } = await sql`
    DELETE FROM ${sql.table(table)} WHERE "id" IN (
      SELECT "id" FROM ${sql.table(table)} WHERE "expiresAt" <= ${time} LIMIT ${STEP}
    )`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** See `Upkeep.purge`. */
export async function purge(engine: Engine, before: number): Promise<number> {
  const now = await engine.now();
  let total = await inSteps(() => ageStep(engine, before));
  total += await purgeByAccount(engine, now);
  for (const kind of ENDING) total += await inSteps(() => endStep(engine, now, kind));
  for (const table of ENDING_SIGN_INS) total += await inSteps(() => signInStep(engine, now, table));
  return total + (await inSteps(() => removalStep(engine)));
}
