import type { Clock } from '../../kernel/clock.ts';

export interface LaneOptions {
  readonly egress: string | null;
  readonly clock: Clock;
  readonly connectionsPerHost: number;
  /** Dialogues begun per second; 0 = no bound. */
  readonly rate: number;
  readonly breakerSeconds: number;
  /** The bound of the whole process. A lane whose `take` failed is pumped when a slot comes back. */
  readonly slots: { take(lane: Lane): boolean; giveBack(): void };
}

/** Somebody who waits for a dialogue with one of the operator's hosts. */
export interface Place {
  readonly host: string;
  readonly begin: (release: () => void) => void;
  readonly refuse: (retryAfter: number) => void;
}

interface Host {
  open: number;
  readonly waiting: Set<Place>;
}

/** A slower rate is doubled again after this long without a complaint. */
const RECOVER_MS = 60_000;
/** Complaints of dialogues that were open at the same time are one complaint. */
const SAME_COMPLAINT_MS = 1_000;
const SLOWEST = 1 / 32;

/** The queue to one operator from one egress address. */
export class Lane {
  readonly egress: string | null;
  readonly #options: LaneOptions;
  readonly #hosts = new Map<string, Host>();
  #waiting = 0;
  #open = 0;
  #tokens: number;
  #refilledAt: number;
  #factor = 1;
  #slowedAt = Number.NEGATIVE_INFINITY;
  /** Null: closed. After `until` one dialogue at a time tries whether they talk to us again. */
  #breaker: { until: number; trying: boolean } | null = null;
  #timer: NodeJS.Timeout | null = null;
  #pumping = false;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.egress = options.egress;
    this.#tokens = Math.max(1, options.rate);
    this.#refilledAt = options.clock.elapsed();
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Seconds for which this operator is not dialled; 0 when it is. */
  blockedFor(now: number): number {
    return this.#breaker === null ? 0 : Math.max(0, Math.ceil((this.#breaker.until - now) / 1000));
  }

  /** Milliseconds until the rate alone would let one more begin, behind those who wait already. */
  waitMs(now: number): number {
    const rate = this.#rate(now);
    if (rate === 0) return 0;
    this.#refill(now);
    return Math.max(0, ((this.#waiting + 1 - this.#tokens) / rate) * 1000);
  }

  join(place: Place): void {
    const host = this.#hosts.get(place.host) ?? { open: 0, waiting: new Set() };
    if (host.waiting.size === 0) this.#toTheEnd(place.host, host);
    host.waiting.add(place);
    this.#waiting++;
    this.pump();
  }

  /** False when it had its turn before. */
  leave(place: Place): boolean {
    if (!this.#hosts.get(place.host)?.waiting.delete(place)) return false;
    this.#waiting--;
    this.#forget(place.host);
    return true;
  }

  slowDown(): void {
    if (this.#options.rate === 0) return;
    const now = this.#options.clock.elapsed();
    if (now - this.#slowedAt < SAME_COMPLAINT_MS) return;
    this.#factor = Math.max(SLOWEST, this.#currentFactor(now) / 2);
    this.#slowedAt = now;
    this.#refill(now);
    this.#tokens = Math.min(this.#tokens, 0);
  }

  refuse(): void {
    const { breakerSeconds, clock } = this.#options;
    if (breakerSeconds === 0) return;
    this.#breaker = { until: clock.elapsed() + breakerSeconds * 1000, trying: false };
    const told: Place[] = [];
    for (const { waiting } of this.#hosts.values()) told.push(...waiting);
    for (const place of told) if (this.leave(place)) place.refuse(breakerSeconds);
  }

  recover(): void {
    if (this.#breaker === null) return;
    this.#breaker = null;
    this.pump();
  }

  /** Nothing would be lost if this lane were forgotten. */
  likeNew(): boolean {
    const now = this.#options.clock.elapsed();
    this.#refill(now);
    const rested = this.#tokens >= Math.max(1, this.#options.rate) && this.#currentFactor(now) === 1;
    return this.#waiting === 0 && this.#open === 0 && this.#breaker === null && rested;
  }

  /** Lets begin whoever may, host by host in turn, each host's in the order of arrival. */
  pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    for (const [name, host] of [...this.#hosts]) {
      while (host.waiting.size > 0 && host.open < this.#options.connectionsPerHost) {
        if (!this.#mayBegin()) {
          this.#pumping = false;
          return;
        }
        this.#begin(name, host);
      }
    }
    this.#pumping = false;
  }

  #mayBegin(): boolean {
    const now = this.#options.clock.elapsed();
    if (this.#breaker !== null && (this.blockedFor(now) > 0 || this.#breaker.trying)) return false;
    const rate = this.#rate(now);
    if (rate > 0) {
      this.#refill(now);
      if (this.#tokens < 1 - 1e-6) {
        this.#wakeIn(((1 - this.#tokens) / rate) * 1000);
        return false;
      }
    }
    if (!this.#options.slots.take(this)) return false;
    if (rate > 0) this.#tokens -= 1;
    return true;
  }

  #begin(name: string, host: Host): void {
    const [place] = host.waiting;
    host.waiting.delete(place!);
    this.#waiting--;
    host.open++;
    this.#open++;
    this.#toTheEnd(name, host);
    const trial = this.#breaker;
    if (trial !== null) trial.trying = true;
    let released = false;
    place!.begin(() => {
      if (released) return;
      released = true;
      host.open--;
      this.#open--;
      if (trial !== null) trial.trying = false;
      this.#forget(name);
      this.#options.slots.giveBack();
      this.pump();
    });
  }

  /** Hosts are looked at in the order of this map: whoever has waited longest comes first. */
  #toTheEnd(name: string, host: Host): void {
    this.#hosts.delete(name);
    this.#hosts.set(name, host);
  }

  #forget(name: string): void {
    const host = this.#hosts.get(name);
    if (host?.open === 0 && host.waiting.size === 0) this.#hosts.delete(name);
  }

  #rate(now: number): number {
    return this.#options.rate * this.#currentFactor(now);
  }

  #currentFactor(now: number): number {
    if (this.#factor === 1) return 1;
    return Math.min(1, this.#factor * 2 ** Math.floor((now - this.#slowedAt) / RECOVER_MS));
  }

  #refill(now: number): void {
    const rate = this.#rate(now);
    const most = Math.max(1, rate);
    this.#tokens = Math.min(most, this.#tokens + ((now - this.#refilledAt) / 1000) * rate);
    this.#refilledAt = now;
  }

  #wakeIn(ms: number): void {
    if (this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.pump();
    }, Math.ceil(ms) + 1);
    // Who waits has a timer of its own.
    this.#timer.unref();
  }
}
