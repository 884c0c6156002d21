import type { Clock } from '../../kernel/clock.ts';

interface OperatorQueueOptions {
  readonly egress: string | null;
  readonly clock: Clock;
  readonly connectionsPerHost: number;
  /** Dialogues begun per second; 0 = no bound. */
  readonly rate: number;
  readonly breakerSeconds: number;
  /** The process-wide limit. A queue whose `take` failed is drained when a slot becomes free. */
  readonly slots: { take(queue: OperatorQueue): boolean; giveBack(): void };
}

/** A request for a dialogue with one of the operator's hosts. */
export interface QueueEntry {
  readonly host: string;
  readonly begin: (release: () => void) => void;
  readonly refuse: (retryAfter: number) => void;
}

interface Host {
  open: number;
  readonly waiting: Set<QueueEntry>;
}

/** A reduced rate doubles after this long without a complaint. */
const RECOVER_MS = 60_000;
/** Complaints of concurrent dialogues count as one. */
const SAME_COMPLAINT_MS = 1_000;
const SLOWEST = 1 / 32;

/** The queue to one operator from one egress address. */
export class OperatorQueue {
  readonly egress: string | null;
  readonly #options: OperatorQueueOptions;
  readonly #hosts = new Map<string, Host>();
  #waiting = 0;
  #open = 0;
  #tokens: number;
  #refilledAt: number;
  #factor = 1;
  #slowedAt = Number.NEGATIVE_INFINITY;
  /** Null: closed. After `until` it is half-open: one trial dialogue at a time. */
  #breaker: { until: number; trying: boolean } | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isDraining = false;

  constructor(options: OperatorQueueOptions) {
    this.#options = options;
    this.egress = options.egress;
    this.#tokens = Math.max(1, options.rate);
    this.#refilledAt = options.clock.elapsed();
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Seconds until the breaker lets a dialogue through; 0 while it is closed. */
  blockedFor(now: number): number {
    return this.#breaker === null ? 0 : Math.max(0, Math.ceil((this.#breaker.until - now) / 1000));
  }

  /** Milliseconds until the rate limit alone would admit one more, behind those already waiting. */
  waitMs(now: number): number {
    const rate = this.#rate(now);
    if (rate === 0) return 0;
    this.#refill(now);
    return Math.max(0, ((this.#waiting + 1 - this.#tokens) / rate) * 1000);
  }

  enqueue(entry: QueueEntry): void {
    const host = this.#hosts.get(entry.host) ?? { open: 0, waiting: new Set() };
    if (host.waiting.size === 0) this.#moveToEnd(entry.host, host);
    host.waiting.add(entry);
    this.#waiting++;
    this.drain();
  }

  /** False if the entry has left the queue already. */
  dequeue(entry: QueueEntry): boolean {
    if (!this.#hosts.get(entry.host)?.waiting.delete(entry)) return false;
    this.#waiting--;
    this.#forget(entry.host);
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

  openBreaker(): void {
    const { breakerSeconds, clock } = this.#options;
    if (breakerSeconds === 0) return;
    this.#breaker = { until: clock.elapsed() + breakerSeconds * 1000, trying: false };
    const entries: QueueEntry[] = [];
    for (const { waiting } of this.#hosts.values()) entries.push(...waiting);
    for (const entry of entries) if (this.dequeue(entry)) entry.refuse(breakerSeconds);
  }

  closeBreaker(): void {
    if (this.#breaker === null) return;
    this.#breaker = null;
    this.drain();
  }

  /** Dropping this queue would lose no state. */
  isPristine(): boolean {
    const now = this.#options.clock.elapsed();
    this.#refill(now);
    const rested = this.#tokens >= Math.max(1, this.#options.rate) && this.#currentFactor(now) === 1;
    return this.#waiting === 0 && this.#open === 0 && this.#breaker === null && rested;
  }

  /** Starts what the limits allow: hosts in turn, each host's entries in order of arrival. */
  drain(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    for (const [name, host] of [...this.#hosts]) {
      while (host.waiting.size > 0 && host.open < this.#options.connectionsPerHost) {
        if (!this.#tryPermit()) {
          this.#isDraining = false;
          return;
        }
        this.#begin(name, host);
      }
    }
    this.#isDraining = false;
  }

  #tryPermit(): boolean {
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
    const [entry] = host.waiting;
    if (entry === undefined) return;
    host.waiting.delete(entry);
    this.#waiting--;
    host.open++;
    this.#open++;
    this.#moveToEnd(name, host);
    const trial = this.#breaker;
    if (trial !== null) trial.trying = true;
    let released = false;
    entry.begin(() => {
      if (released) return;
      released = true;
      host.open--;
      this.#open--;
      if (trial !== null) trial.trying = false;
      this.#forget(name);
      this.#options.slots.giveBack();
      this.drain();
    });
  }

  /** Hosts are served in the order of this map: the one that waited longest comes first. */
  #moveToEnd(name: string, host: Host): void {
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
      this.drain();
    }, Math.ceil(ms) + 1);
    // Waiting requests have timers of their own.
    this.#timer.unref();
  }
}
