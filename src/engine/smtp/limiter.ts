/**
 * One limiter of the dialogues with an operator, a mail host, an address or a network: how many are open, how many
 * begin per second, its circuit breaker, and whose turn it is. What each part is for is said at its class.
 */
import type { Clock } from '../../kernel/clock.ts';
import { contain, warnOfFault } from '../../kernel/contain.ts';
import { LinkedList, type Place } from '../../kernel/linked-list.ts';
import { SMTP_LIMITS } from './limits.ts';
import type { RateShare } from './shared-rates.ts';

export interface LimiterSetup {
  readonly clock: Clock;
  /** This many dialogues may be open at once. */
  readonly maxOpen: number;
  /** This many dialogues may begin per second; 0 means no bound. */
  readonly maxPerSecond: number;
  /** 0 = the breaker never opens. */
  readonly breakerSeconds: number;
  /**
   * One dialogue more than `maxOpen` may be open, for the queue whose turn it is. Without that, a queue which waits for
   * two limiters could miss the moments at which each has room, forever.
   */
  readonly isSoft?: boolean;
  /** This process's part of it all; null: all. */
  readonly share: RateShare | null;
}

type BreakerState = 'closed' | 'open' | 'half_open';

export interface LimiterUse {
  readonly open: number;
  readonly begun: number;
  readonly waiting: number;
  readonly breaker: BreakerState;
  /** The rate relative to what it is without complaints. */
  readonly pace: number;
}

interface LimiterOptions extends LimiterSetup {
  /** The rate or this process's part allows a dialogue again. */
  readonly onRoom: (limiter: Limiter) => void;
}

/** Requests of one tenant for one destination, as its limiters see them. */
interface WaitingQueue {
  readonly tenant: string;
  /** Counts the tenant's dialogues with the address. */
  readonly open: number;
  readonly isEmpty: boolean;
  /** Says whether all limiters admit it. */
  isReady(now: number): boolean;
  /** Takes the first request out and begins it; the other tenants and queues come first now. */
  serve(): void;
  /** `by`: its breaker has opened. `seconds`: until it lets a dialogue through. `domain`: only recipients there. */
  refuse(by: Limiter, seconds: number, domain?: string): void;
}

/** Waiting requests of one tenant: their queues in rotation, and how many requests they hold together. */
interface TenantLine {
  readonly tenant: string;
  readonly isInBackground: boolean;
  readonly queues: Set<WaitingQueue>;
  entries: number;
}

