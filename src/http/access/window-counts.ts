import { LRUCache } from 'lru-cache';
import type { Clock } from '../../kernel/clock.ts';
import { WINDOW_SECONDS } from '../../kernel/facts/plans.ts';

const WINDOW_MS = WINDOW_SECONDS * 1000;

/**
 * Counts by key in the rate window that runs, per process: for bounds that protect this process's time, not a right
 * that nodes would have to agree on.
 */
export class WindowCounts {
  readonly #clock: Clock;
  readonly #keys: number;
  // Created at the first count, as it allocates its full size at once.
  #seen: LRUCache<string, { window: number; count: number }> | null = null;

  /** `keys`: how many are remembered, those counted last. */
  constructor(clock: Clock, keys: number) {
    this.#clock = clock;
    this.#keys = keys;
  }

  /** The count in this window, this one included. */
  add(key: string): number {
    const window = Math.floor(this.#clock.now() / WINDOW_MS);
    this.#seen ??= new LRUCache({ max: this.#keys });
    let entry = this.#seen.get(key);
    if (entry?.window !== window) {
      entry = { window, count: 0 };
      this.#seen.set(key, entry);
    }
    entry.count += 1;
    return entry.count;
  }

  /** Until the window ends, at least 1. */
  secondsLeft(): number {
    return Math.max(1, Math.ceil((WINDOW_MS - (this.#clock.now() % WINDOW_MS)) / 1000));
  }
}
