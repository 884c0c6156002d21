import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { DAY_MS, HOUR_MS, toIso } from '../kernel/clock.ts';
import { LIST_RESULT_BYTES } from '../kernel/facts/limits.ts';
import type { UsageGrouping, UsageSource } from '../kernel/facts/outcomes.ts';
import { type Plans, termsOf } from '../kernel/facts/plans.ts';
import type { Reason } from '../kernel/facts/reasons.ts';
import { andRest, BATCH_ROWS } from './batches.ts';
import { ADD_USAGE_SUMS, USAGE_COUNTED_BY, USAGE_SUMS } from './columns.ts';
import type { StorageDriver } from './driver.ts';
import { FILTER_COLUMNS, filterCount } from './filter-kinds.ts';
import { onlyRow } from './rows.ts';
import type { AccountId, AccountStorage, KeyDayRow, KeyVerdictRow, Store, UsageBucketRow, UsageRow } from './store.ts';
import type { Row, Tables } from './tables.ts';

// Hourly usage counters past their time become daily ones: rows whose hour is the first of the day.

/** Makes counters from before `before` daily, `most` rows at most; returns how many rows there are fewer. */
export type UsageRollUp = (before: number, most: number, signal?: AbortSignal) => Promise<number>;

const DAY_KEY = sql.raw(USAGE_COUNTED_BY.filter((column) => column !== 'hour').join(', '));
const SUM_COLUMNS = sql.raw(USAGE_SUMS.join(', '));
const SUMMED = sql.raw(USAGE_SUMS.map((column) => `sum(${column})`).join(', '));

/** Rolls up the account's first day that is not yet, of those before `to`. `done`: there is none. */
const rollUpDay = (driver: StorageDriver, account: string, to: number): Promise<{ rows: number; done: boolean }> =>
  driver.transaction(async (trx) => {
    await driver.lockAccounts(trx, [account]);
    const { rows: firsts } = await sql<{ hour: number | null }>`
      SELECT min(hour) AS hour FROM usage_hours WHERE account_id = ${account} AND hour < ${to}
        AND hour >= (SELECT usage_daily_before FROM accounts WHERE id = ${account})`.execute(trx);
    const first = firsts[0]?.hour ?? null;
    const day = first === null ? to : Math.floor(first / DAY_MS) * DAY_MS;
    const next = first === null ? to : day + DAY_MS;
    const later = sql`account_id = ${account} AND hour > ${day} AND hour < ${next}`;
    if (first !== null)
      await sql`
        INSERT INTO usage_hours (${DAY_KEY}, hour, ${SUM_COLUMNS})
        SELECT ${DAY_KEY}, CAST(${day} AS BIGINT), ${SUMMED} FROM usage_hours WHERE ${later}
        GROUP BY ${DAY_KEY}
        ${sql.raw(ADD_USAGE_SUMS)}`.execute(trx);
    const { numAffectedRows } = await sql`DELETE FROM usage_hours WHERE ${later}`.execute(trx);
    await trx.updateTable('accounts').set({ usage_daily_before: next }).where('id', '=', account).execute();
    return { rows: Number(numAffectedRows ?? 0), done: next === to };
  });

/** Looks at the accounts once for each day. */
export function createUsageRollUp(driver: StorageDriver): UsageRollUp {
  let rolledUpTo = 0;
  return async (before, most, signal) => {
    let total = 0;
    while (rolledUpTo < before && !signal?.aborted) {
      const some = await driver.db
        .selectFrom('accounts')
        .select('id')
        .where('usage_daily_before', '<', before)
        .limit(BATCH_ROWS)
        .execute();
      if (some.length === 0) rolledUpTo = before;
      for (const { id } of some) {
        for (let done = false; !done; ) {
          if (total >= most || signal?.aborted) return total;
          const step = await andRest(() => rollUpDay(driver, id, before));
          total += step.rows;
          done = step.done;
        }
      }
    }
    return total;
  };
}

