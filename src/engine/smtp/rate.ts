import type { Clock } from '../../kernel/clock.ts';

/** A reduced rate doubles after this long without a complaint. */
const RECOVER_MS = 60_000;
/** Complaints of concurrent dialogues count as one. */
const SAME_COMPLAINT_MS = 1_000;
const SLOWEST = 1 / 32;
/** Tokens are fractions: what rounding leaves below a whole one counts as one. */
const ROUNDING = 1e-6;

/** A token bucket for one second, whose rate is halved by complaints and recovers. */
export class Rate {
  readonly #clock: Clock;
  /** Per second; 0 = no bound. */
  readonly #most: number;
  /** Of it, for this process. */
  #fraction = 1;
  #tokens: number;
  #refilledAt: number;
  #factor = 1;
  #slowedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, perSecond: number) {
    this.#clock = clock;
    this.#most = perSecond;
    this.#tokens = Math.max(1, perSecond);
    this.#refilledAt = clock.elapsed();
  }

  /**
   * From now on, this part of the rate, from 0 to 1. What is allowed at once shrinks with it; it grows only as time
   * passes, unless it `isFresh`.
   */
  divide(fraction: number, isFresh: boolean): void {
    this.#refill(this.#clock.elapsed());
    if (fraction < this.#fraction && this.#tokens > 0) this.#tokens *= fraction / this.#fraction;
    this.#fraction = fraction;
    if (isFresh) this.#tokens = Math.max(1, this.#most * fraction);
  }

  /**
   * `onCredit`: the token may be missing, but only one. `leavesOne`: another one is left to others, if there can be
   * two.
   */
  admits(now: number, onCredit: boolean, leavesOne: boolean): boolean {
    if (this.#most === 0) return true;
    const spared = this.#refill(now) >= 2 && leavesOne ? 1 : 0;
    return this.#tokens >= spared + (onCredit ? 0 : 1 - ROUNDING);
  }

  take(): void {
    if (this.#most > 0) this.#tokens -= 1;
  }

  /** Milliseconds until the last of so many is admitted. `leavesOne`: see admits. */
  waitMs(now: number, count: number, leavesOne = false): number {
    if (this.#most === 0) return 0;
    const rate = this.#refill(now);
    const spared = leavesOne && rate >= 2 ? 1 : 0;
    return Math.max(0, ((count + spared - this.#tokens) / rate) * 1000);
  }

  slowDown(): void {
    if (this.#most === 0) return;
    const now = this.#clock.elapsed();
    if (now - this.#slowedAt < SAME_COMPLAINT_MS) return;
    this.#factor = Math.max(SLOWEST, this.#currentFactor(now) / 2);
    this.#slowedAt = now;
    this.#refill(now);
    this.#tokens = Math.min(this.#tokens, 0);
  }

  /** What is left of the rate after complaints: 1 is all of it. */
  ratio(now: number): number {
    return this.#currentFactor(now);
  }

  /** Whether it is as it was at the beginning. */
  isRested(now: number): boolean {
    const most = this.#most * this.#fraction;
    return this.#refill(now) === most && (most === 0 || this.#tokens >= Math.max(1, most));
  }

  #currentFactor(now: number): number {
    if (this.#factor === 1) return 1;
    return Math.min(1, this.#factor * 2 ** Math.floor((now - this.#slowedAt) / RECOVER_MS));
  }

  /** Adds the tokens of the time that has passed. Returns the current rate. */
  #refill(now: number): number {
    const rate = this.#most * this.#fraction * this.#currentFactor(now);
    this.#tokens = Math.min(Math.max(1, rate), this.#tokens + ((now - this.#refilledAt) / 1000) * rate);
    this.#refilledAt = now;
    return rate;
  }
}

/** Accounts slowed down at once whose rates are kept. */
const SLOWED_MAX = 1_000;

/**
 * Rates of accounts to which a server complained, each for itself: what it says to one account may be made by that
 * account, on a server that it rents under the operator's name.
 */
export class SlowedAccounts {
  readonly #clock: Clock;
  readonly #perSecond: number;
  #fraction = 1;
  /** Most limiters never have any. */
  #rates: Map<string, Rate> | null = null;

  constructor(clock: Clock, perSecond: number) {
    this.#clock = clock;
    this.#perSecond = perSecond;
  }

  divide(fraction: number): void {
    this.#fraction = fraction;
    for (const rate of this.#rates?.values() ?? []) rate.divide(fraction, false);
  }

  /** Its rate; undefined: that of all. */
  rateOf(account: string, now: number): Rate | undefined {
    const rate = this.#rates?.get(account);
    if (rate === undefined || rate.ratio(now) < 1) return rate;
    this.#rates?.delete(account);
    return undefined;
  }

  /** Halves its rate. True if another account is slowed down as well. */
  slowDown(account: string): boolean {
    const now = this.#clock.elapsed();
    this.#rates ??= new Map();
    for (const [known, rate] of this.#rates)
      if (rate.ratio(now) === 1 || this.#rates.size >= SLOWED_MAX) this.#rates.delete(known);
    const rate = this.#rates.get(account) ?? new Rate(this.#clock, this.#perSecond);
    rate.divide(this.#fraction, false);
    rate.slowDown();
    this.#rates.set(account, rate);
    return this.#rates.size > 1;
  }

  /** The lowest one relative to the rate of all. */
  ratio(now: number): number {
    return Math.min(1, ...Array.from(this.#rates?.values() ?? [], (rate) => rate.ratio(now)));
  }
}
