import { isIP } from 'node:net';
import type { Clock } from '../../kernel/clock.ts';
import { canonicalCidr } from '../../kernel/ip.ts';
import { Limiter } from './limiter.ts';
import type { LimiterSetup, LimiterUse } from './limiter-options.ts';
import type { Share, SharedPace } from './shared-pace.ts';

export interface RoutesOptions {
  readonly clock: Clock;
  /**
   * MAILVET_SMTP_CONNECTIONS_PER_HOST: dialogues open at once with one mail host or address, from one egress address.
   */
  readonly connectionsPerHost: number;
  /** MAILVET_SMTP_RATE_PER_OPERATOR: dialogues begun per second with one operator or address; 0 = no bound. */
  readonly ratePerOperator: number;
  /** What one network may take, in multiples of what one address may. */
  readonly networkFactor: number;
  /** MAILVET_SMTP_BREAKER_SECONDS; 0 = never opens. */
  readonly breakerSeconds: number;
  /** MAILVET_SMTP_BIND: local addresses to connect from, in turn; empty: the system's choice. */
  readonly egress: readonly string[];
  /** Dialogues open at once in this process. */
  readonly dialogues: number;
  /** All other limits are shared with other processes; null: with none. */
  readonly shared: SharedPace | null;
}

/** What is dialled. */
export interface Destination {
  readonly operator: string;
  readonly host: string;
  readonly address: string;
  /** The registrable domain of the recipient. */
  readonly domain: string;
}

/** Our IP address was rejected. */
export interface Refusal {
  readonly where: Destination;
  /** The local address; null: the system's choice. */
  readonly egress: string | null;
  /** When the recipient was named: perhaps by a rule of its domain, so at first for that domain alone. */
  readonly isForDomain: boolean;
}

/** The limiters of a dialogue. */
export interface Route {
  /** The local address; null: the system's choice. */
  readonly egress: string | null;
  readonly operator: Limiter;
  readonly address: Limiter;
  readonly host: Limiter;
  /** Seconds for which the recipient's domain is left alone, because it rejected our IP address; 0: it did not. */
  readonly domainBlockedFor: number;
  /** All of them. The widest comes first: what becomes free is offered to everybody who waits for it. */
  readonly limiters: readonly Limiter[];
}

const KINDS = ['operator', 'network', 'address', 'host'] as const;
type Kind = (typeof KINDS)[number];
type Setup = Omit<LimiterSetup, 'clock' | 'share'>;
type Create = (setup: Setup, share: Share | null) => Limiter;

/** Domains remembered that rejected our IP address, at each egress address. */
const DOMAINS_MAX = 10_000;
/** From this many limiters on, pristine ones are dropped. */
const SWEEP_AT = 20_000;

/** The limiters from one egress address, by what they limit. */
class Egress {
  readonly ip: string | null;
  readonly #create: Create;
  readonly #shared: SharedPace | null;
  /** Units of which each limit is divided among processes. */
  readonly #units: number;
  readonly #setups: Readonly<Record<Kind, Setup>>;
  readonly #known: Readonly<Record<Kind, Map<string, Limiter>>>;
  readonly #process: Limiter;
  /** By operator and domain, until when it is left alone (`Clock.elapsed()` ms). */
  readonly #refusedFor = new Map<string, number>();
  #count = 0;
  #sweepAt = SWEEP_AT;