const GROUPS: Readonly<Record<UsageGrouping, RawBuilder<string | number>>> = {
  day: sql`hour / ${sql.lit(DAY_MS)}`,
  key: sql`key_id`,
  reason: sql`CASE WHEN reason = '' THEN 'none' ELSE reason END`,
  validation_type: sql`validation_type`,
};

interface UsageTotals {
  requests: number;
  good: number;
  bad: number;
  credits: number;
}
const SUMS = sql`
  CAST(coalesce(sum(requests), 0) AS BIGINT) AS requests,
  CAST(coalesce(sum(CASE WHEN status = 'good' THEN requests ELSE 0 END), 0) AS BIGINT) AS good,
  CAST(coalesce(sum(CASE WHEN status = 'bad' THEN requests ELSE 0 END), 0) AS BIGINT) AS bad,
  CAST(coalesce(sum(credits), 0) AS BIGINT) AS credits`;

const usageSums = (requests: string, credits: string) => ({
  requests: sql.ref<number>(requests),
  credits: sql.ref<number>(credits),
});
/** Sums the columns of each source. */
const SOURCE_SUMS = {
  all: usageSums('requests', 'credits'),
  api: usageSums('api_requests', 'api_credits'),
  list: usageSums('list_requests', 'list_credits'),
} as const satisfies Record<UsageSource | 'all', unknown>;

/** What was found, and how often. */
const verdictSums = (source: UsageSource | null) => {
  const { requests, credits } = SOURCE_SUMS[source ?? 'all'];
  return sql`validation_type AS level, status, CASE WHEN reason = '' THEN NULL ELSE reason END AS reason,
    CAST(sum(${requests}) AS BIGINT) AS requests, CAST(sum(${credits}) AS BIGINT) AS credits`;
};

/**
 * Counters are by the hour (UTC): from the hour that contains `from` to the hour before `to`. Those before
 * `usage_daily_before` are by the day: from the day that contains `from` to the day that begins before `to`.
 */
const hoursWithin = (account: AccountId, from: number, to: number) =>
  sql`account_id = ${account} AND hour >= ${Math.floor(from / DAY_MS) * DAY_MS} AND hour < ${to}
    AND (hour >= ${Math.floor(from / HOUR_MS) * HOUR_MS} OR hour < ${dailyBefore(account)})`;

const dailyBefore = (account: AccountId) =>
  sql<number>`(SELECT usage_daily_before FROM accounts WHERE id = ${account})`;

/**
 * See `AccountStorage`. Lists of versions that did not count their bytes take only what their results do. `without`:
 * statuses of lists that do not count.
 */
export async function storageOf(
  db: Kysely<Tables>,
  plans: Plans,
  account: AccountId,
  without: readonly Row<'lists'>['status'][] = ['deleted'],
): Promise<AccountStorage> {
  const kept = db.selectFrom('lists').where('account_id', '=', account).where('status', 'not in', without);
  const bytes = sql<number>`CAST(coalesce(sum(bytes + file_bytes + addresses * ${sql.lit(LIST_RESULT_BYTES)}), 0) AS BIGINT)`;
  const sums = kept.select((eb) => [eb.fn.countAll<number>().as('lists'), bytes.as('bytes')]);
  const found = await sums.executeTakeFirstOrThrow();
  const owner = db
    .selectFrom('accounts')
    .select(['plan', ...FILTER_COLUMNS])
    .where('id', '=', account);
  const row = await owner.executeTakeFirst();
  const plan = termsOf(plans, row?.plan ?? '');
  return {
    lists: found.lists,
    listBytes: { used: found.bytes, limit: plan.listBytes },
    filters: { used: row === undefined ? 0 : filterCount(row), limit: plan.filters },
  };
}

/** Credits charged in a period, as `summary` has them; inside the caller's transaction. */
export async function creditsUsed(
  trx: Transaction<Tables>,
  account: AccountId,
  from: number,
  to: number,
): Promise<number> {
  const { rows } = await sql<{ credits: number }>`
    SELECT CAST(coalesce(sum(credits), 0) AS BIGINT) AS credits
    FROM usage_hours WHERE ${hoursWithin(account, from, to)}`.execute(trx);
  return onlyRow(rows).credits;
}

