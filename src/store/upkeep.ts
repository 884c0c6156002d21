import { type RawBuilder, type SqlBool, sql, type Transaction } from 'kysely';
import { DAY_MS, toDate, toIso } from '../kernel/clock.ts';
import { OUTCOMES_DAYS, SEEN_DAYS, USAGE_HOURS_KEPT_DAYS } from '../kernel/facts/limits.ts';
import { onceAtATime } from '../kernel/once-at-a-time.ts';
import { addRemovalJobs, removeRows } from './account-removal.ts';
import { BATCH_ROWS, DELETED_ROWS, inBatches, yieldToEventLoop } from './batches.ts';
import { giveBackTo, releaseExpired, type Scope } from './charge/shared-hold.ts';
import type { StorageDriver, TableSchema } from './driver.ts';
import { removeExpiredFilters } from './filters.ts';
import { forgetEnded } from './leases.ts';
import { createLedgerRollUp, type LedgerRollUp } from './ledger.ts';
import { expireLists } from './lists/remove.ts';
import { endLeasesOf } from './lists/work.ts';
import { AFTER_LAST_SEQ, FIRST_SEQ } from './log/search.ts';
import { oldestByRetention } from './log/verifications.ts';
import { purgeOutcomes } from './outcomes.ts';
import { OWNED_TABLES } from './owned-tables.ts';
import { purgeSeen } from './seen.ts';
import type { PurgeRound, Store, StoreClock } from './store.ts';
import type { Row, Tables } from './tables.ts';
import { createUsageRollUp, type UsageRollUp } from './usage.ts';

/** The first full day whose counters stay hourly: what a chart of hours may show is not rolled up. */
const usageHoursFrom = (now: number, keepMs: number): number =>
  Math.floor((now - Math.max(keepMs, USAGE_HOURS_KEPT_DAYS * DAY_MS)) / DAY_MS) * DAY_MS;

// Deletes rows past their retention.

/** A table may lose so many rows in one round; the next round begins after a pause. */
const PURGE_ROUND_ROWS = 50_000;

/**
 * Deletes a batch of the oldest verifications, of one account or of all, in order of recording. They are looked up
 * before the transaction, for which charges wait; whatever has deleted one of them meanwhile has counted it.
 */
async function retentionStep(driver: StorageDriver, before: number, account?: string): Promise<number> {
  const all = driver.db.selectFrom('verifications').select(['seq', 'account_id', 'created_at']).limit(DELETED_ROWS);
  const oldest =
    account === undefined
      ? all.orderBy('seq')
      : all
          .where(driver.seqRange(account, FIRST_SEQ, AFTER_LAST_SEQ))
          .orderBy('account_id')
          .orderBy('seq');
  const old = (await oldest.execute()).filter((row) => row.created_at < before);
  return old.length === 0 ? 0 : driver.bulk.deleteVerifications(old);
}

/**
 * Accounts with a retention of their own and rows beyond it; looks at up to BATCH_ROWS accounts after `after`, by id.
 */
async function overdue({ db }: StorageDriver, now: number, after: string) {
  const some = await oldestByRetention(db, after);
  const due = some.flatMap(({ id, retention_days: days, oldest }) => {
    const before = now - days * DAY_MS;
    return oldest !== null && oldest < before ? [{ id, before }] : [];
  });
  return { due, last: some.length < BATCH_ROWS ? null : (some.at(-1)?.id ?? null) };
}

async function purgeByAccount(driver: StorageDriver, now: number, most: number, signal?: AbortSignal): Promise<number> {
  let total = 0;
  for (let after: string | null = ''; after !== null && total < most && !signal?.aborted; ) {
    const { due, last }: Awaited<ReturnType<typeof overdue>> = await overdue(driver, now, after);
    for (const { id, before } of due)
      total += await inBatches(() => retentionStep(driver, before, id), signal, most - total);
    after = last;
  }
  return total;
}

interface KeptAsTheLog {
  readonly table: 'webhook_deliveries' | 'rejected_requests';
  readonly column: string;
  readonly finished: RawBuilder<SqlBool>;
}

/** Rows that are kept as long as the log of their account, by the time in this column. */
const KEPT_AS_THE_ACCOUNTS_LOG: readonly KeptAsTheLog[] = [
  { table: 'webhook_deliveries', column: 'created_at', finished: sql`status <> 'pending'` },
  { table: 'rejected_requests', column: 'at', finished: sql`true` },
];

