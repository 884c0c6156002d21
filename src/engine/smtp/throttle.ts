/**
 * Limits towards third parties: how many dialogues are open and how many begin per second, with each operator, name of
 * a mail host, address and network, from each egress address; and circuit breakers for those that reject our IP
 * address. Names alone would not do, because any number of them may lead to one address. Waiting tenants take turns.
 */
import type { Clock } from '../../kernel/clock.ts';
import { contain, warnOfFault } from '../../kernel/contain.ts';
import { DEFAULT_EGRESS, type Egress, type IpFamily } from '../../kernel/egress.ts';
import { sha256Hex } from '../../kernel/ids.ts';
import { canonicalCidr } from '../../kernel/ip.ts';
import type { EgressRests } from './egress-rest.ts';
import {
  accountOfTenant,
  type BreakerTrial,
  CANARY_TENANT,
  isBackground,
  Limiter,
  type LimiterSetup,
  type LimiterUse,
  type QueueEntry,
  TenantQueue,
} from './limiter.ts';
import { type OperatorNames, type OperatorUse, useByOperator } from './operators.ts';
import type { RateShare, SharedRates } from './shared-rates.ts';
import type { TunnelFailure } from './tunnel.ts';

export type Permit =
  | { readonly kind: 'go'; readonly lease: DialogueLease }
  /** A circuit breaker is open. `by`: at `address`, others of the operator may be free. */
  | { readonly kind: 'blocked'; readonly by: 'operator' | 'domain' | 'address'; readonly retryAfterSeconds: number }
  /** The permit would come, or came, after the deadline. */
  | { readonly kind: 'late'; readonly retryAfterSeconds: number };

export interface PermitRequest extends Destination {
  readonly tenant: string;
  /** `Clock.elapsed()` ms: the permit has to come by then. */
  readonly startByMs: number;
}

interface ThrottleStats {
  readonly open: number;
  readonly waiting: number;
  readonly operators: number;
  /** Operators whose breaker is open. */
  readonly breakersOpen: number;
  readonly begun: number;
  readonly blocked: number;
  readonly late: number;
}

export class Throttle {
  readonly #clock: Clock;
  readonly #routes: DialRoutes;
  readonly #rests: EgressRests;
  /** Queues that are not empty. */
  readonly #queues = new Map<string, TenantQueue>();
  /** Limiters that may have room. */
  readonly #toDrain: Limiter[] = [];
  #isDraining = false;
  #open = 0;
  #waiting = 0;
  #begun = 0;
  #blocked = 0;
  #late = 0;

  constructor(options: DialRoutesOptions) {
    this.#clock = options.clock;
    this.#rests = options.rests;
    this.#routes = new DialRoutes(options, (limiter) => this.#drain([limiter]));
  }

  /** Whether there is an egress of this family for the operator. */
  reaches(family: IpFamily, operator: () => string): boolean {
    return this.#routes.reaches(family, operator);
  }

  /** Name of the egress to ask from; see Routes. */
  chooseEgress(question: EgressQuestion): string {
    return this.#routes.chooseEgress(question);
  }

  /** Operators whose breaker is open for an egress. */
  breakersOpen(egress: string): number {
    return this.#routes.breakersOpen(egress);
  }

  /** Seconds for which an egress rests; 0: it does not. */
  restsForSeconds(egress: string): number {
    return this.#rests.secondsLeft(egress);
  }

  /** See `EgressRests`. */
  onTunnel(egress: string, address: string, failure: TunnelFailure | null): void {
    this.#rests.onTunnel(egress, address, failure);
  }