export function usage(driver: StorageDriver): Store['usage'] {
  return {
    storage: (account) => storageOf(driver.db, driver.plans, account),

    async summary(account, from, to) {
      const period = hoursWithin(account, from, to);
      const all = await sql<UsageTotals>`SELECT ${SUMS} FROM usage_hours WHERE ${period}`.execute(driver.db);
      const reasons = await sql<{ reason: Reason; n: number }>`
        SELECT reason, CAST(sum(requests) AS BIGINT) AS n FROM usage_hours
        WHERE ${period} AND reason <> '' GROUP BY reason ORDER BY reason`.execute(driver.db);
      return { ...onlyRow(all.rows), byReason: Object.fromEntries(reasons.rows.map(({ reason, n }) => [reason, n])) };
    },

    async series(account, grouping, from, to): Promise<UsageRow[]> {
      const { rows } = await sql<UsageTotals & { grp: string | number }>`
        SELECT ${GROUPS[grouping]} AS grp, ${SUMS} FROM usage_hours
        WHERE ${hoursWithin(account, from, to)} GROUP BY 1 ORDER BY 1`.execute(driver.scans);
      return rows.map(({ grp, ...sums }) => ({
        group: grouping === 'day' ? toIso(Number(grp) * DAY_MS).slice(0, 10) : String(grp),
        ...sums,
      }));
    },

    async hoursFrom(account) {
      const { rows } = await sql<{ last: number | null }>`
        SELECT max(hour) AS last FROM usage_hours
        WHERE account_id = ${account} AND hour < ${dailyBefore(account)}`.execute(driver.db);
      const { last } = onlyRow(rows);
      return last === null ? null : last + DAY_MS;
    },

    async buckets(account, from, to, bucketMs, { source = null, keys = null, notKeys = false } = {}) {
      const { requests } = SOURCE_SUMS[source ?? 'all'];
      const ofKeys = keys === null ? sql`` : sql`AND key_id ${notKeys ? sql`NOT ` : sql``}IN (${sql.join(keys)})`;
      const { rows } = await sql<UsageBucketRow>`
        SELECT hour / ${sql.lit(bucketMs)} * ${sql.lit(bucketMs)} AS at, ${verdictSums(source)}
        FROM usage_hours WHERE ${hoursWithin(account, from, to)} AND ${requests} > 0 ${ofKeys}
        GROUP BY 1, 2, 3, 4 ORDER BY 1`.execute(driver.scans);
      return rows;
    },

    async byKey(account, from, to, source) {
      const { requests } = SOURCE_SUMS[source ?? 'all'];
      const { rows } = await sql<KeyVerdictRow>`
        SELECT key_id AS "keyId", ${verdictSums(source)}
        FROM usage_hours WHERE ${hoursWithin(account, from, to)} AND ${requests} > 0
        GROUP BY 1, 2, 3, 4 ORDER BY 1`.execute(driver.scans);
      return rows;
    },

    async keyDays(account, from, to, source) {
      const { requests } = SOURCE_SUMS[source ?? 'all'];
      const { rows } = await sql<KeyDayRow>`
        SELECT key_id AS "keyId", hour / ${sql.lit(DAY_MS)} * ${sql.lit(DAY_MS)} AS at,
          CAST(sum(${requests}) AS BIGINT) AS requests
        FROM usage_hours WHERE ${hoursWithin(account, from, to)} AND ${requests} > 0 GROUP BY 1, 2`.execute(
        driver.scans,
      );
      return rows;
    },

    async withoutSource(account, from, to) {
      const { rows } = await sql<{ requests: number }>`
        SELECT CAST(coalesce(sum(requests - api_requests - list_requests), 0) AS BIGINT) AS requests
        FROM usage_hours WHERE ${hoursWithin(account, from, to)}`.execute(driver.scans);
      return onlyRow(rows).requests;
    },
  };
}
