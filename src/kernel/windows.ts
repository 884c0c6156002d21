import { LRUCache } from 'lru-cache';
import { networksOf } from './ip.ts';

/** What one key may use of a window. */
interface WindowSlots {
  readonly key: string;
  readonly max: number;
}

/**
 * Counts by key in windows of time that follow each other, per process: for bounds that protect this process, not for
 * a right that nodes would have to agree on. Times are ms since 1970.
 */
export class WindowCounts {
  readonly #windowMs: number;
  readonly #keys: number;
  // It is created at the first count (docs/architecture.md#what-v8-does).
  #counts: LRUCache<string, { window: number; count: number }> | null = null;

  /** `keys`: how many are remembered, those counted last. */
  constructor(windowMs: number, keys: number) {
    this.#windowMs = windowMs;
    this.#keys = keys;
  }

  /** Counts once for each key, up to the first whose slots are used up. False: there is such a key. */
  take(slots: readonly WindowSlots[], now: number): boolean {
    const window = this.#windowAt(now);
    return slots.every(({ key, max }) => {
      const count = this.#countOf(key, window);
      if (count >= max) return false;
      this.#counts ??= new LRUCache({ max: this.#keys });
      this.#counts.set(key, { window, count: count + 1 });
      return true;
    });
  }

  /** Whether every key has a slot left. Counts nothing. */
  hasRoom(slots: readonly WindowSlots[], now: number): boolean {
    const window = this.#windowAt(now);
    return slots.every(({ key, max }) => this.#countOf(key, window) < max);
  }

  /** Returns the seconds until the window ends, at least 1. */
  secondsLeft(now: number): number {
    return Math.max(1, Math.ceil((this.#windowMs - (now % this.#windowMs)) / 1000));
  }

  #windowAt(now: number): number {
    return Math.floor(now / this.#windowMs);
  }

  #countOf(key: string, window: number): number {
    const entry = this.#counts?.get(key);
    return entry?.window === window ? entry.count : 0;
  }
}

/** The widest network first: what it may not have is not counted for a narrower one. */
export const slotsOfNetworks = (ip: string, perNetwork: number): readonly WindowSlots[] =>
  networksOf(ip).map(({ network, times }) => ({ key: network, max: times * perNetwork }));

/** Counts failed guesses of a secret by network, per process. */
export class GuessCounts {
  readonly #failures: WindowCounts;
  readonly #perNetwork: number;
  // It is created at the first use (docs/architecture.md#what-v8-does).
  #known: LRUCache<string, true> | null = null;

  constructor({ windowMs, perNetwork }: { windowMs: number; perNetwork: number }) {
    this.#failures = new WindowCounts(windowMs, 8_192);
    this.#perNetwork = perNetwork;
  }

  /** To be called before a guess is looked at. */
  mayGuess(ip: string, now: number): boolean {
    return this.#failures.hasRoom(this.#slotsOf(ip), now);
  }

  failed(ip: string, now: number): void {
    this.#failures.take(this.#slotsOf(ip), now);
  }

  /** The address is counted apart from its network from now on: guesses of its neighbors do not block it. */
  succeeded(ip: string): void {
    this.#known ??= new LRUCache({ max: 512 });
    this.#known.set(ip, true);
  }

  hasSucceeded(ip: string): boolean {
    return this.#known?.get(ip) === true;
  }

  /** Returns the seconds until the window ends, at least 1. */
  secondsLeft(now: number): number {
    return this.#failures.secondsLeft(now);
  }

  #slotsOf(ip: string): readonly WindowSlots[] {
    return this.hasSucceeded(ip)
      ? [{ key: `address ${ip}`, max: this.#perNetwork }]
      : slotsOfNetworks(ip, this.#perNetwork);
  }
}