  /**
   * Queues for a dialogue. `mayShare`: an open session may serve the request first, so its waiting time cannot be
   * predicted. `onPermit` is called at most once: before this returns null, or later, unless the request is withdrawn
   * by the function that this returns. `onFault` is called instead where a handler threw.
   */
  acquire(
    request: PermitRequest,
    mayShare: boolean,
    onPermit: (permit: Permit) => void,
    onFault: (fault: unknown) => void = warnOfFault,
  ): (() => void) | null {
    const now = this.#clock.elapsed();
    const route = this.#routes.route(request, now);
    const blocked = blockOf(route, request.tenant, now);
    if (blocked !== null) {
      this.#blocked++;
      onPermit({ kind: 'blocked', ...blocked });
      return null;
    }
    for (const limiter of route.limiters) limiter.onUse(now);
    // Whoever waits for these limiters waits for another one as well.
    if (route.limiters.every((limiter) => limiter.admits(now, request.tenant))) {
      this.#begin(route, request.tenant, onPermit);
      return null;
    }
    const delayMs = mayShare ? 0 : waitMs(route, now, request.tenant);
    if (now + delayMs >= request.startByMs) {
      this.#late++;
      onPermit({ kind: 'late', retryAfterSeconds: seconds(delayMs) });
      return null;
    }
    const queue = this.#queueOf(route, request);
    const entry: QueueEntry = {
      domain: request.domain,
      begin: () => {
        clearTimeout(giveUp);
        this.#waiting--;
        this.#begin(route, request.tenant, onPermit);
      },
      refuse: (by, retryAfterSeconds) => {
        clearTimeout(giveUp);
        this.#waiting--;
        this.#blocked++;
        onPermit({ kind: 'blocked', by: by === route.address ? 'address' : 'operator', retryAfterSeconds });
      },
    };
    const leave = (): boolean => {
      clearTimeout(giveUp);
      if (!queue.remove(place)) return false;
      this.#waiting--;
      return true;
    };
    const onLate = () => {
      if (!leave()) return;
      this.#late++;
      onPermit({ kind: 'late', retryAfterSeconds: seconds(waitMs(route, this.#clock.elapsed(), request.tenant)) });
    };
    const giveUp = setTimeout(contain(onFault, onLate), request.startByMs - now);
    this.#waiting++;
    const place = queue.add(entry);
    return leave;
  }

  /** Dialogues begin from these from now on. What is known of an egress by its name stays. */
  reload(egresses: readonly Egress[]): void {
    this.#routes.reload(egresses);
    this.#rests.reload(egresses);
  }

  /** Opens the breakers that believe it, and rejects the requests that wait for them. */
  refused(refusal: AddressRejection): void {
    this.#routes.refused(refusal);
  }

  stats(): ThrottleStats {
    const [open, waiting, begun, blocked, late] = [this.#open, this.#waiting, this.#begun, this.#blocked, this.#late];
    return { open, waiting, ...this.#routes.stats(), begun, blocked, late };
  }

  /** Metrics show it. */
  useByOperator(names: OperatorNames): OperatorUse[] {
    return useByOperator(this.#routes.uses(), names);
  }

  #begin(route: DialRoute, tenant: string, onPermit: (permit: Permit) => void): void {
    this.#open++;
    this.#begun++;
    onPermit({ kind: 'go', lease: new DialogueLease(route, tenant, this.#onLease) });
  }

  readonly #onLease: LeaseEvents = {
    released: (limiters) => {
      this.#open--;
      this.#drain(limiters);
    },
    hasRoom: (limiter) => this.#drain([limiter]),
  };

  /** Begins what these limiters allow, and what those allow that get room by it. */
  #drain(limiters: readonly Limiter[]): void {
    for (const limiter of limiters)
      if (limiter.isWaitedFor && !this.#toDrain.includes(limiter)) this.#toDrain.push(limiter);
    if (this.#isDraining || this.#toDrain.length === 0) return;
    this.#isDraining = true;
    const now = this.#clock.elapsed();
    try {
      for (let limiter = this.#toDrain.shift(); limiter !== undefined; limiter = this.#toDrain.shift()) {
        for (let queue = limiter.next(now); queue !== null; queue = limiter.next(now)) queue.serve();
      }
    } finally {
      this.#isDraining = false;
    }
  }

  #queueOf(route: DialRoute, { tenant, operator, host, address, egress }: PermitRequest): TenantQueue {
    const key = `${tenant}\n${operator}\n${host}\n${address}\n${egress}`;
    const known = this.#queues.get(key);
    if (known !== undefined) return known;
    const queue = new TenantQueue(tenant, route.limiters, route.address, () => this.#queues.delete(key));
    this.#queues.set(key, queue);
    return queue;
  }
}

/**
 * Milliseconds until the rates alone would admit one more of this tenant. 0 where that is unknown: a request that waits
 * for a slice may share the session of the first one that gets it.
 */
function waitMs({ limiters }: DialRoute, now: number, tenant: string): number {
  let longestMs = 0;
  for (const limiter of limiters) {
    const delayMs = limiter.waitMs(now, tenant);
    if (delayMs === null) return 0;
    longestMs = Math.max(longestMs, delayMs);
  }
  return longestMs;
}

/** Whole seconds, at least one. */
const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

export interface DialRoutesOptions {
  readonly clock: Clock;
  /**
   * MAILVET_SMTP_CONNECTIONS_PER_HOST limits dialogues open at once with one mail host or address, from one egress
   * address.
   */
  readonly connectionsPerHost: number;
  /**
   * MAILVET_SMTP_RATE_PER_OPERATOR limits dialogues begun per second with one operator or address; 0 means no bound.
   */
  readonly ratePerOperator: number;
  /** What one network may take, in multiples of what one address may. */
  readonly networkFactor: number;
  /** MAILVET_SMTP_BREAKER_SECONDS; 0 = never opens. */
  readonly breakerSeconds: number;
  /** Mail servers are asked from these; there is at least one. */
  readonly egresses: readonly Egress[];
  readonly rests: EgressRests;
  /** This process has at most this many open at once. */
  readonly dialogues: number;
  /**
   * Called when an operator rejected our IP address in checks of several accounts: a question about a mailbox of the
   * operator itself (CANARY_TENANT), from that egress, shows whether it rejects us all.
   */
  readonly askOperator: (operator: string, egress: string) => void;
  /** All other limits are shared with other processes; null: with none. */
  readonly shared: SharedRates | null;
}

/** What is dialled, and from where. */
export interface Destination {
  readonly operator: string;
  readonly host: string;
  readonly address: string;
  /** The domain is the recipient's registrable one. */
  readonly domain: string;
  /** Names the egress (`chooseEgress`). */
  readonly egress: string;
}

/** What an egress is chosen by. */
interface EgressQuestion {
  /**
   * It is the operator of all mail hosts of the domain, so that it does not depend on which of them are dialled; it is
   * made where it counts.
   */
  readonly operator: () => string;
  readonly domain: string;
  /** To be dialled: the egress has to be of its family. */
  readonly address: string;
  /** Name of the one from which the recipient was asked about before, and deferred; null: none. */
  readonly kept: string | null;
}

/** Our IP address was rejected. */
export interface AddressRejection {
  readonly where: Destination;
  /** The account whose recipient it is. */
  readonly account: string;
  /** When the recipient was named: perhaps by a rule of its domain, so at first for that domain alone. */
  readonly isForDomain: boolean;
}

/** Collects the limiters of a dialogue. */
interface DialRoute {
  readonly egress: Egress;
  readonly operator: Limiter;
  readonly address: Limiter;
  readonly host: Limiter;
  /** Seconds for which the recipient's domain is left alone, because it rejected our IP address; 0: it did not. */
  readonly domainBlockedForSeconds: number;
  /** All of them. The widest comes first: what becomes free is offered to everybody who waits for it. */
  readonly limiters: readonly Limiter[];
}

const LIMITER_KINDS = ['operator', 'network', 'address', 'host'] as const;
type LimiterKind = (typeof LIMITER_KINDS)[number];
type RouteLimiterSetup = Omit<LimiterSetup, 'clock' | 'share'>;
type CreateLimiter = (setup: RouteLimiterSetup, share: RateShare | null) => Limiter;

/** This many domains that rejected our IP address are remembered, at each egress address. */
const DOMAINS_MAX = 10_000;
/** From this many limiters on, pristine ones are dropped. */
const SWEEP_AT = 20_000;

/** The limiters of one egress, by what they limit. */
class EgressLimits {
  /** As it was configured last. */
  egress: Egress;
  readonly #create: CreateLimiter;
  readonly #shared: SharedRates | null;
  /** Units of which each limit is divided among processes. */
  readonly #units: number;
  readonly #setups: Readonly<Record<LimiterKind, RouteLimiterSetup>>;
  readonly #known: Readonly<Record<LimiterKind, Map<string, Limiter>>>;
  readonly #process: Limiter;
  /** By operator and domain, this is until when it is left alone (`Clock.elapsed()` ms). */
  readonly #refusedFor = new Map<string, number>();
  #count = 0;
  #sweepAt = SWEEP_AT;

  constructor(egress: Egress, options: DialRoutesOptions, process: Limiter, create: CreateLimiter) {
    const {
      connectionsPerHost: maxOpen,
      ratePerOperator: maxPerSecond,
      networkFactor: factor,
      breakerSeconds,
    } = options;
    this.egress = egress;
    this.#process = process;
    this.#create = create;
    this.#shared = options.shared;
    this.#units = maxOpen;
    this.#setups = {
      operator: { maxOpen: Number.POSITIVE_INFINITY, maxPerSecond, breakerSeconds },
      network: { maxOpen: maxOpen * factor, maxPerSecond: maxPerSecond * factor, breakerSeconds: 0 },
      address: { maxOpen, maxPerSecond, breakerSeconds },
      host: { maxOpen, maxPerSecond: 0, breakerSeconds: 0, isSoft: true },
    };
    this.#known = { operator: new Map(), network: new Map(), address: new Map(), host: new Map() };
  }

  get operators(): ReadonlyMap<string, Limiter> {
    return this.#known.operator;
  }

  route(where: Destination, now: number): DialRoute {
    if (this.#count >= this.#sweepAt) this.#sweep(now);
    const network = this.#limiter('network', networkOfAddress(where.address));
    const address = this.#limiter('address', where.address);
    const host = this.#limiter('host', where.host);
    const operator = this.#limiter('operator', where.operator);
    const limiters = [this.#process, network, address, host, operator];
    const domainBlockedForSeconds = this.domainBlockedForSeconds(where, now);
    return { egress: this.egress, operator, address, host, limiters, domainBlockedForSeconds };
  }

  domainBlockedForSeconds({ operator, domain }: Pick<Destination, 'operator' | 'domain'>, now: number): number {
    if (this.#refusedFor.size === 0) return 0;
    const untilMs = this.#refusedFor.get(`${operator}\n${domain}`) ?? 0;
    return Math.max(0, Math.ceil((untilMs - now) / 1000));
  }

  /** Leaves a domain alone that rejected our IP address, as long as a breaker stays open. */
  refusedFor({ operator, domain }: Destination, now: number): void {
    const { breakerSeconds } = this.#setups.operator;
    const key = `${operator}\n${domain}`;
    // It goes to the end, so that the first is the oldest.
    this.#refusedFor.delete(key);
    if (breakerSeconds > 0) this.#refusedFor.set(key, now + breakerSeconds * 1000);
    for (const [oldest, untilMs] of this.#refusedFor) {
      if (untilMs > now && this.#refusedFor.size <= DOMAINS_MAX) return;
      this.#refusedFor.delete(oldest);
    }
  }

  #limiter(kind: LimiterKind, key: string): Limiter {
    const known = this.#known[kind].get(key);
    if (known !== undefined) return known;
    const limiter = this.#create(this.#setups[kind], this.#shareOf(kind, key));
    this.#known[kind].set(key, limiter);
    this.#count++;
    return limiter;
  }

  #shareOf(kind: LimiterKind, key: string): RateShare | null {
    const { maxOpen, maxPerSecond } = this.#setups[kind];
    if (this.#shared === null || (maxOpen === Number.POSITIVE_INFINITY && maxPerSecond === 0)) return null;
    const restMs = maxPerSecond === 0 ? 0 : (Math.max(1, maxPerSecond) / maxPerSecond) * 1000;
    const { name } = this.egress;
    return this.#shared.create(`${name === DEFAULT_EGRESS ? '' : name}\n${kind}\n${key}`, {
      total: this.#units,
      restMs,
    });
  }

  #sweep(now: number): void {
    for (const kind of LIMITER_KINDS) {
      for (const [key, limiter] of this.#known[kind]) {
        if (!limiter.isPristine(now)) continue;
        this.#known[kind].delete(key);
        this.#count--;
      }
    }
    this.#sweepAt = Math.max(SWEEP_AT, this.#count * 2);
  }
}

/** Chooses an egress, and finds the limiters for what is dialled from it. */
class DialRoutes {
  readonly #clock: Clock;
  readonly #askOperator: DialRoutesOptions['askOperator'];
  readonly #options: DialRoutesOptions;
  readonly #create: CreateLimiter;
  readonly #process: Limiter;
  /**
   * The key is the name; earlier ones are included, as dialogues may be under way from there, and breakers outlive a
   * change.
   */
  readonly #known = new Map<string, EgressLimits>();
  #all: readonly EgressLimits[] = [];
  readonly #rests: EgressRests;
  #of: Readonly<Record<IpFamily, readonly EgressLimits[]>> = { 4: [], 6: [] };

  /** `onRoom`: a limiter's rate allows a dialogue again. */
  constructor(options: DialRoutesOptions, onRoom: (limiter: Limiter) => void) {
    const { clock, dialogues } = options;
    const create: CreateLimiter = (setup, share) => new Limiter({ ...setup, clock, onRoom, share });
    this.#options = options;
    this.#create = create;
    this.#process = create({ maxOpen: dialogues, maxPerSecond: 0, breakerSeconds: 0 }, null);
    this.#rests = options.rests;
    this.#clock = clock;
    this.#askOperator = options.askOperator;
    this.reload(options.egresses);
  }

  reload(egresses: readonly Egress[]): void {
    const all = egresses.map((egress) => {
      const limits =
        this.#known.get(egress.name) ?? new EgressLimits(egress, this.#options, this.#process, this.#create);
      limits.egress = egress;
      this.#known.set(egress.name, limits);
      return limits;
    });
    const ofFamily = (family: IpFamily) => all.filter(({ egress }) => egress.families.includes(family));
    this.#all = all;
    this.#of = { 4: ofFamily(4), 6: ofFamily(6) };
  }

  /** Whether there is an egress of this family for the operator. */
  reaches(family: IpFamily, operator: () => string): boolean {
    return this.#of[family].some(({ egress }) => mayAsk(egress, operator));
  }

  /**
   * The egress that deferred the recipient before, if it may still be used; else by rendezvous hashing, so that every
   * node and every attempt chooses the same one, and a change of the configuration moves few domains. Breakers of
   * operators do not count: a server that refuses one of our addresses is not asked from another one, even while the
   * egress rests. Throws if there is none of the family for the operator (`reaches`).
   */
  chooseEgress({ operator, address, domain, kept }: EgressQuestion): string {
    const ofFamily = this.#of[address.includes(':') ? 6 : 4];
    const usable = ofFamily.filter(({ egress }) => mayAsk(egress, operator));
    const isFree = (one: EgressLimits) =>
      !this.#rests.isResting(one.egress.name) || this.#hasRefused(one, operator(), domain);
    const before = usable.find(({ egress }) => egress.name === kept);
    if (before !== undefined && isFree(before)) return before.egress.name;
    const [only] = usable;
    if (only === undefined) throw new TypeError(`no egress for ${address}`);
    if (usable.length === 1) return only.egress.name;
    const of = `${operator()}\n${domain}`;
    const ranked = usable.map((one) => ({ one, rank: rankOf(one.egress, of) })).toSorted((a, b) => b.rank - a.rank);
    return (ranked.find(({ one }) => isFree(one))?.one ?? only).egress.name;
  }

  #hasRefused(limits: EgressLimits, operator: string, domain: string): boolean {
    const now = this.#clock.elapsed();
    const isOpen = limits.operators.get(operator)?.use(now).breaker === 'open';
    return isOpen || limits.domainBlockedForSeconds({ operator, domain }, now) > 0;
  }

  /** Throws if there is no egress of that name. */
  route(where: Destination, now: number): DialRoute {
    return this.#named(where).route(where, now);
  }

  refused({ where, account, isForDomain }: AddressRejection): void {
    const egress = this.#named(where);
    const now = this.#clock.elapsed();
    const { operator, address } = egress.route(where, now);
    if (isForDomain) egress.refusedFor(where, now);
    const domain = isForDomain ? where.domain : null;
    if (operator.refused(domain, { account, isAddress: false })) this.#askOperator(where.operator, where.egress);
    address.refused(domain, { account, isAddress: true });
  }

  breakersOpen(egress: string): number {
    const now = this.#clock.elapsed();
    const operators = [...(this.#known.get(egress)?.operators.values() ?? [])];
    return operators.filter((operator) => operator.use(now).breaker === 'open').length;
  }

  /** Operators known, and those of them whose breaker is open. */
  stats(): { operators: number; breakersOpen: number } {
    const now = this.#clock.elapsed();
    const operators = [...this.#operators()].map(([, limiter]) => limiter);
    return {
      operators: operators.length,
      breakersOpen: operators.filter((operator) => operator.use(now).breaker === 'open').length,
    };
  }

  /** Yields each operator's use, one for each egress address. */
  *uses(): Generator<[operator: string, use: LimiterUse]> {
    const now = this.#clock.elapsed();
    for (const [operator, limiter] of this.#operators()) yield [operator, limiter.use(now)];
  }

  /** Yields one for each egress address. */
  *#operators(): Generator<[operator: string, limiter: Limiter]> {
    for (const { operators } of this.#all) yield* operators;
  }

  #named({ egress: name }: Destination): EgressLimits {
    const found = this.#known.get(name);
    if (found === undefined) throw new TypeError(`no egress ${name}`);
    return found;
  }
}

/** Whether an egress may be used for an operator, or for all of several that have one domain's mail hosts. */
function mayAsk({ operators }: Egress, operator: () => string): boolean {
  if (operators === null) return true;
  const owners = operator().split(' ');
  if ('only' in operators) return owners.every((owner) => operators.only.includes(owner));
  return !owners.some((owner) => operators.except.includes(owner));
}

/**
 * Weighted rendezvous hashing: of egresses of equal weight each is the first for as many keys, one of twice the weight
 * for twice as many; which one of two others is first does not depend on it.
 */
function rankOf({ name, weight }: Egress, key: string): number {
  // 52 bits, as a fraction between 0 and 1, exclusive.
  const hash = Number.parseInt(sha256Hex(`${name}\n${key}`).slice(0, 13), 16);
  return -weight / Math.log((hash + 0.5) / 2 ** 52);
}

/** The breaker that blocks a route for a tenant, and for how many seconds; null if none does. */
function blockOf({ operator, address, domainBlockedForSeconds }: DialRoute, tenant: string, now: number) {
  const ofOperator = operator.blockedFor(now, tenant);
  if (ofOperator > 0) return { by: 'operator', retryAfterSeconds: ofOperator } as const;
  if (domainBlockedForSeconds > 0 && tenant !== CANARY_TENANT)
    return { by: 'domain', retryAfterSeconds: domainBlockedForSeconds } as const;
  const ofAddress = address.blockedFor(now, tenant);
  return ofAddress > 0 ? ({ by: 'address', retryAfterSeconds: ofAddress } as const) : null;
}

/** The /24 of an IPv4 address; the /64 of an IPv6 address, which is the least that a host gets. */
const networkOfAddress = (ip: string): string =>
  ip.includes(':') ? (canonicalCidr(`${ip}/64`) ?? ip) : ip.slice(0, ip.lastIndexOf('.'));

interface LeaseEvents {
  released(limiters: readonly Limiter[]): void;
  hasRoom(limiter: Limiter): void;
}

const NO_TRIALS: readonly BreakerTrial[] = [];
const isOver = (limiter: Limiter): boolean => limiter.isOver;

/** The right to one dialogue, until it is released. */
export class DialogueLease {
  readonly #route: DialRoute;
  readonly #on: LeaseEvents;
  /** This dialogue is the trial of these breakers. */
  readonly #trials: readonly BreakerTrial[];
  #tenant: string;
  #isReleased = false;

  constructor(route: DialRoute, tenant: string, on: LeaseEvents) {
    this.#route = route;
    this.#tenant = tenant;
    this.#on = on;
    let trials = NO_TRIALS;
    for (const limiter of route.limiters) {
      const trial = limiter.take(tenant);
      if (trial !== null) trials = [...trials, trial];
    }
    this.#trials = trials;
    route.address.addOf(tenant, 1);
  }

  get egress(): Egress {
    return this.#route.egress;
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    for (const limiter of this.#route.limiters) limiter.giveBack();
    this.#route.address.addOf(this.#tenant, -1);
    for (const trial of this.#trials) trial.isTrying = false;
    this.#on.released(this.#route.limiters);
  }

  /** The server accepts us: closes the breakers. */
  answered(): void {
    this.#close(this.#route.operator);
    this.#close(this.#route.address);
  }

  #close(limiter: Limiter): void {
    if (limiter.closeBreaker()) this.#on.hasRoom(limiter);
  }

  /**
   * 421 or 4.7.x: the server asks us to slow down. `isOfDomain`: perhaps by a rule of the recipient's domain, so for
   * the account alone. What a server says of itself holds for its address; under its operator's name anybody may have
   * one.
   */
  slowDown({ isOfDomain }: { isOfDomain: boolean }): void {
    const account = accountOfTenant(this.#tenant);
    this.#route.operator.slowDown(account);
    this.#route.address.slowDown(isOfDomain ? account : null);
  }

  /** The dialogue goes on for another tenant. */
  passTo(tenant: string): void {
    if (tenant === this.#tenant || this.#isReleased) return;
    this.#route.address.addOf(this.#tenant, -1);
    this.#route.address.addOf(tenant, 1);
    this.#tenant = tenant;
  }

  /** Counts other dialogues of a tenant with this address. */
  othersOf(tenant: string): number {
    return this.#route.address.openOf(tenant) - (tenant === this.#tenant && !this.#isReleased ? 1 : 0);
  }

  /**
   * Whether someone waits for this dialogue's place who has a better right to it than `tenant`: who has fewer
   * dialogues, even after getting it, or whose client waits while `tenant` is background work; or another process.
   * Null: than nobody.
   */
  isWantedMoreThanBy(tenant: string | null): boolean {
    const { address, host, limiters } = this.#route;
    return limiters.some(isOver) || this.#isWantedAt(address, tenant) || this.#isWantedAt(host, tenant);
  }

  #isWantedAt(limiter: Limiter, tenant: string | null): boolean {
    if (!limiter.isWaitedFor || !limiter.isFull) return false;
    if (tenant === null) return true;
    for (const other of limiter.waiting) {
      if (isBackground(other) !== isBackground(tenant)) {
        if (isBackground(tenant)) return true;
      } else if (this.othersOf(other) < this.othersOf(tenant)) return true;
    }
    return false;
  }
}
