import { type Kysely, type RawBuilder, sql } from 'kysely';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../kernel/clock.ts';
import { LASTING_ALERT_TYPES } from '../kernel/facts/alerts.ts';
import type { ObservedCharge } from './charge/batcher.ts';
import type { StorageDriver } from './driver.ts';
import { FILTER_COLUMNS } from './filter-kinds.ts';
import { oldestByRetention } from './log/verifications.ts';
import { IS_LOW } from './low-balance.ts';
import { onlyRow } from './rows.ts';
import type { HoldAge, HoldKind, HoldStats, KeptStats, Store, StoreReadings } from './store.ts';
import type { Tables } from './tables.ts';

/** Rows of a table that are counted; what is beyond is left out, so that the query stays cheap. */
const COUNTED_ROWS = 20_000;

/** Upper bounds, ms. */
const HOLD_AGES = {
  under_1m: MINUTE_MS,
  '1m_to_10m': 10 * MINUTE_MS,
  '10m_to_1h': HOUR_MS,
  '1h_to_1d': DAY_MS,
  over_1d: Number.MAX_SAFE_INTEGER,
} as const satisfies Record<HoldAge, number>;
const AGES = Object.entries(HOLD_AGES) as [HoldAge, number][];

/** Ids begin with their time: those that are counted are the oldest. */
const SELECTED_HOLDS = {
  verification: sql`SELECT created_at FROM holds ORDER BY id LIMIT ${sql.lit(COUNTED_ROWS)}`,
  shared: sql`SELECT created_at FROM shared_holds WHERE closed_at IS NULL ORDER BY expires_at LIMIT ${sql.lit(COUNTED_ROWS)}`,
} as const satisfies Record<HoldKind, RawBuilder<unknown>>;

async function holdStats(db: Kysely<Tables>, kind: HoldKind, now: number): Promise<HoldStats> {
  const younger = AGES.map(([age, ms]) => {
    const count = sql`CAST(coalesce(sum(CASE WHEN created_at > ${now - ms} THEN 1 ELSE 0 END), 0) AS BIGINT)`;
    return sql`${count} AS ${sql.ref(age)}`;
  });
  const { rows } = await sql<Record<HoldAge, number> & { oldest: number | null }>`
    SELECT min(created_at) AS oldest, ${sql.join(younger)} FROM (${SELECTED_HOLDS[kind]}) AS selected`.execute(db);
  const { oldest, ...cumulative } = onlyRow(rows);
  let below = 0;
  const byAge = {} as Record<HoldAge, number>;
  for (const [age] of AGES) {
    byAge[age] = cumulative[age] - below;
    below = cumulative[age];
  }
  return { byAge, oldestMs: oldest === null ? null : Math.max(0, now - oldest) };
}

/** Goes by the oldest verification of all, and of up to BATCH_ROWS accounts with a retention of their own. */
async function purgeLag(db: Kysely<Tables>, now: number, keepMs: number): Promise<number> {
  const oldest = await db.selectFrom('verifications').select('created_at').orderBy('seq').limit(1).executeTakeFirst();
  const own = await oldestByRetention(db);
  const due = own.flatMap(({ retention_days: days, oldest: at }) => (at === null ? [] : [at + days * DAY_MS]));
  if (oldest !== undefined) due.push(oldest.created_at + keepMs);
  return Math.max(0, ...due.map((at) => now - at));
}

async function lowBalances(db: Kysely<Tables>): Promise<number> {
  const low = db
    .selectFrom('accounts')
    .select('id')
    .where('low_balance', 'is not', null)
    .where('status', '=', 'active')
    .where(IS_LOW)
    .limit(COUNTED_ROWS);
  const counted = db.selectFrom(low.as('low')).select((eb) => eb.fn.countAll<number>().as('count'));
  return (await counted.executeTakeFirstOrThrow()).count;
}

async function openAlerts(db: Kysely<Tables>): Promise<StoreReadings['alerts']> {
  const some = db.selectFrom('alert_causes').select('type').limit(COUNTED_ROWS);
  const rows = await db
    .selectFrom(some.as('some'))
    .select((eb) => ['type', eb.fn.countAll<number>().as('count')])
    .groupBy('type')
    .execute();
  return LASTING_ALERT_TYPES.map((type) => ({ type, count: rows.find((row) => row.type === type)?.count ?? 0 }));
}

async function keptStats(db: Kysely<Tables>): Promise<KeptStats> {
  const { rows } = await sql<KeptStats>`SELECT
    (SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM (SELECT bytes FROM lists LIMIT ${sql.lit(COUNTED_ROWS)}) AS l)
      AS "listBytes",
    (SELECT CAST(coalesce(sum(filters), 0) AS BIGINT) FROM (
      SELECT ${sql.raw(FILTER_COLUMNS.join(' + '))} AS filters FROM accounts LIMIT ${sql.lit(COUNTED_ROWS)}) AS a)
      AS filters`.execute(db);
  return onlyRow(rows);
}

export function stats(driver: StorageDriver, charge: ObservedCharge): Store['stats'] {
  return {
    retries: driver.charge.retries,
    observe(listener) {
      charge.onBatch = listener;
    },
    pool: () => driver.pool(),
    async read(keepMs, withinMs) {
      const now = await driver.now();
      return driver.read(withinMs, async (db) => ({
        holds: { verification: await holdStats(db, 'verification', now), shared: await holdStats(db, 'shared', now) },
        purgeLagMs: await purgeLag(db, now, keepMs),
        lowBalances: await lowBalances(db),
        alerts: await openAlerts(db),
        kept: await keptStats(db),
        jobs: await driver.jobs.count(db, COUNTED_ROWS),
      }));
    },
  };
}
