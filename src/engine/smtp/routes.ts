import { isIP } from 'node:net';
import type { Clock } from '../../kernel/clock.ts';
import { sha256Hex } from '../../kernel/ids.ts';
import { canonicalCidr } from '../../kernel/ip.ts';
import { Limiter } from './limiter.ts';
import type { LimiterSetup, LimiterUse } from './limiter-options.ts';
import type { Share, SharedPace } from './shared-pace.ts';
import { CANARIES } from './tenants.ts';

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
  /** MAILVET_SMTP_BIND: local addresses to connect from; empty: the system's choice. */
  readonly egress: readonly string[];
  /** Dialogues open at once in this process. */
  readonly dialogues: number;
  /** All other limits are shared with other processes; null: with none. */
  readonly shared: SharedPace | null;
}

/** What is dialled, and from where. */
export interface Destination {
  readonly operator: string;
  readonly host: string;
  readonly address: string;
  /** The registrable domain of the recipient. */
  readonly domain: string;
  /** Name of the egress (`chooseEgress`). */
  readonly egress: string;
}

/** What an egress is chosen by. */
export interface EgressQuestion {
  /** Of all mail hosts of the domain, so that it does not depend on which of them are dialled; made where it counts. */
  readonly operator: () => string;
  readonly domain: string;
  /** To be dialled: the egress has to be of its family. */
  readonly address: string;
  /** Name of the one from which the recipient was asked about before, and deferred; null: none. */
  readonly kept: string | null;
}

/** Our IP address was rejected. */
export interface Refusal {
  readonly where: Destination;
  /** For whose recipient. */
  readonly account: string;
  /** When the recipient was named: perhaps by a rule of its domain, so at first for that domain alone. */
  readonly isForDomain: boolean;
}

/** The limiters of a dialogue. */
export interface Route {
  /** The local address; null: the system's choice. */
  readonly bind: string | null;
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
/** Name of the egress whose local address the system chooses. */
const SYSTEMS_CHOICE = 'default';
/** From this many limiters on, pristine ones are dropped. */
const SWEEP_AT = 20_000;

/** The limiters from one egress address, by what they limit. */
class Egress {
  readonly name: string;
  readonly bind: string | null;
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

  constructor(bind: string | null, options: RoutesOptions, process: Limiter, create: Create) {
    const { connectionsPerHost: most, ratePerOperator: rate, networkFactor: factor, breakerSeconds } = options;
    this.name = bind ?? SYSTEMS_CHOICE;
    this.bind = bind;
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
    return { bind: this.bind, operator, address, host, limiters, domainBlockedFor: this.#domainBlockedFor(where, now) };
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
    return this.#shared.create(`${this.bind ?? ''}\n${kind}\n${key}`, { total: this.#units, restMs });
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

/** Chooses an egress, and finds the limiters for what is dialled from it. */
export class Routes {
  readonly #clock: Clock;
  readonly #of: Readonly<Record<4 | 6, readonly Egress[]>>;

  /** `onRoom`: a limiter's rate allows a dialogue again. */
  constructor(options: RoutesOptions, onRoom: (limiter: Limiter) => void) {
    const { clock, dialogues, egress } = options;
    const create: Create = (setup, share) => new Limiter({ ...setup, clock, onRoom, share });
    const process = create({ most: dialogues, rate: 0, breakerSeconds: 0 }, null);
    const all = (egress.length === 0 ? [null] : egress).map((bind) => new Egress(bind, options, process, create));
    const ofFamily = (family: 4 | 6) => all.filter(({ bind }) => bind === null || isIP(bind) === family);
    this.#clock = clock;
    this.#of = { 4: ofFamily(4), 6: ofFamily(6) };
  }

  /** Whether there is an egress address of this family. */
  reaches(family: 4 | 6): boolean {
    return this.#of[family].length > 0;
  }

  /**
   * The egress that deferred the recipient before, if there still is one of that name; else by rendezvous hashing, so
   * that every node and every attempt chooses the same one, and a change of the configuration moves few domains.
   * Breakers do not count: a server that refuses one of our addresses is not asked from another one. Throws if there is
   * no egress of the family.
   */
  chooseEgress({ operator, domain, address, kept }: EgressQuestion): string {
    const usable = this.#usableFor(address);
    if (kept !== null && usable.some(({ name }) => name === kept)) return kept;
    const [only] = usable;
    if (only === undefined) throw new TypeError(`no egress address for ${address}`);
    if (usable.length === 1) return only.name;
    const of = `${operator()}\n${domain}`;
    const ranked = usable.map(({ name }) => ({ name, rank: sha256Hex(`${name}\n${of}`) }));
    return ranked.reduce((best, one) => (one.rank > best.rank ? one : best)).name;
  }

  /** Throws if there is no egress of that name. */
  route(where: Destination, now: number): Route {
    return this.#named(where).route(where, now);
  }

  refused({ where, account, isForDomain }: Refusal): void {
    const egress = this.#named(where);
    const now = this.#clock.elapsed();
    const { operator, address } = egress.route(where, now);
    if (isForDomain) egress.refusedFor(where, now);
    const domain = isForDomain ? where.domain : null;
    operator.refused(domain, { account, isAddress: false });
    address.refused(domain, { account, isAddress: true });
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

  /** Each operator's use, one for each egress address. */
  *uses(): Generator<[operator: string, use: LimiterUse]> {
    const now = this.#clock.elapsed();
    for (const [operator, limiter] of this.#operators()) yield [operator, limiter.use(now)];
  }

  /** One for each egress address. */
  *#operators(): Generator<[operator: string, limiter: Limiter]> {
    for (const egress of new Set([...this.#of[4], ...this.#of[6]])) yield* egress.operators;
  }

  #usableFor(address: string): readonly Egress[] {
    return this.#of[address.includes(':') ? 6 : 4];
  }

  #named({ address, egress }: Destination): Egress {
    const found = this.#usableFor(address).find(({ name }) => name === egress);
    if (found === undefined) throw new TypeError(`no egress ${egress} for ${address}`);
    return found;
  }
}

/** The breaker that blocks a route for a tenant, and for how many seconds; null if none does. */
export function blockOf({ operator, address, domainBlockedFor }: Route, tenant: string, now: number) {
  const ofOperator = operator.blockedFor(now, tenant);
  if (ofOperator > 0) return { by: 'operator', retryAfter: ofOperator } as const;
  if (domainBlockedFor > 0 && tenant !== CANARIES) return { by: 'domain', retryAfter: domainBlockedFor } as const;
  const ofAddress = address.blockedFor(now, tenant);
  return ofAddress > 0 ? ({ by: 'address', retryAfter: ofAddress } as const) : null;
}

/** The /24 of an IPv4 address; the /64 of an IPv6 address, which is the least that a host gets. */
const networkOf = (ip: string): string =>
  ip.includes(':') ? (canonicalCidr(`${ip}/64`) ?? ip) : ip.slice(0, ip.lastIndexOf('.'));
