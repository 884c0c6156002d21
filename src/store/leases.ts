import { type SqlBool, sql } from 'kysely';
import { HOUR_MS } from '../kernel/clock.ts';
import { CLOCK_TOLERANCE_MS } from '../kernel/facts/limits.ts';
import type { StorageDriver } from './driver.ts';
import type { OperatorLeases } from './store.ts';

/** Operators in one statement. */
const BATCH = 500;

export function operatorLeases(driver: StorageDriver): OperatorLeases {
  const { db } = driver;
  return {
    async take(node, operators, leaseMs) {
      const at = await driver.now();
      const times = leaseTimes(at, leaseMs);
      const taken: string[] = [];
      for (const batch of batches(operators)) {
        const rows = await db
          .insertInto('operator_leases')
          .values(batch.map((operator) => ({ operator, node, ...times })))
          .onConflict((oc) =>
            oc
              .column('operator')
              .doUpdateSet({ node, ...times })
              .where((eb) => eb.or([eb('operator_leases.node', '=', node), eb.not(isHeld('operator_leases', at))])),
          )
          .returning('operator')
          .execute();
        taken.push(...rows.map(({ operator }) => operator));
      }
      return taken;
    },

    async ofOthers(node, operators) {
      const at = await driver.now();
      const found: string[] = [];
      for (const batch of batches(operators)) {
        const rows = await db
          .selectFrom('operator_leases')
          .select('operator')
          .where('operator', 'in', batch)
          .where('node', '<>', node)
          .where(isHeld('operator_leases', at))
          .execute();
        found.push(...rows.map(({ operator }) => operator));
      }
      return found;
    },

    async release(node, operators) {
      for (const batch of batches(operators))
        await db.deleteFrom('operator_leases').where('operator', 'in', batch).where('node', '=', node).execute();
    },
  };
}

/** Deletes leases that ended long ago, of both kinds. */
export async function forgetEnded(driver: StorageDriver): Promise<void> {
  // SQLite has one node, which takes no leases.
  if (driver.name === 'sqlite') return;
  const ended = (await driver.now()) - HOUR_MS;
  await driver.db.deleteFrom('operator_leases').where('ends_at', '<', ended).execute();
  await driver.db.deleteFrom('pace_slices').where('ends_at', '<', ended).execute();
}

/** In one order on all nodes, so that concurrent writers wait instead of deadlocking. */
function* batches(operators: readonly string[]): Generator<string[]> {
  const sorted = [...new Set(operators)].sort();
  for (let from = 0; from < sorted.length; from += BATCH) yield sorted.slice(from, from + BATCH);
}

/** The times of a lease that begins, or is renewed. */
export const leaseTimes = (now: number, leaseMs: number) => ({ renewed_at: now, ends_at: now + leaseMs });

/**
 * Whether the lease in a row of `table` is held. One that was renewed at a time to come does not count: since then, the
 * clock was set back.
 */
export const isHeld = (table: 'operator_leases' | 'list_leases', now: number) =>
  sql<SqlBool>`(${sql.ref(`${table}.ends_at`)} > ${now} AND ${sql.ref(`${table}.renewed_at`)} <= ${now + CLOCK_TOLERANCE_MS})`;

/** The same of a lease that is not a row of its own. */
export const isLive = ({ endsAt, renewedAt }: { readonly endsAt: number; readonly renewedAt: number }, now: number) =>
  endsAt > now && renewedAt <= now + CLOCK_TOLERANCE_MS;