async function accountsLogStep({ db }: StorageDriver, now: number, kept: KeptAsTheLog, keepMs: number) {
  const { table, column, finished } = kept;
  const old = sql`${sql.ref(column)} < ${now - keepMs}`;
  const short = sql`EXISTS (
    SELECT 1 FROM accounts a WHERE a.id = account_id AND a.retention_days IS NOT NULL
      AND ${sql.ref(column)} < CAST(${now} AS BIGINT) - CAST(a.retention_days AS BIGINT) * ${sql.lit(DAY_MS)})`;
  for (const some of [old, short]) {
    const { numAffectedRows } = await sql`
      DELETE FROM ${sql.table(table)} WHERE id IN (
        SELECT id FROM ${sql.table(table)} WHERE ${finished} AND ${some} LIMIT ${BATCH_ROWS}
      )`.execute(db);
    if ((numAffectedRows ?? 0n) > 0n) return Number(numAffectedRows);
  }
  return 0;
}

interface Expiry {
  readonly column: string;
  readonly afterMs: number;
}

/** Tables of no account whose rows are kept as long as the log, by the time in this column. */
const KEPT_AS_THE_LOG: ReadonlyMap<string, string> = new Map([['uncertain_replies', 'last_seen']]);

/** The rows of these tables expire by a column of their own. */
const EXPIRING: ReadonlyMap<string, Expiry> = new Map([
  ...Object.entries(OWNED_TABLES).flatMap(([table, { purge }]) => ('column' in purge ? [[table, purge] as const] : [])),
  ['attempts', { column: 'ends_at', afterMs: 0 }],
  ['list_leases', { column: 'ends_at', afterMs: DAY_MS }],
]);

