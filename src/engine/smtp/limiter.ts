import { Breaker, type OpenBreaker } from './breaker.ts';
import type { LimiterSetup, LimiterUse } from './limiter-options.ts';
import { Rate } from './rate.ts';
import { isBackground } from './tenants.ts';

interface LimiterOptions extends LimiterSetup {
  /** The rate or this process's part allows a dialogue again. */
  readonly onRoom: (limiter: Limiter) => void;
}

/** Requests of one tenant for one destination, as its limiters see them (tenant-queue.ts). */
interface WaitingQueue {
  readonly tenant: string;
  /** The tenant's dialogues with the address. */
  readonly open: number;
  readonly isEmpty: boolean;
  /** Whether all limiters admit it. */
  isReady(now: number): boolean;
  /** Takes the first request out and begins it; the other tenants and queues come first now. */
  serve(): void;
  /** `by`: its breaker has opened. `seconds`: until it lets a dialogue through. `domain`: only recipients there. */
  refuse(by: Limiter, seconds: number, domain?: string): void;
}

/** Waiting requests of one tenant: their queues in rotation, and how many requests they hold together. */
interface Line {
  readonly tenant: string;
  readonly isInBackground: boolean;
  readonly queues: Set<WaitingQueue>;
  entries: number;
}

const newLine = (tenant: string): Line => ({
  ...{ tenant, isInBackground: isBackground(tenant) },
  ...{ queues: new Set(), entries: 0 },
});

/**
 * Limits the dialogues with an operator, a mail host, an address or a network, or of the whole process: how many are
 * open, how many begin per second; with a circuit breaker. A dialogue needs the permission of several limiters, and
 * takes it from all of them at once or from none. Each limiter knows the queues which wait for it.
 */
export class Limiter {
  readonly #options: LimiterOptions;
  #open = 0;
  #begun = 0;
  /** Open dialogues by tenant; only at addresses. */
  #openOf: Map<string, number> | null = null;
  /** By tenant, in rotation: the one which waited longest comes first. */
  readonly #lines = new Map<string, Line>();
  /** The queue which was first when there was room here, but not at another limiter. */
  #reserved: WaitingQueue | null = null;
  readonly #rate: Rate;
  readonly #breaker: Breaker;
  #timer: NodeJS.Timeout | null = null;
  #wakeAt = 0;

  constructor(options: LimiterOptions) {
    this.#options = options;
    this.#rate = new Rate(options.clock, options.rate);
    this.#breaker = new Breaker(options.clock, options.breakerSeconds);
    if (options.share !== null) this.#rate.divide(0, false);
  }

