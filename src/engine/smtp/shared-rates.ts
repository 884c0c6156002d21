/**
 * The part of each limit that this process may use where several share an egress address: slices that it leases, so
 * that all together never exceed what one may. They are leased ahead and renewed for all limits at once, so a dialogue
 * waits for a lease only where this process has had none for a while.
 */
import type { Clock } from '../../kernel/clock.ts';
import { contain, warnOfFault } from '../../kernel/contain.ts';
import { PACE_SLICE_SECONDS } from '../../kernel/facts/lifetimes.ts';
import { sha256Hex } from '../../kernel/ids.ts';

/** Limits are divided into units; see `PaceSlices` of the store. */
interface RateSliceRequest {
  readonly key: string;
  readonly total: number;
  readonly holds: number;
  readonly needs: number;
  readonly restMs: number;
}
interface RateSlice {
  readonly key: string;
  readonly units: number;
  readonly target: number;
  readonly isRested: boolean;
}

export interface SharedRatesOptions {
  /** Processes of one group have the same egress address, but for those that connect from different local addresses. */
  readonly group: string;
  /** While it rejects, no dialogue begins once what was leased before has ended. */
  readonly lease: (requests: readonly RateSliceRequest[], leaseMs: number) => Promise<readonly RateSlice[]>;
  readonly failed: (error: unknown) => void;
}

/** What is limited: a limiter (limiter.ts). */
interface Divisible {
  /** Units that open dialogues use. */
  readonly unitsInUse: number;
  /** The same, and units for requests that wait. */
  readonly unitsWanted: number;
  /** This process may use another part than before. `isFresh`: what the rate allows at once has not been used. */
  onSlice(isFresh: boolean): void;
}

/** A slice ends so long after it was renewed, ms. */
const SLICE_LEASE_MS = PACE_SLICE_SECONDS * 1000;
const SLICE_RENEW_MS = 2_000;
/** Keeps two requests for more apart. */
const SLICE_RETRY_MS = 500;
/** A slice is kept for so long after its last use. */
const SLICE_LINGER_MS = 4_000;

/** A share is the slice of one limit that this process has. */
export class RateShare {
  readonly key: string;
  readonly total: number;
  readonly #rates: SharedRates;
  readonly #clock: Clock;
  readonly #restMs: number;
  /** As the store has it. */
  #units = 0;
  /** Leaves out those that other processes wait for. */
  #allowed = 0;
  /** The slice ends at this time of `Clock.elapsed()`. */
  #until = Number.NEGATIVE_INFINITY;
  #askedAt = Number.NEGATIVE_INFINITY;
  #usedAt = Number.NEGATIVE_INFINITY;

  constructor(rates: SharedRates, clock: Clock, key: string, { total, restMs }: { total: number; restMs: number }) {
    this.#rates = rates;
    this.#clock = clock;
    this.key = key;
    this.total = total;
    this.#restMs = restMs;
  }

  /** Units that dialogues may use; those that are open may use more. */
  units(now: number): number {
    return now < this.#until ? this.#allowed : 0;
  }

  /** A dialogue is to begin, or to wait. */
  use(limiter: Divisible, now: number): void {
    this.#usedAt = now;
    if (!this.isActive) this.#askedAt = Number.NEGATIVE_INFINITY;
    this.#rates.activate(this, limiter);
  }

  isUsed(limiter: Divisible, now: number): boolean {
    return limiter.unitsWanted > 0 || now - this.#usedAt < SLICE_LINGER_MS;
  }

  isDue(limiter: Divisible, now: number): boolean {
    const hasEnough = this.units(now) >= Math.min(this.total, limiter.unitsWanted);
    return now - this.#askedAt >= (hasEnough ? SLICE_RENEW_MS : SLICE_RETRY_MS);
  }

  get isActive(): boolean {
    return this.#rates.isActive(this);
  }

  get isNew(): boolean {
    return this.#askedAt === Number.NEGATIVE_INFINITY;
  }

