import type { Trial } from './breaker.ts';
import type { Limiter } from './limiter.ts';
import type { Route } from './routes.ts';
import { accountOf, isBackground } from './tenants.ts';

export interface LeaseEvents {
  released(limiters: readonly Limiter[]): void;
  hasRoom(limiter: Limiter): void;
}

const NO_TRIALS: readonly Trial[] = [];
const isOver = (limiter: Limiter): boolean => limiter.isOver;

/** The right to one dialogue, until it is released. */
export class Lease {
  readonly #route: Route;
  readonly #on: LeaseEvents;
  /** Of the breakers whose trial this dialogue is. */
  readonly #trials: readonly Trial[];
  #tenant: string;
  #isReleased = false;

  constructor(route: Route, tenant: string, on: LeaseEvents) {
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

  /** The local address to connect from; null: the system's choice. */
  get bind(): string | null {
    return this.#route.bind;
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

  /** 421 or 4.7.x: the server asks us to slow down. */
  slowDown(): void {
    this.#route.operator.slowDown(accountOf(this.#tenant));
    this.#route.address.slowDown(null);
  }

  /** The dialogue goes on for another tenant. */
  passTo(tenant: string): void {
    if (tenant === this.#tenant || this.#isReleased) return;
    this.#route.address.addOf(this.#tenant, -1);
    this.#route.address.addOf(tenant, 1);
    this.#tenant = tenant;
  }

  /** Other dialogues of a tenant with this address. */
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