async function expiryStep({ db }: StorageDriver, now: number, { table, key }: TableSchema, expiry: Expiry) {
  const row = sql.join(key.map((column) => sql.ref(column)));
  const { numAffectedRows } = await sql`
    DELETE FROM ${sql.table(table)} WHERE (${row}) IN (
      SELECT ${row} FROM ${sql.table(table)} WHERE ${sql.ref(expiry.column)} <= ${now - expiry.afterMs}
      LIMIT ${BATCH_ROWS}
    )`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Sessions, links and unfinished sign-ups: the sign-in library deletes only those that are used again. */
const EXPIRING_SIGN_INS = ['auth_sessions', 'auth_verifications'] as const;

async function signInStep({ db, name }: StorageDriver, now: number, table: (typeof EXPIRING_SIGN_INS)[number]) {
  // The sign-in library has its own time format.
  const time = name === 'sqlite' ? toIso(now) : toDate(now);
  const { numAffectedRows } = await sql`
    DELETE FROM ${sql.table(table)} WHERE "id" IN (
      SELECT "id" FROM ${sql.table(table)} WHERE "expiresAt" <= ${time} LIMIT ${BATCH_ROWS}
    )`.execute(db);
  return Number(numAffectedRows ?? 0);
}

interface PurgeParts {
  readonly clock: StoreClock;
  readonly rollUpLedger: LedgerRollUp;
  readonly rollUpUsage: UsageRollUp;
}

/** See `Upkeep.purge`. */
async function purge(
  driver: StorageDriver,
  { clock, rollUpLedger, rollUpUsage }: PurgeParts,
  { keepMs, seenMs, outcomesMs }: Readonly<Record<'keepMs' | 'seenMs' | 'outcomesMs', number>>,
  signal?: AbortSignal,
): Promise<PurgeRound> {
  const { now, doubtedSince } = await clock.read();
  if (doubtedSince !== null) return { paused: true };
  const deleted: Record<string, number> = {};
  const count = async (table: string, remove: (most: number) => Promise<number>) => {
    const rows = await remove(PURGE_ROUND_ROWS - (deleted[table] ?? 0));
    if (rows > 0) deleted[table] = (deleted[table] ?? 0) + rows;
  };
  await count('lists', () => expireLists(driver, now, keepMs, signal));
  await count('verifications', (most) => inBatches(() => retentionStep(driver, now - keepMs), signal, most));
  await count('verifications', (most) => purgeByAccount(driver, now, most, signal));
  for (const kept of KEPT_AS_THE_ACCOUNTS_LOG)
    await count(kept.table, (most) => inBatches(() => accountsLogStep(driver, now, kept, keepMs), signal, most));
  await count('filters', (most) => inBatches(() => removeExpiredFilters(driver, now), signal, most));
  await count('seen', (most) => inBatches(() => purgeSeen(driver, now, seenMs), signal, most));
  await count('outcomes', (most) => inBatches(() => purgeOutcomes(driver, now, outcomesMs), signal, most));
  await count('ledger', (most) => rollUpLedger(now - keepMs, most, signal));
  await count('usage_hours', (most) => rollUpUsage(usageHoursFrom(now, keepMs), most, signal));
  for (const schema of await driver.schema()) {
    const column = KEPT_AS_THE_LOG.get(schema.table);
    const expiry = column === undefined ? EXPIRING.get(schema.table) : { column, afterMs: keepMs };
    if (expiry === undefined) continue;
    await count(schema.table, (most) => inBatches(() => expiryStep(driver, now, schema, expiry), signal, most));
  }
  for (const table of EXPIRING_SIGN_INS)
    await count(table, (most) => inBatches(() => signInStep(driver, now, table), signal, most));
  await addRemovalJobs(driver);
  const counts = Object.values(deleted);
  const total = counts.reduce((sum, rows) => sum + rows, 0);
  return { paused: false, deleted, total, full: counts.some((rows) => rows >= PURGE_ROUND_ROWS) };
}

/** Selects holds of a dead node, or expired holds. */
type HoldSelection = { readonly node: string } | { readonly expiredAt: number };

function holdsOf(trx: Transaction<Tables>, which: HoldSelection) {
  const holds = trx.selectFrom('holds').selectAll();
  return 'node' in which ? holds.where('node', '=', which.node) : holds.where('expires_at', '<=', which.expiredAt);
}

/** Releases the hold with a ledger row, and its idempotency key. */
async function releaseHold(scope: Scope, hold: Row<'holds'>): Promise<boolean> {
  const { trx } = scope;
  const { id, account_id, key_id, amount, route, idempotency_key } = hold;
  const { numDeletedRows } = await trx.deleteFrom('holds').where('id', '=', id).executeTakeFirst();
  // It was settled while this transaction waited for the account.
  if (numDeletedRows === 0n) return false;
  const subject = { verificationId: id, holdId: null };
  await giveBackTo(scope, { account: account_id, keyId: key_id }, amount, subject);
  if (route !== null && idempotency_key !== null) {
    const reserved = trx.deleteFrom('idempotency').where('account_id', '=', account_id).where('route', '=', route);
    await reserved.where('key', '=', idempotency_key).where('state', '=', 'running').execute();
  }
  return true;
}

async function release(driver: StorageDriver, which: HoldSelection, signal?: AbortSignal): Promise<number> {
  let released = 0;
  while (!signal?.aborted) {
    const now = await driver.now();
    const seen = await driver.transaction(async (trx) => {
      const holds = await holdsOf(trx, which).orderBy('id').limit(BATCH_ROWS).execute();
      await driver.lockAccounts(trx, [...new Set(holds.map((hold) => hold.account_id))]);
      for (const hold of holds) if (await releaseHold({ driver, trx, now }, hold)) released += 1;
      return holds.length;
    });
    if (seen < BATCH_ROWS) break;
    await yieldToEventLoop();
  }
  return released;
}

export function upkeep(driver: StorageDriver, clock: StoreClock): Store['upkeep'] {
  const { db } = driver;
  const purgeParts = { clock, rollUpLedger: createLedgerRollUp(driver), rollUpUsage: createUsageRollUp(driver) };

  const sweepNode = async (node: string, signal?: AbortSignal): Promise<number> => {
    const released = await release(driver, { node }, signal);
    // The next sweep finds the node by its row and releases the rest of its holds.
    if (signal?.aborted) return released;
    await db.deleteFrom('idempotency').where('node', '=', node).where('state', '=', 'running').execute();
    await endLeasesOf(driver, node);
    await db.deleteFrom('nodes').where('id', '=', node).execute();
    return released;
  };

  const releaseAll = async (signal?: AbortSignal): Promise<number> => {
    let released = 0;
    for (const { id } of await db.selectFrom('nodes').select('id').execute()) {
      if (signal?.aborted) return released;
      released += (await driver.node.ifDead(id, () => sweepNode(id, signal))) ?? 0;
    }
    await forgetEnded(driver);
    released += await release(driver, { expiredAt: await driver.now() }, signal);
    return released + (await releaseExpired(driver, signal));
  };

  return {
    // A second sweep at the same time would find nothing more, and each uses a connection.
    releaseDead: onceAtATime(releaseAll),

    purge: (keepMs, signal, seenMs = SEEN_DAYS.default * DAY_MS, outcomesMs = OUTCOMES_DAYS.default * DAY_MS) =>
      purge(driver, purgeParts, { keepMs, seenMs, outcomesMs }, signal),
    removeAccount: (account, signal) => removeRows(driver, account, signal),
  };
}
