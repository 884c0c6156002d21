import { sql } from 'kysely';
import type { Engine } from './engine.ts';
import { breath } from './steps.ts';
import type { AccountId, Traffic, TrafficRow } from './store.ts';
import type { Row } from './tables.ts';

const HOUR = 3600 * 1000;
/** Rows in one statement; five values each. */
const CHUNK = 1_000;
/** Rows that are read at once: a month of a busy account has tens of thousands. */
const READ = 5_000;

const idOf = (row: TrafficRow): string => [row.account, row.hour, row.metric, row.bucket].join('\n');

/** One row for each counter, in one order on all nodes: so that two which add at once wait instead of deadlocking. */
function summed(rows: readonly TrafficRow[]): TrafficRow[] {
  const sums = new Map<string, TrafficRow>();
  for (const row of rows) {
    const count = (sums.get(idOf(row))?.count ?? 0) + row.count;
    sums.set(idOf(row), { ...row, count });
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

const toRow = (row: Row<'traffic_hours'>): TrafficRow => ({
  account: row.account_id as AccountId,
  hour: row.hour,
  metric: row.metric,
  bucket: row.bucket,
  count: row.count,
});

export function traffic(engine: Engine): Traffic {
  const { db } = engine;

  const addSome = (some: readonly TrafficRow[]): Promise<void> =>
    engine.transaction(async (trx) => {
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
      for (let at = 0; at < all.length; at += CHUNK) await addSome(all.slice(at, at + CHUNK));
    },

    async list(account, from, to) {
      const found: TrafficRow[] = [];
      const mine = db
        .selectFrom('traffic_hours')
        .selectAll()
        .where('account_id', '=', account)
        .where('hour', '>=', Math.floor(from / HOUR) * HOUR)
        .where('hour', '<', to)
        .orderBy('hour')
        .orderBy('metric')
        .orderBy('bucket');
      for (let last: TrafficRow | undefined, full = true; full; last = found.at(-1)) {
        const { hour = 0, metric = '', bucket = 0 } = last ?? {};
        const rest = mine.where(sql<boolean>`(hour, metric, bucket) > (${hour}, ${metric}, ${bucket})`);
        const rows = await rest.limit(READ).execute();
        for (const row of rows) found.push(toRow(row));
        full = rows.length === READ;
        await breath();
      }
      return found;
    },
  };
}
