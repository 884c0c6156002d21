import { type SqlBool, sql } from 'kysely';
import { HOUR_MS } from '../kernel/clock.ts';
import { CLOCK_TOLERANCE_MS } from '../kernel/facts/limits.ts';
import { sha256Hex } from '../kernel/ids.ts';
import type { StorageDriver } from './driver.ts';
import type { OperatorLeases, Slice, SliceRequest, Store } from './store.ts';

/** One statement takes at most this many operators or limits. */
const LEASE_BATCH = 500;

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

/** All nodes use one order, so that concurrent writers wait instead of deadlocking. */
function* batches(operators: readonly string[]): Generator<string[]> {
  const sorted = [...new Set(operators)].sort();
  for (let from = 0; from < sorted.length; from += LEASE_BATCH) yield sorted.slice(from, from + LEASE_BATCH);
}

/** The times of a lease that begins, or is renewed. */
export const leaseTimes = (now: number, leaseMs: number) => ({ renewed_at: now, ends_at: now + leaseMs });

/**
 * Whether the lease in a row of `table` is held. One that was renewed at a time to come does not count: since then, the
 * clock was set back.
 */
export const isHeld = (table: 'operator_leases' | 'list_leases', now: number) =>
  sql<SqlBool>`(${sql.ref(`${table}.ends_at`)} > ${now} AND ${sql.ref(`${table}.renewed_at`)} <= ${now + CLOCK_TOLERANCE_MS})`;

/** Does the same for a holder of a slice. */
const isLive = ({ endsAt, renewedAt }: Holder, now: number): boolean =>
  endsAt > now && renewedAt <= now + CLOCK_TOLERANCE_MS;

// How a limit is divided among the nodes that use it: pure functions, whose results `paceSlices` keeps.

/** A node that has units, or waits for some. Times are ms of the store. */
interface Holder {
  readonly node: string;
  readonly units: number;
  readonly needs: number;
  readonly renewedAt: number;
  readonly endsAt: number;
}

interface Division {
  readonly holders: readonly Holder[];
  /** Any node may have used its units until then. */
  readonly usedUntil: number;
}

const UNDIVIDED: Division = { holders: [], usedUntil: 0 };

/** Where there are more nodes than units, others get them after this long. */
const ROTATION_MS = 10_000;

/** Computes the division after a node's request, and its slice. */
function divide(
  before: Division,
  node: string,
  { key, total, holds, needs, restMs }: SliceRequest,
  { now, leaseMs }: { now: number; leaseMs: number },
): { readonly division: Division; readonly slice: Slice } {
  const live = before.holders.filter((one) => isLive(one, now));
  const others = live.filter((one) => one.node !== node);
  const had = live.find((one) => one.node === node)?.units ?? 0;
  const taken = others.reduce((sum, { units }) => sum + units, 0);
  const free = Math.max(0, total - taken);
  const target = fairShares(total, [...others, { node, needs }], now).get(node) ?? 0;
  const units = Math.min(free, Math.max(target, Math.min(holds, had)));
  const isRested = taken === 0 && had === 0 && now - before.usedUntil >= restMs;
  const mine = { node, units, needs, renewedAt: now, endsAt: now + leaseMs };
  return {
    division: {
      holders: units > 0 || needs > 0 ? [...others, mine] : others,
      usedUntil: units === 0 && had > 0 && taken === 0 ? now : Math.max(units > 0 ? mine.endsAt : 0, before.usedUntil),
    },
    slice: { key, units, target, isRested },
  };
}

/**
 * Units for each node: evenly, up to what each needs; then what is left, evenly among those that need any. What does
 * not divide goes by an order that changes, and that is the same for all limits, so that nodes do not wait for each
 * other's.
 */
function fairShares(
  total: number,
  nodes: readonly { readonly node: string; readonly needs: number }[],
  now: number,
): ReadonlyMap<string, number> {
  const turn = Math.floor(now / ROTATION_MS);
  const rank = new Map(nodes.map(({ node }) => [node, sha256Hex(`${turn} ${node}`)]));
  const order = nodes
    .filter(({ needs }) => needs > 0)
    .sort((a, b) => ((rank.get(a.node) ?? '') < (rank.get(b.node) ?? '') ? -1 : 1));
  const shares = new Map<string, number>();
  let left = total;
  const give = (wants: (needs: number) => number) => {
    for (let open = order; open.length > 0 && left > 0; ) {
      const each = Math.max(1, Math.floor(left / open.length));
      for (const { node, needs } of open) {
        const share = shares.get(node) ?? 0;
        const more = Math.min(each, left, wants(needs) - share);
        shares.set(node, share + Math.max(0, more));
        left -= Math.max(0, more);
      }
      open = open.filter(({ node, needs }) => (shares.get(node) ?? 0) < wants(needs));
    }
  };
  give((needs) => Math.min(needs, total));
  give(() => total);
  return shares;
}

/** Attempts for limits that other nodes change at the same time. */
const ATTEMPTS = 8;

/**
 * This takes no transaction, in which a node could stop and keep the others waiting: rows are read, and written if
 * nobody has written them meanwhile.
 */
export function paceSlices(driver: StorageDriver): Store['paceSlices'] {
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
          key: slice.key,
          version,
          division: JSON.stringify(division),
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
      // All nodes use one order, so that concurrent writers wait instead of deadlocking.
      let open = [...requests].sort((a, b) => (a.key < b.key ? -1 : 1));
      const slices: Slice[] = [];
      for (let attempt = 0; open.length > 0 && attempt < ATTEMPTS; attempt++) {
        for (let from = 0; from < open.length; from += LEASE_BATCH)
          slices.push(...(await leaseBatch(node, open.slice(from, from + LEASE_BATCH), leaseMs)));
        const done = new Set(slices.map(({ key }) => key));
        open = open.filter(({ key }) => !done.has(key));
      }
      return slices;
    },
  };
}