  request(limiter: Divisible, now: number): RateSliceRequest {
    this.#askedAt = now;
    const isUsed = this.isUsed(limiter, now);
    if (!isUsed) {
      // What is given back is not used meanwhile.
      this.#allowed = 0;
      limiter.onSlice(false);
    }
    return {
      key: this.key,
      total: this.total,
      restMs: this.#restMs,
      holds: Math.max(this.units(now), Math.min(this.#units, limiter.unitsInUse)),
      // One more than there is use for, so that the next dialogue need not wait.
      needs: isUsed ? Math.min(this.total, limiter.unitsWanted + 1) : 0,
    };
  }

  /** Takes the reply to the request of `began`. */
  receive({ units, target, isRested }: RateSlice, began: number, limiter: Divisible): void {
    const had = this.units(this.#clock.elapsed());
    this.#units = units;
    this.#allowed = Math.min(units, target);
    // Not from now: the store's lease must not end first.
    this.#until = began + SLICE_LEASE_MS;
    if (this.#allowed !== had) limiter.onSlice(isRested && had === 0);
  }

  giveBack(): RateSliceRequest {
    return { key: this.key, total: this.total, restMs: this.#restMs, holds: 0, needs: 0 };
  }
}

export class SharedRates {
  readonly #options: SharedRatesOptions;
  readonly #clock: Clock;
  /** Slices that are used, or were lately. */
  readonly #active = new Map<RateShare, Divisible>();
  #asking: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isFailing = false;
  #closed = false;

  constructor(clock: Clock, options: SharedRatesOptions) {
    this.#clock = clock;
    this.#options = options;
  }

  /** Slices that this process has or waits for. */
  get slices(): number {
    return this.#active.size;
  }

  /** `restMs`: after this long without a dialogue, the rate allows as many at once as ever. */
  create(limit: string, size: { total: number; restMs: number }): RateShare {
    // It has a bounded length, and lacks the names of mail hosts.
    return new RateShare(this, this.#clock, sha256Hex(`${this.#options.group}\n${limit}`), size);
  }

  isActive(share: RateShare): boolean {
    return this.#active.has(share);
  }

  activate(share: RateShare, limiter: Divisible): void {
    if (this.#active.has(share) || this.#closed) return;
    this.#active.set(share, limiter);
    // Requests of the same moment go into one statement, so only the first of them sets the timer.
    if (this.#asking === null) this.#wakeIn(0);
  }

  /** Gives everything back. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#asking;
    const requests = Array.from(this.#active.keys(), (share) => share.giveBack());
    this.#active.clear();
    if (requests.length > 0) await this.#options.lease(requests, SLICE_LEASE_MS).catch(this.#options.failed);
  }

  #wakeIn(ms: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    const onTime = () => {
      this.#timer = null;
      const asked = this.#ask().finally(() => {
        this.#asking = null;
        if (this.#closed || this.#active.size === 0) return;
        this.#wakeIn(this.#hasNew() ? 0 : SLICE_RETRY_MS);
      });
      this.#asking = asked.catch(warnOfFault);
    };
    this.#timer = setTimeout(contain(warnOfFault, onTime), ms);
    this.#timer.unref();
  }

  #hasNew(): boolean {
    for (const share of this.#active.keys()) if (share.isNew) return true;
    return false;
  }

  /** One request for all slices that are due. */
  async #ask(): Promise<void> {
    const began = this.#clock.elapsed();
    const due = [...this.#active].filter(([share, limiter]) => share.isDue(limiter, began));
    if (due.length === 0) return;
    const requests = due.map(([share, limiter]) => share.request(limiter, began));
    const limiters = new Map(due.map(([share, limiter]) => [share.key, { share, limiter }]));
    try {
      for (const slice of await this.#options.lease(requests, SLICE_LEASE_MS)) {
        const known = limiters.get(slice.key);
        if (known === undefined) continue;
        const { share, limiter } = known;
        const isUsed = share.isUsed(limiter, began);
        if (!isUsed && slice.units === 0) this.#active.delete(share);
        share.receive(slice, began, limiter);
      }
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#options.failed(error);
      this.#isFailing = true;
    }
  }
}
