import { sql } from 'kysely';
import { HOUR_MS } from '../kernel/clock.ts';
import { yieldToEventLoop } from './batches.ts';
import type { StorageDriver } from './driver.ts';
import { accountId } from './rows.ts';
import type { Traffic, TrafficRow } from './store.ts';
import type { Row } from './tables.ts';

/** Rows in one statement; five values each. */
const TRAFFIC_CHUNK = 1_000;
/** Rows per read: a month of a busy account has tens of thousands. */
const TRAFFIC_READ_ROWS = 5_000;

const trafficId = (row: TrafficRow): string => [row.account, row.hour, row.metric, row.bucket].join('\n');

/** Makes one row per counter. All nodes use the same order, so that concurrent writers wait instead of deadlocking. */
function summed(rows: readonly TrafficRow[]): TrafficRow[] {
  const sums = new Map<string, TrafficRow>();
  for (const row of rows) {
    const count = (sums.get(trafficId(row))?.count ?? 0) + row.count;
    sums.set(trafficId(row), { ...row, count });
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

const toTrafficRow = (row: Row<'traffic_hours'>): TrafficRow => ({
  account: accountId(row.account_id),
  hour: row.hour,
  metric: row.metric,
  bucket: row.bucket,
  count: row.count,
});

export function traffic(driver: StorageDriver): Traffic {
  const { db } = driver;

  const addSome = (some: readonly TrafficRow[]): Promise<void> =>
    driver.transaction(async (trx) => {
      const accounts = [...new Set(some.map((row) => row.account))];
      const there = trx.selectFrom('accounts').select('id').where('status', '<>', 'deleted');
      const ids = new Set<string>((await there.where('id', 'in', accounts).execute()).map((row) => row.id));
      const kept = some.filter((row) => ids.has(row.account));
      if (kept.length === 0) return;
      await trx
        .insertInto('traffic_hours')
        .values(kept.map(({ account, ...row }) => ({ account_id: account, ...row })))
        .onConflict((oc) =>
          oc
            .columns(['account_id', 'hour', 'metric', 'bucket'])
            .doUpdateSet((eb) => ({ count: eb('traffic_hours.count', '+', eb.ref('excluded.count')) })),
        )
        .execute();
    });

  return {
    async add(rows) {
      const all = summed(rows);
      for (let at = 0; at < all.length; at += TRAFFIC_CHUNK) await addSome(all.slice(at, at + TRAFFIC_CHUNK));
    },

    ofAll: (from, withinMs) =>
      driver.read(withinMs, (reader) =>
        reader
          .selectFrom('traffic_hours')
          .select(['hour', 'metric', 'bucket'])
          .select(sql<number>`CAST(sum(count) AS BIGINT)`.as('count'))
          .where('hour', '>=', from)
          .groupBy(['hour', 'metric', 'bucket'])
          .execute(),
      ),

    async list(account, from, to) {
      const found: TrafficRow[] = [];
      const mine = db
        .selectFrom('traffic_hours')
        .selectAll()
        .where('account_id', '=', account)
        .where('hour', '>=', Math.floor(from / HOUR_MS) * HOUR_MS)
        .where('hour', '<', to)
        .orderBy('hour')
        .orderBy('metric')
        .orderBy('bucket');
      for (let last: TrafficRow | undefined, full = true; full; last = found.at(-1)) {
        const { hour = 0, metric = '', bucket = 0 } = last ?? {};
        const rest = mine.where(sql<boolean>`(hour, metric, bucket) > (${hour}, ${metric}, ${bucket})`);
        const rows = await rest.limit(TRAFFIC_READ_ROWS).execute();
        for (const row of rows) found.push(toTrafficRow(row));
        full = rows.length === TRAFFIC_READ_ROWS;
        await yieldToEventLoop();
      }
      return found;
    },
  };
}
