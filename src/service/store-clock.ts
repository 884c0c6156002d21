import { type Clock, toIsoOrNull } from '../kernel/clock.ts';
import { CLOCK_TOLERANCE_MS } from '../kernel/facts/limits.ts';
import type { ClockReading, Store } from '../store/store.ts';

/** A reading that took longer says too little about the difference of two clocks, ms. */
const SLOW_READING_MS = 5_000;

/**
 * The store's clock as this process knows it: `now()` is the store's time by the last reading and the time that has
 * passed since. With SQLite it is this process's own clock.
 */
export interface WatchedClock extends Clock {
  read(): Promise<ClockReading>;
  /** How far this process's clock is ahead of the store's, ms; negative: behind. */
  aheadMs(): number;
  /** Why this process should not serve, or null. */
  problem(): string | null;
  /** `/readyz` shows them. */
  details(): { ahead_seconds: number; doubted_since: string | null };
}

export function watchStoreClock(
  store: { readonly engine: Store['engine']; readonly clock: Pick<Store['clock'], 'read'> },
  clock: Clock,
): WatchedClock {
  let doubtedSince: number | null = null;
  /** The store's time minus `elapsed()`; null until it is known, and with SQLite. */
  let offset: number | null = null;
  const now = () => (offset === null ? clock.now() : Math.round(offset + clock.elapsed()));
  const aheadMs = () => clock.now() - now();
  return {
    now,
    elapsed: () => clock.elapsed(),
    aheadMs,
    async read() {
      const before = clock.elapsed();
      const reading = await store.clock.read();
      const after = clock.elapsed();
      doubtedSince = reading.doubtedSince;
      if (store.engine === 'postgres' && (offset === null || after - before < SLOW_READING_MS))
        offset = reading.now - (before + after) / 2;
      return reading;
    },
    problem: () =>
      Math.abs(aheadMs()) > CLOCK_TOLERANCE_MS ? `the clock of this host is ${apart(aheadMs())} the store's` : null,
    details: () => ({
      ahead_seconds: Math.round(aheadMs() / 1000),
      doubted_since: toIsoOrNull(doubtedSince),
    }),
  };
}

/** The store's clock for a command: read once, and nothing is noted in the store. */
export async function clockOf(store: Pick<Store, 'engine' | 'clock'>, clock: Clock): Promise<WatchedClock> {
  const watched = watchStoreClock({ engine: store.engine, clock: { read: store.clock.peek } }, clock);
  await watched.read();
  return watched;
}

const apart = (ms: number): string => `${Math.round(Math.abs(ms) / 1000)} s ${ms > 0 ? 'ahead of' : 'behind'}`;
