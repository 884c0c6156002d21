import { type Clock, HOUR_MS } from '../kernel/clock.ts';
import { CLOCK_DOUBT_HOURS, CLOCK_TOLERANCE_MS } from '../kernel/facts/limits.ts';
import type { StorageDriver } from './driver.ts';
import type { ClockReading, Store, StoreClock } from './store.ts';

export const nodes = (driver: StorageDriver): Store['nodes'] => ({
  async report(version) {
    const id = await driver.acquireNode();
    const seen = { version, seen_at: await driver.now() };
    await driver.db.updateTable('nodes').set(seen).where('id', '=', id).execute();
  },

  list(limit, withinMs) {
    return driver.read(withinMs, async (db) => {
      const rows = await db.selectFrom('nodes').selectAll().orderBy('started_at', 'desc').limit(limit).execute();
      return rows.map(({ id, label, version, started_at, seen_at }) => ({
        id,
        label,
        version,
        startedAt: started_at,
        seenAt: seen_at,
      }));
    });
  },

  get current() {
    return driver.node.current;
  },
});

const DOUBT_MS = CLOCK_DOUBT_HOURS * HOUR_MS;

/** `clock` measures the time that passes, whatever clocks say. */
export function storeClock(driver: Pick<StorageDriver, 'db' | 'now'>, clock: Clock): StoreClock {
  const { db } = driver;
  let last: { readonly now: number; readonly elapsedMs: number } | null = null;

  async function look(): Promise<ClockReading & { readonly elapsedMs: number }> {
    const row = await db.selectFrom('store_clock').selectAll().executeTakeFirstOrThrow();
    const now = await driver.now();
    const passed = clock.elapsed();
    const step = last === null ? now - row.seen_at : now - last.now - (passed - last.elapsedMs);
    // A store that was not used for a while, or of which nothing is known.
    const explained = last === null && (row.seen_at === 0 || (step > 0 && step <= DOUBT_MS));
    const stepMs = explained ? 0 : step;
    return { now, stepMs, doubtedSince: doubtedFrom(now, stepMs, row.doubted_at), elapsedMs: passed };
  }

  return {
    async peek() {
      const { now, stepMs, doubtedSince } = await look();
      return { now, stepMs, doubtedSince };
    },
    async read() {
      const { now, stepMs, doubtedSince, elapsedMs: passed } = await look();
      // No transaction, in which a process could stop and keep the row from others.
      await db.updateTable('store_clock').set({ seen_at: now, doubted_at: doubtedSince }).execute();
      last = { now, elapsedMs: passed };
      return { now, stepMs, doubtedSince };
    },
  };
}

/** Returns since when the clock is doubted, given a step and the earlier doubt. */
function doubtedFrom(now: number, stepMs: number, since: number | null): number | null {
  if (stepMs > DOUBT_MS) return now;
  if (stepMs < -CLOCK_TOLERANCE_MS) return null;
  return since !== null && now >= since && now - since < DOUBT_MS ? since : null;
}