  constructor(ip: string | null, options: RoutesOptions, process: Limiter, create: Create) {
    const { connectionsPerHost: most, ratePerOperator: rate, networkFactor: factor, breakerSeconds } = options;
    this.ip = ip;
    this.#process = process;
    this.#create = create;
    this.#shared = options.shared;
    this.#units = most;
    this.#setups = {
      operator: { most: Number.POSITIVE_INFINITY, rate, breakerSeconds },
      network: { most: most * factor, rate: rate * factor, breakerSeconds: 0 },
      address: { most, rate, breakerSeconds },
      host: { most, rate: 0, breakerSeconds: 0, isSoft: true },
    };
    this.#known = { operator: new Map(), network: new Map(), address: new Map(), host: new Map() };
  }

  get operators(): ReadonlyMap<string, Limiter> {
    return this.#known.operator;
  }

  route(where: Destination, now: number): Route {
    if (this.#count >= this.#sweepAt) this.#sweep(now);
    const network = this.#limiter('network', networkOf(where.address));
    const address = this.#limiter('address', where.address);
    const host = this.#limiter('host', where.host);
    const operator = this.#limiter('operator', where.operator);
    const limiters = [this.#process, network, address, host, operator];
    return { egress: this.ip, operator, address, host, limiters, domainBlockedFor: this.#domainBlockedFor(where, now) };
  }

  #domainBlockedFor({ operator, domain }: Destination, now: number): number {
    if (this.#refusedFor.size === 0) return 0;
    const until = this.#refusedFor.get(`${operator}\n${domain}`) ?? 0;
    return Math.max(0, Math.ceil((until - now) / 1000));
  }

  /** Leaves a domain alone that rejected our IP address, as long as a breaker stays open. */
  refusedFor({ operator, domain }: Destination, now: number): void {
    const { breakerSeconds } = this.#setups.operator;
    const key = `${operator}\n${domain}`;
    // To the end, so that the first is the oldest.
    this.#refusedFor.delete(key);
    if (breakerSeconds > 0) this.#refusedFor.set(key, now + breakerSeconds * 1000);
    for (const [oldest, until] of this.#refusedFor) {
      if (until > now && this.#refusedFor.size <= DOMAINS_MAX) return;
      this.#refusedFor.delete(oldest);
    }
  }

  #limiter(kind: Kind, key: string): Limiter {
    const known = this.#known[kind].get(key);
    if (known !== undefined) return known;
    const limiter = this.#create(this.#setups[kind], this.#shareOf(kind, key));
    this.#known[kind].set(key, limiter);
    this.#count++;
    return limiter;
  }

  #shareOf(kind: Kind, key: string): Share | null {
    const { most, rate } = this.#setups[kind];
    if (this.#shared === null || (most === Number.POSITIVE_INFINITY && rate === 0)) return null;
    const restMs = rate === 0 ? 0 : (Math.max(1, rate) / rate) * 1000;
    return this.#shared.create(`${this.ip ?? ''}\n${kind}\n${key}`, { total: this.#units, restMs });
  }

  #sweep(now: number): void {
    for (const kind of KINDS) {
      for (const [key, limiter] of this.#known[kind]) {
        if (!limiter.isPristine(now)) continue;
        this.#known[kind].delete(key);
        this.#count--;
      }
    }
    this.#sweepAt = Math.max(SWEEP_AT, this.#count * 2);
  }
}

/** Finds the limiters for what is dialled, from one of the egress addresses. */
export class Routes {
  readonly #clock: Clock;
  readonly #of: Readonly<Record<4 | 6, readonly Egress[]>>;
  #next = 0;

  /** `onRoom`: a limiter's rate allows a dialogue again. */
  constructor(options: RoutesOptions, onRoom: (limiter: Limiter) => void) {
    const { clock, dialogues, egress } = options;
    const create: Create = (setup, share) => new Limiter({ ...setup, clock, onRoom, share });
    const process = create({ most: dialogues, rate: 0, breakerSeconds: 0 }, null);
    const all = (egress.length === 0 ? [null] : egress).map((ip) => new Egress(ip, options, process, create));
    const ofFamily = (family: 4 | 6) => all.filter(({ ip }) => ip === null || isIP(ip) === family);
    this.#clock = clock;
    this.#of = { 4: ofFamily(4), 6: ofFamily(6) };
  }

  /** Whether there is an egress address of this family. */
  reaches(family: 4 | 6): boolean {
    return this.#of[family].length > 0;
  }

  /**
   * Round robin over egress addresses whose breakers are closed; if all are open, the one that closes first. Throws if
   * there is no egress address of the family.
   */
  choose(where: Destination, now: number): Route {
    const usable = this.#usableFor(where);
    const first = this.#next++;
    let best: Route | null = null;
    for (let i = 0; i < usable.length; i++) {
      const route = usable[(first + i) % usable.length]?.route(where, now) ?? null;
      const blocked = route && blockOf(route, now);
      if (blocked === null && route !== null) return route;
      if (route && (best === null || secondsOf(route, now) < secondsOf(best, now))) best = route;
    }
    if (best === null) throw new TypeError(`no egress address for ${where.address}`);
    return best;
  }

  refused({ where, egress, isForDomain }: Refusal): void {
    const one = this.#usableFor(where).find(({ ip }) => ip === egress);
    if (one === undefined) throw new TypeError(`no egress address ${egress}`);
    const now = this.#clock.elapsed();
    const { operator, address } = one.route(where, now);
    if (isForDomain) one.refusedFor(where, now);
    const domain = isForDomain ? where.domain : null;
    operator.refused(domain, false);
    address.refused(domain, true);
  }

  /** Operators known, and those of them whose breaker is open. */
  stats(): { operators: number; breakersOpen: number } {
    const now = this.#clock.elapsed();
    const operators = [...this.#operators()].map(([, limiter]) => limiter);
    return {
      operators: operators.length,
      breakersOpen: operators.filter((operator) => operator.blockedFor(now) > 0).length,
    };
  }

  /** Each operator's use, one for each egress address. */
  *uses(): Generator<[operator: string, use: LimiterUse]> {
    const now = this.#clock.elapsed();
    for (const [operator, limiter] of this.#operators()) yield [operator, limiter.use(now)];
  }

  /** One for each egress address. */
  *#operators(): Generator<[operator: string, limiter: Limiter]> {
    for (const egress of new Set([...this.#of[4], ...this.#of[6]])) yield* egress.operators;
  }

  #usableFor({ address }: Destination): readonly Egress[] {
    return this.#of[address.includes(':') ? 6 : 4];
  }
}

/** The breaker that blocks a route, and for how many seconds; null if none does. */
export function blockOf({ operator, address, domainBlockedFor }: Route, now: number) {
  const ofOperator = operator.blockedFor(now);
  if (ofOperator > 0) return { by: 'operator', retryAfter: ofOperator } as const;
  if (domainBlockedFor > 0) return { by: 'domain', retryAfter: domainBlockedFor } as const;
  const ofAddress = address.blockedFor(now);
  return ofAddress > 0 ? ({ by: 'address', retryAfter: ofAddress } as const) : null;
}

const secondsOf = (route: Route, now: number): number => blockOf(route, now)?.retryAfter ?? 0;

/** The /24 of an IPv4 address; the /64 of an IPv6 address, which is the least that a host gets. */
const networkOf = (ip: string): string =>
  ip.includes(':') ? (canonicalCidr(`${ip}/64`) ?? ip) : ip.slice(0, ip.lastIndexOf('.'));
