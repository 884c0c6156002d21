import type { StorageDriver } from '../driver.ts';
import type { PaceSlices, Slice, SliceRequest } from '../store.ts';
import { type Division, divide, UNDIVIDED } from './divide.ts';

/** Limits in one statement. */
const BATCH = 500;
/** Attempts for limits that other nodes change at the same time. */
const ATTEMPTS = 8;

/**
 * Without a transaction, in which a node could stop and keep the others waiting: rows are read, and written if nobody
 * has written them meanwhile.
 */
export function paceSlices(driver: StorageDriver): PaceSlices {
  const { db } = driver;

  async function leaseBatch(node: string, requests: readonly SliceRequest[], leaseMs: number): Promise<Slice[]> {
    const keys = requests.map(({ key }) => key);
    const time = { now: await driver.now(), leaseMs };
    const rows = await db.selectFrom('pace_slices').selectAll().where('key', 'in', keys).execute();
    const known = new Map(rows.map((row) => [row.key, row]));
    const divided = requests.map((request) => {
      const row = known.get(request.key);
      const before: Division = row === undefined ? UNDIVIDED : JSON.parse(row.division);
      return { ...divide(before, node, request, time), version: (row?.version ?? 0) + 1 };
    });
    const written = await db
      .insertInto('pace_slices')
      .values(
        divided.map(({ slice, division, version }) => ({
          ...{ key: slice.key, version, division: JSON.stringify(division) },
          ends_at: time.now + leaseMs,
        })),
      )
      .onConflict((oc) =>
        oc
          .column('key')
          .doUpdateSet((eb) => ({
            version: eb.ref('excluded.version'),
            division: eb.ref('excluded.division'),
            ends_at: eb.ref('excluded.ends_at'),
          }))
          .whereRef('pace_slices.version', '=', (eb) => eb('excluded.version', '-', 1)),
      )
      .returning('key')
      .execute();
    const mine = new Set(written.map(({ key }) => key));
    return divided.map(({ slice }) => slice).filter(({ key }) => mine.has(key));
  }

  return {
    async lease(node, requests, leaseMs) {
      // In one order on all nodes, so that concurrent writers wait instead of deadlocking.
      let open = [...requests].sort((a, b) => (a.key < b.key ? -1 : 1));
      const slices: Slice[] = [];
      for (let attempt = 0; open.length > 0 && attempt < ATTEMPTS; attempt++) {
        for (let from = 0; from < open.length; from += BATCH)
          slices.push(...(await leaseBatch(node, open.slice(from, from + BATCH), leaseMs)));
        const done = new Set(slices.map(({ key }) => key));
        open = open.filter(({ key }) => !done.has(key));
      }
      return slices;
    },
  };
}
