import { contain, warnOfFault } from '../../kernel/contain.ts';
import { Breaker, type Trial } from './breaker.ts';
import type { LimiterSetup, LimiterUse } from './limiter-options.ts';
import { Rate, SlowedAccounts } from './rate.ts';
import { accountOf, isBackground } from './tenants.ts';

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
  readonly #slowed: SlowedAccounts;
  readonly #breaker: Breaker;
  #timer: NodeJS.Timeout | null = null;
  #wakeAt = 0;

  constructor(options: LimiterOptions) {
    this.#options = options;
    this.#rate = new Rate(options.clock, options.rate);
    this.#slowed = new SlowedAccounts(options.clock, options.rate);
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
    const fraction = share.units(clock.elapsed()) / share.total;
    this.#rate.divide(fraction, isFresh);
    this.#slowed.divide(fraction);
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
    const pace = Math.min(this.#rate.ratio(now), this.#slowed.ratio(now));
    return { open: this.#open, begun: this.#begun, waiting, breaker, pace };
  }

  openOf(tenant: string): number {
    return this.#openOf?.get(tenant) ?? 0;
  }

  /** Seconds until the breaker lets a dialogue of the tenant through; 0 while it is closed. */
  blockedFor(now: number, tenant: string): number {
    return this.#breaker.blockedFor(now, accountOf(tenant));
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
    const own = this.#slowed.rateOf(accountOf(tenant), now);
    return Math.max(this.#rate.waitMs(now, ahead), own?.waitMs(now, turns) ?? 0);
  }

  /**
   * Whether a dialogue may begin for the tenant, for a request of `queue` if given. Background work leaves one place
   * and one dialogue of the rate to others, so that nobody waits for it. Wakes when the rate will allow it.
   */
  admits(now: number, tenant: string, queue: WaitingQueue | null = null): boolean {
    return this.#admitsAccount(now, tenant) && this.#hasRoom(now, tenant, queue);
  }

  /** What holds for the tenant's account alone. */
  #admitsAccount(now: number, tenant: string): boolean {
    const account = accountOf(tenant);
    if (!this.#breaker.admits(now, account)) return false;
    const own = this.#slowed.rateOf(account, now);
    if (own === undefined || own.admits(now, false, false)) return true;
    this.#wakeIn(own.waitMs(now, 1));
    return false;
  }

  #hasRoom(now: number, tenant: string, queue: WaitingQueue | null): boolean {
    const { isSoft } = this.#options;
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

  /** Counts a dialogue. Returns the breaker's trial if the dialogue is one. */
  take(tenant: string): Trial | null {
    this.#open++;
    this.#begun++;
    this.#rate.take();
    this.#slowed.rateOf(accountOf(tenant), this.#options.clock.elapsed())?.take();
    return this.#breaker.take(accountOf(tenant));
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
      mayAdmit ??= this.#hasRoom(now, tenant, this.#reserved);
      if (!mayAdmit) return null;
      if (!this.#admitsAccount(now, tenant)) continue;
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

  /** A server complained about our pace. For whose recipient; null: of all, as it speaks for itself. */
  slowDown(account: string | null): void {
    if (account === null || this.#slowed.slowDown(account)) this.#rate.slowDown();
  }

  /**
   * Our IP address was rejected. `domain`: of the recipient that was; null: before a recipient was named. The breaker
   * may open, and refuse everything that waits and that it is open for; of the rest, what waits for that domain is
   * refused.
   */
  refused(domain: string | null, { account, isAddress }: { account: string; isAddress: boolean }): void {
    const { breakerSeconds, clock } = this.#options;
    const opened = isAddress ? this.#breaker.refusedAtAddress(domain, account) : this.#breaker.refused(domain, account);
    const isForDomain = domain !== null && !isAddress && breakerSeconds > 0;
    if (!opened && !isForDomain) return;
    const now = clock.elapsed();
    for (const { tenant, queues } of [...this.#lines.values()]) {
      const isBlocked = this.blockedFor(now, tenant) > 0;
      if (!isBlocked && !isForDomain) continue;
      for (const queue of [...queues])
        queue.refuse(this, breakerSeconds, isBlocked ? undefined : (domain ?? undefined));
    }
  }

  /** A dialogue was answered: we are accepted. True if that closed the breaker. */
  closeBreaker(): boolean {
    return this.#breaker.answered();
  }

  /** Dropping this limiter would lose nothing but that its breaker is half-open, or that it may be doubted. */
  isPristine(now: number): boolean {
    const isQuiet = this.#open === 0 && this.#lines.size === 0 && !this.#options.share?.isActive;
    return isQuiet && this.#breaker.state(now) !== 'open' && this.#rate.isRested(now);
  }

  #wakeIn(ms: number): void {
    const at = this.#options.clock.elapsed() + ms;
    if (this.#timer !== null && at >= this.#wakeAt) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#wakeAt = at;
    const onTime = () => {
      this.#timer = null;
      this.#options.onRoom(this);
    };
    this.#timer = setTimeout(contain(warnOfFault, onTime), Math.ceil(ms) + 1);
    // Waiting requests have timers of their own.
    this.#timer.unref();
  }
}