  /** Dialogues open at once, as of now. */
  #mostAt(now: number): number {
    const { most, share } = this.#options;
    if (share === null) return most;
    const units = share.units(now);
    return units === 0 ? 0 : (most * units) / share.total;
  }

  /** A dialogue is to begin, or to wait. */
  onUse(now: number): void {
    this.#options.share?.use(this, now);
  }

  get unitsInUse(): number {
    return this.#unitsFor(this.#open);
  }

  get unitsWanted(): number {
    let dialogues = this.#open;
    for (const { entries } of this.#lines.values()) dialogues += entries;
    return this.#unitsFor(dialogues);
  }

  /** Where the number of open dialogues has no bound, units are parts of the rate, which those that wait need most. */
  #unitsFor(dialogues: number): number {
    const { most, share } = this.#options;
    if (share === null) return 0;
    return most === Number.POSITIVE_INFINITY
      ? Math.min(share.total, Math.max(dialogues - this.#open, Math.min(1, this.#open)))
      : Math.ceil((dialogues * share.total) / most);
  }

  onSlice(isFresh: boolean): void {
    const { share, clock, onRoom } = this.#options;
    if (share === null) return;
    this.#rate.divide(share.units(clock.elapsed()) / share.total, isFresh);
    onRoom(this);
  }

  get isWaitedFor(): boolean {
    return this.#lines.size > 0;
  }

  get isFull(): boolean {
    return this.#open >= this.#mostAt(this.#options.clock.elapsed());
  }

  /** More dialogues are open than this process's part allows: other processes wait for theirs. */
  get isOver(): boolean {
    const { share, clock, isSoft } = this.#options;
    return share !== null && this.#open > this.#mostAt(clock.elapsed()) + (isSoft ? 1 : 0);
  }

  /** Tenants that wait. */
  get waiting(): Iterable<string> {
    return this.#lines.keys();
  }

  use(now: number): LimiterUse {
    let waiting = 0;
    for (const { entries } of this.#lines.values()) waiting += entries;
    const breaker = this.#breaker.state(now);
    return { open: this.#open, begun: this.#begun, waiting, breaker, pace: this.#rate.ratio(now) };
  }

  openOf(tenant: string): number {
    return this.#openOf?.get(tenant) ?? 0;
  }

  /** Seconds until the breaker lets a dialogue through; 0 while it is closed. */
  blockedFor(now: number): number {
    return this.#breaker.blockedFor(now);
  }

  /**
   * Milliseconds until the rate alone would admit one more of this tenant, behind the requests which come before it;
   * null where it depends on other processes.
   */
  waitMs(now: number, tenant: string): number | null {
    const turns = (this.#lines.get(tenant)?.entries ?? 0) + 1;
    if (this.#mostAt(now) === 0) return null;
    let ahead = turns;
    // Tenants take turns, so nobody has more of them before this request than its own tenant.
    for (const [name, { entries }] of this.#lines) {
      if (name === tenant || (isBackground(name) && !isBackground(tenant))) continue;
      ahead += Math.min(entries, turns);
    }
    return this.#rate.waitMs(now, ahead);
  }

  /**
   * Whether a dialogue may begin for the tenant, for a request of `queue` if given. Background work leaves one place
   * and one dialogue of the rate to others, so that nobody waits for it. Wakes when the rate will allow it.
   */
  admits(now: number, tenant: string, queue: WaitingQueue | null = null): boolean {
    const { isSoft } = this.#options;
    if (!this.#breaker.admits(now)) return false;
    const all = this.#mostAt(now);
    // What it waits for are units, which onSlice will bring.
    if (all === 0) return false;
    const isReserved = queue !== null && queue === this.#reserved;
    const yields = isBackground(tenant);
    const most = yields ? Math.max(1, all - 1) : all;
    if (this.#open >= (isSoft && isReserved ? most + 1 : most)) return false;
    if (this.#rate.admits(now, isReserved, yields)) return true;
    this.#wakeIn(this.#rate.waitMs(now, 1, yields));
    return false;
  }

  /** Counts a dialogue. Returns the open breaker if the dialogue is its trial. */
  take(): OpenBreaker | null {
    this.#open++;
    this.#begun++;
    this.#rate.take();
    return this.#breaker.take();
  }

  giveBack(): void {
    this.#open--;
  }

  /** At an address: `count` more dialogues of this tenant. */
  addOf(tenant: string, count: 1 | -1): void {
    this.#openOf ??= new Map();
    const open = this.openOf(tenant) + count;
    if (open === 0) this.#openOf.delete(tenant);
    else this.#openOf.set(tenant, open);
  }

  /**
   * The queue to serve now; null if none can be served. Background work comes last. Tenants with the fewest dialogues
   * at the address come first, so that slow dialogues count for more than fast ones; then tenants, and each tenant's
   * queues, in rotation.
   */
  next(now: number): WaitingQueue | null {
    return this.#nextOf(false, now) ?? this.#nextOf(true, now);
  }

  #nextOf(inBackground: boolean, now: number): WaitingQueue | null {
    let best: WaitingQueue | null = null;
    let fewest = Number.POSITIVE_INFINITY;
    let mayAdmit: boolean | null = null;
    for (const { tenant, isInBackground, queues } of this.#lines.values()) {
      if (isInBackground !== inBackground) continue;
      mayAdmit ??= this.admits(now, tenant, this.#reserved);
      if (!mayAdmit) return null;
      for (const queue of queues) {
        const { open } = queue;
        if (open >= fewest) continue;
        if (queue.isReady(now)) [best, fewest] = [queue, open];
        else if (this.admits(now, tenant)) this.#reserved ??= queue;
        if (fewest === 0) return best;
      }
    }
    return best;
  }

  onEnqueued(queue: WaitingQueue): void {
    const { tenant } = queue;
    const line = this.#lines.get(tenant) ?? newLine(tenant);
    if (line.entries === 0) this.#lines.set(tenant, line);
    line.queues.add(queue);
    line.entries++;
  }

  onDequeued(queue: WaitingQueue): void {
    const line = this.#lines.get(queue.tenant);
    if (line === undefined) return;
    line.entries--;
    if (!queue.isEmpty) return;
    if (this.#reserved === queue) this.#reserved = null;
    line.queues.delete(queue);
    if (line.queues.size === 0) this.#lines.delete(queue.tenant);
  }

  /** It goes to the end of the rotation. */
  onServed(queue: WaitingQueue): void {
    if (this.#reserved === queue) this.#reserved = null;
    const line = this.#lines.get(queue.tenant);
    if (line === undefined) return;
    if (this.#lines.size > 1) {
      this.#lines.delete(queue.tenant);
      this.#lines.set(queue.tenant, line);
    }
    if (line.queues.size > 1 && line.queues.delete(queue)) line.queues.add(queue);
  }

  slowDown(): void {
    this.#rate.slowDown();
  }

  /**
   * Our IP address was rejected. `domain`: of the recipient that was; null: before a recipient was named. The breaker
   * may open, and refuse everything that waits; until then, only what waits for that domain is refused.
   */
  refused(domain: string | null, isAddress: boolean): void {
    const { breakerSeconds } = this.#options;
    const opened = isAddress ? this.#breaker.refusedAtAddress(domain) : this.#breaker.refused(domain);
    if (!opened && (domain === null || isAddress || breakerSeconds === 0)) return;
    for (const queue of [...this.#lines.values()].flatMap(({ queues }) => [...queues]))
      queue.refuse(this, breakerSeconds, opened ? undefined : (domain ?? undefined));
  }

  /** A dialogue was answered: we are accepted. True if that closed the breaker. */
  closeBreaker(): boolean {
    return this.#breaker.answered();
  }

  /** Dropping this limiter would lose nothing but that its breaker is half-open, or that it may be doubted. */
  isPristine(now: number): boolean {
    const isQuiet = this.#open === 0 && this.#lines.size === 0 && !this.#options.share?.isActive;
    return isQuiet && this.blockedFor(now) === 0 && this.#rate.isRested(now);
  }

  #wakeIn(ms: number): void {
    const at = this.#options.clock.elapsed() + ms;
    if (this.#timer !== null && at >= this.#wakeAt) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#wakeAt = at;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#options.onRoom(this);
    }, Math.ceil(ms) + 1);
    // Waiting requests have timers of their own.
    this.#timer.unref();
  }
}