const newTenantLine = (tenant: string): TenantLine => ({
  tenant,
  isInBackground: isBackground(tenant),
  queues: new Set(),
  entries: 0,
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
  /** Counts open dialogues by tenant; only limiters of addresses have them. */
  #openOf: Map<string, number> | null = null;
  /** Tenants are in rotation: the one which waited longest comes first. */
  readonly #lines = new Map<string, TenantLine>();
  /** The queue which was first when there was room here, but not at another limiter. */
  #reserved: WaitingQueue | null = null;
  readonly #rate: Rate;
  readonly #slowed: SlowedAccounts;
  readonly #breaker: Breaker;
  #timer: NodeJS.Timeout | null = null;
  #wakeAt = 0;

  constructor(options: LimiterOptions) {
    this.#options = options;
    this.#rate = new Rate(options.clock, options.maxPerSecond);
    this.#slowed = new SlowedAccounts(options.clock, options.maxPerSecond);
    this.#breaker = new Breaker(options.clock, options.breakerSeconds);
    if (options.share !== null) this.#rate.divide(0, false);
  }

  /** Returns how many dialogues may be open as of now. */
  #maxOpenAt(now: number): number {
    const { maxOpen, share } = this.#options;
    if (share === null) return maxOpen;
    const units = share.units(now);
    return units === 0 ? 0 : (maxOpen * units) / share.total;
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
    const { maxOpen, share } = this.#options;
    if (share === null) return 0;
    return maxOpen === Number.POSITIVE_INFINITY
      ? Math.min(share.total, Math.max(dialogues - this.#open, Math.min(1, this.#open)))
      : Math.ceil((dialogues * share.total) / maxOpen);
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
    return this.#open >= this.#maxOpenAt(this.#options.clock.elapsed());
  }

  /** More dialogues are open than this process's part allows: other processes wait for theirs. */
  get isOver(): boolean {
    const { share, clock, isSoft } = this.#options;
    return share !== null && this.#open > this.#maxOpenAt(clock.elapsed()) + (isSoft ? 1 : 0);
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
    return this.#breaker.blockedFor(now, accountOfTenant(tenant));
  }

  /**
   * Milliseconds until the rate alone would admit one more of this tenant, behind the requests which come before it;
   * null where it depends on other processes.
   */
  waitMs(now: number, tenant: string): number | null {
    const turns = (this.#lines.get(tenant)?.entries ?? 0) + 1;
    if (this.#maxOpenAt(now) === 0) return null;
    let ahead = turns;
    // Tenants take turns, so nobody has more of them before this request than its own tenant.
    for (const [name, { entries }] of this.#lines) {
      if (name === tenant || (isBackground(name) && !isBackground(tenant))) continue;
      ahead += Math.min(entries, turns);
    }
    const own = this.#slowed.rateOf(accountOfTenant(tenant), now);
    return Math.max(this.#rate.waitMs(now, ahead), own?.waitMs(now, turns) ?? 0);
  }

  /**
   * Whether a dialogue may begin for the tenant, for a request of `queue` if given. Background work leaves one place
   * and one dialogue of the rate to others, so that nobody waits for it. Wakes when the rate will allow it.
   */
  admits(now: number, tenant: string, queue: WaitingQueue | null = null): boolean {
    return this.#admitsAccount(now, tenant) && this.#hasRoom(now, tenant, queue);
  }

  /** It checks what holds for the tenant's account alone. */
  #admitsAccount(now: number, tenant: string): boolean {
    const account = accountOfTenant(tenant);
    if (!this.#breaker.admits(now, account)) return false;
    const own = this.#slowed.rateOf(account, now);
    if (own === undefined || own.admits(now, false, false)) return true;
    this.#wakeIn(own.waitMs(now, 1));
    return false;
  }

  #hasRoom(now: number, tenant: string, queue: WaitingQueue | null): boolean {
    const { isSoft } = this.#options;
    const all = this.#maxOpenAt(now);
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
  take(tenant: string): BreakerTrial | null {
    this.#open++;
    this.#begun++;
    this.#rate.take();
    this.#slowed.rateOf(accountOfTenant(tenant), this.#options.clock.elapsed())?.take();
    return this.#breaker.take(accountOfTenant(tenant));
  }

  giveBack(): void {
    this.#open--;
  }

  /** At an address, it adds `count` dialogues of this tenant. */
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
    const line = this.#lines.get(tenant) ?? newTenantLine(tenant);
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

  /** Goes to the end of the rotation. */
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

  /** A server complained about our rate. For whose recipient; null: of all, as it speaks for itself. */
  slowDown(account: string | null): void {
    if (account === null) this.#rate.slowDown();
    else this.#slowed.slowDown(account);
  }

  /**
   * Our IP address was rejected. `domain`: of the recipient that was; null: before a recipient was named. The breaker
   * may open, and refuse everything that waits and that it is open for; of the rest, what waits for that domain is
   * refused. True if the operator's own mailbox is to be asked about now.
   */
  refused(domain: string | null, { account, isAddress }: { account: string; isAddress: boolean }): boolean {
    const { breakerSeconds, clock } = this.#options;
    const opened = isAddress ? this.#breaker.refusedAtAddress(domain, account) : this.#breaker.refused(domain, account);
    const isForDomain = domain !== null && !isAddress && breakerSeconds > 0;
    if (!opened && !isForDomain) return false;
    const now = clock.elapsed();
    for (const { tenant, queues } of [...this.#lines.values()]) {
      const isBlocked = this.blockedFor(now, tenant) > 0;
      if (!isBlocked && !isForDomain) continue;
      for (const queue of [...queues])
        queue.refuse(this, breakerSeconds, isBlocked ? undefined : (domain ?? undefined));
    }
    return opened && !isAddress && account !== CANARY_TENANT && this.#breaker.asksCanary();
  }

  /** A dialogue was answered: we are accepted. True if that closed the breaker. */
  closeBreaker(): boolean {
    return this.#breaker.answered();
  }

  /** Dropping this limiter would lose nothing but that its breaker is half-open, or that it may be isContradicted. */
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

/** A queue entry is a request for a dialogue. */
export interface QueueEntry {
  /** The recipient has this domain. */
  readonly domain: string;
  readonly begin: () => void;
  /** A breaker has opened. `seconds`: until it lets a dialogue through. */
  readonly refuse: (by: Limiter, seconds: number) => void;
}

/** Requests of one tenant wait here for one address of one mail host: all of them need the same limiters. */
export class TenantQueue {
  readonly tenant: string;
  readonly #limiters: readonly Limiter[];
  /** Limits the address. */
  readonly #address: Limiter;
  readonly #onEmpty: () => void;
  readonly #entries = new LinkedList<QueueEntry>();

  constructor(tenant: string, limiters: readonly Limiter[], address: Limiter, onEmpty: () => void) {
    this.tenant = tenant;
    this.#limiters = limiters;
    this.#address = address;
    this.#onEmpty = onEmpty;
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** Counts the tenant's dialogues with this address. */
  get open(): number {
    return this.#address.openOf(this.tenant);
  }

  isReady(now: number): boolean {
    return this.#limiters.every((limiter) => limiter.admits(now, this.tenant, this));
  }

  /** Returns its place, by which it is removed. */
  add(entry: QueueEntry): Place<QueueEntry> {
    for (const limiter of this.#limiters) limiter.onEnqueued(this);
    return this.#entries.add(entry);
  }

  /** False if the entry has left the queue already. */
  remove(place: Place<QueueEntry>): boolean {
    if (!this.#entries.remove(place)) return false;
    for (const limiter of this.#limiters) limiter.onDequeued(this);
    if (this.isEmpty) this.#onEmpty();
    return true;
  }

  refuse(by: Limiter, seconds: number, domain?: string): void {
    for (const place of [...this.#entries]) {
      const entry = place.value;
      if ((domain ?? entry.domain) === entry.domain && this.remove(place)) entry.refuse(by, seconds);
    }
  }

  serve(): void {
    const { first } = this.#entries;
    if (first === null) return;
    this.remove(first);
    for (const limiter of this.#limiters) limiter.onServed(this);
    first.value.begin();
  }
}

/**
 * A mail server is asked on behalf of a tenant: an opaque text, by which turns are taken. Background work of an
 * account, such as its lists, is a tenant of its own, and comes after everybody whose client waits.
 */
const BACKGROUND_PREFIX = 'background\n';

/**
 * Our own questions to canary domains (egress.ts). Breakers do not hold them up, so that they can contradict; a
 * rejection of them opens breakers for all.
 */
export const CANARY_TENANT = 'canaries';

export const backgroundTenant = (account: string): string => `${BACKGROUND_PREFIX}${account}`;

export const isBackground = (tenant: string): boolean => tenant.startsWith(BACKGROUND_PREFIX);

/** Whose work it is. */
export const accountOfTenant = (tenant: string): string =>
  isBackground(tenant) ? tenant.slice(BACKGROUND_PREFIX.length) : tenant;

/** A reduced rate doubles after this time without a complaint. */
const RECOVER_MS = 60_000;
/** Complaints of concurrent dialogues count as one. */
const SAME_COMPLAINT_MS = 1_000;
const SLOWEST = 1 / 32;
/** Tokens are fractions: what rounding leaves below a whole one counts as one. */
const ROUNDING = 1e-6;

/** A token bucket for one second, whose rate is halved by complaints and recovers. */
class Rate {
  readonly #clock: Clock;
  /** 0 means no bound. */
  readonly #maxPerSecond: number;
  /** The part of the rate that this process has. */
  #fraction = 1;
  #tokens: number;
  #refilledAt: number;
  #factor = 1;
  #slowedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, perSecond: number) {
    this.#clock = clock;
    this.#maxPerSecond = perSecond;
    this.#tokens = Math.max(1, perSecond);
    this.#refilledAt = clock.elapsed();
  }

  /**
   * Takes this part of the rate from now on, from 0 to 1. What is allowed at once shrinks with it; it grows only as
   * time passes, unless it `isFresh`.
   */
  divide(fraction: number, isFresh: boolean): void {
    this.#refill(this.#clock.elapsed());
    if (fraction < this.#fraction && this.#tokens > 0) this.#tokens *= fraction / this.#fraction;
    this.#fraction = fraction;
    if (isFresh) this.#tokens = Math.max(1, this.#maxPerSecond * fraction);
  }

  /**
   * `onCredit`: the token may be missing, but only one. `leavesOne`: another one is left to others, if there can be
   * two.
   */
  admits(now: number, onCredit: boolean, leavesOne: boolean): boolean {
    if (this.#maxPerSecond === 0) return true;
    const spared = this.#refill(now) >= 2 && leavesOne ? 1 : 0;
    return this.#tokens >= spared + (onCredit ? 0 : 1 - ROUNDING);
  }

  take(): void {
    if (this.#maxPerSecond > 0) this.#tokens -= 1;
  }

  /** Milliseconds until the last of so many is admitted. `leavesOne`: see admits. */
  waitMs(now: number, count: number, leavesOne = false): number {
    if (this.#maxPerSecond === 0) return 0;
    const perSecond = this.#refill(now);
    const spared = leavesOne && perSecond >= 2 ? 1 : 0;
    return Math.max(0, ((count + spared - this.#tokens) / perSecond) * 1000);
  }

  slowDown(): void {
    if (this.#maxPerSecond === 0) return;
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
    const full = this.#maxPerSecond * this.#fraction;
    return this.#refill(now) === full && (full === 0 || this.#tokens >= Math.max(1, full));
  }

  #currentFactor(now: number): number {
    if (this.#factor === 1) return 1;
    return Math.min(1, this.#factor * 2 ** Math.floor((now - this.#slowedAt) / RECOVER_MS));
  }

  /** Adds the tokens of the time that has passed. Returns the current rate. */
  #refill(now: number): number {
    const perSecond = this.#maxPerSecond * this.#fraction * this.#currentFactor(now);
    this.#tokens = Math.min(Math.max(1, perSecond), this.#tokens + ((now - this.#refilledAt) / 1000) * perSecond);
    this.#refilledAt = now;
    return perSecond;
  }
}

/** Accounts slowed down at once whose rates are kept. */
const SLOWED_MAX = 1_000;

/**
 * Rates of accounts to which a server complained, each for itself: what it says to one account may be made by that
 * account, on a server that it rents under the operator's name.
 */
class SlowedAccounts {
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

  /** Returns its rate; undefined: that of all. */
  rateOf(account: string, now: number): Rate | undefined {
    const rate = this.#rates?.get(account);
    if (rate === undefined || rate.ratio(now) < 1) return rate;
    this.#rates?.delete(account);
    return undefined;
  }

  /** Halves its rate. */
  slowDown(account: string): void {
    const now = this.#clock.elapsed();
    this.#rates ??= new Map();
    for (const [known, rate] of this.#rates)
      if (rate.ratio(now) === 1 || this.#rates.size >= SLOWED_MAX) this.#rates.delete(known);
    const rate = this.#rates.get(account) ?? new Rate(this.#clock, this.#perSecond);
    rate.divide(this.#fraction, false);
    rate.slowDown();
    this.#rates.set(account, rate);
  }

  /** Returns the lowest one relative to the rate of all. */
  ratio(now: number): number {
    return Math.min(1, ...Array.from(this.#rates?.values() ?? [], (rate) => rate.ratio(now)));
  }
}

/** After its time, an open breaker is half-open, with one trial dialogue at a time. */
export interface BreakerTrial {
  isTrying: boolean;
}

/** So many accounts have to be rejected, each for itself, before a canary is asked, or an address believed by all. */
const ACCOUNTS_TO_SUSPECT = 2;
/** Accounts whose rejections are remembered. */
const REFUSED_ACCOUNTS_MAX = 1_000;

/**
 * The circuit breaker of an operator or an address: no dialogues for a while after our IP address was rejected. It
 * opens for the account whose recipient was rejected, because a customer of the operator can make such a reply: by a
 * rule for its own domains, or on a server that it rents under the operator's name. It has any number of accounts here.
 * So it opens for all only by a rejection of our own question, about a mailbox of the operator itself.
 */
class Breaker {
  readonly #clock: Clock;
  readonly #ms: number;
  /** The breaker is open for each account until then (`Clock.elapsed()` ms); the oldest comes first. */
  readonly #openUntil = new Map<string, number>();
  /** The breaker is open for all accounts until then; null means that it is not. */
  #openForAllUntil: number | null = null;
  #canaryAskedAt = Number.NEGATIVE_INFINITY;
  /** At an address, it is open until then for the last account that was rejected before a recipient was named. */
  #rejectedAtOnce: { readonly account: string; readonly untilMs: number } | null = null;
  #trial: BreakerTrial = { isTrying: false };
  #answeredAt = Number.NEGATIVE_INFINITY;
  /** Each account has the domains of recipients that were rejected since, because of our IP address. */
  readonly #refusedFor = new Map<string, Set<string>>();

  /** `seconds`: for how long it opens; 0 = never. */
  constructor(clock: Clock, seconds: number) {
    this.#clock = clock;
    this.#ms = seconds * 1000;
  }

  state(now: number): BreakerState {
    if (this.#openUntil.size === 0 && this.#openForAllUntil === null) return 'closed';
    if (this.#openForAllUntil !== null && this.#openForAllUntil > now) return 'open';
    for (const untilMs of this.#openUntil.values()) if (untilMs > now) return 'open';
    return 'half_open';
  }

  /** Returns until when it is open for an account; null means that it is closed. */
  #untilFor(account: string): number | null {
    if (account === CANARY_TENANT) return null;
    const own = this.#openUntil.get(account) ?? null;
    return this.#openForAllUntil === null ? own : Math.max(own ?? 0, this.#openForAllUntil);
  }

  /** Seconds until it lets a dialogue of the account through; 0 while it is closed. */
  blockedFor(now: number, account: string): number {
    const untilMs = this.#untilFor(account);
    return untilMs === null ? 0 : Math.max(0, Math.ceil((untilMs - now) / 1000));
  }

  admits(now: number, account: string): boolean {
    const untilMs = this.#untilFor(account);
    return untilMs === null || (!this.#trial.isTrying && untilMs <= now);
  }

  /** A dialogue of the account begins. Returns the trial if it is one. */
  take(account: string): BreakerTrial | null {
    if (this.#untilFor(account) === null) return null;
    this.#trial.isTrying = true;
    return this.#trial;
  }

  /**
   * Our IP address was rejected. `domain`: of the recipient that was; null: before a recipient was named. True if the
   * breaker opened for the account, or for all. A domain may have rules of its own, so several have to say the same,
   * with no answer in between.
   */
  refused(domain: string | null, account: string): boolean {
    if (this.#ms === 0) return false;
    const now = this.#clock.elapsed();
    if (account === CANARY_TENANT) {
      this.#openForAllUntil = now + this.#ms;
      this.#trial = { isTrying: false };
      return true;
    }
    if (domain !== null && this.#noteDomain(domain, account) < SMTP_LIMITS.breakerDomains) return false;
    this.#refusedFor.delete(account);
    this.#openUntil.delete(account);
    for (const [other, untilMs] of this.#openUntil) {
      if (untilMs >= now - this.#ms && this.#openUntil.size < REFUSED_ACCOUNTS_MAX) break;
      this.#openUntil.delete(other);
    }
    this.#openUntil.set(account, now + this.#ms);
    this.#trial = { isTrying: false };
    return true;
  }

  /**
   * Whether a canary is to be asked: several accounts were rejected, or it was open for all before. At most once in the
   * time for which it opens.
   */
  asksCanary(): boolean {
    const now = this.#clock.elapsed();
    const isSuspected = this.#openUntil.size >= ACCOUNTS_TO_SUSPECT || this.#openForAllUntil !== null;
    if (!isSuspected || now - this.#canaryAskedAt < this.#ms) return false;
    this.#canaryAskedAt = now;
    return true;
  }

  /** How many domains of the account were rejected. */
  #noteDomain(domain: string, account: string): number {
    const domains = this.#refusedFor.get(account) ?? new Set();
    this.#refusedFor.set(account, domains.add(domain));
    if (this.#refusedFor.size > REFUSED_ACCOUNTS_MAX)
      for (const oldest of this.#refusedFor.keys()) {
        this.#refusedFor.delete(oldest);
        break;
      }
    return domains.size;
  }

  /**
   * The same for an address: unless a dialogue was answered there recently. The server may have rules for each of its
   * names, so one name's rejection is believed only if no other name knows better; a second one in a row is believed.
   * What it says before a recipient is named is nothing that a customer can make: of two accounts, it counts for all.
   */
  refusedAtAddress(domain: string | null, account: string): boolean {
    if (domain !== null) return this.refused(domain, account);
    const isContradicted = this.#clock.elapsed() - this.#answeredAt < this.#ms;
    this.#answeredAt = Number.NEGATIVE_INFINITY;
    if (isContradicted || !this.refused(null, account)) return false;
    const [before, now] = [this.#rejectedAtOnce, this.#clock.elapsed()];
    this.#rejectedAtOnce = { account, untilMs: now + this.#ms };
    // It holds for all only as long as for each of them.
    if (before !== null && before.account !== account && before.untilMs >= now - this.#ms)
      this.#openForAllUntil = Math.max(this.#openForAllUntil ?? 0, before.untilMs);
    return true;
  }

  /** A dialogue was answered: we are accepted. True if that closed it. */
  answered(): boolean {
    this.#answeredAt = this.#clock.elapsed();
    if (this.#refusedFor.size > 0) this.#refusedFor.clear();
    const wasOpen = this.#openUntil.size > 0 || this.#openForAllUntil !== null;
    if (wasOpen) this.#openUntil.clear();
    this.#openForAllUntil = null;
    this.#rejectedAtOnce = null;
    return wasOpen;
  }
}
