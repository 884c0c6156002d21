/**
 * Limits towards third parties: how many dialogues are open and how many begin per second, with each operator, name of
 * a mail host, address and network, from each egress address; and circuit breakers for those that reject our IP
 * address. Names alone would not do, because any number of them may lead to one address. Waiting tenants take turns.
 */
import type { Clock } from '../../kernel/clock.ts';
import { contain, warnOfFault } from '../../kernel/contain.ts';
import { Lease, type LeaseEvents } from './lease.ts';
import type { Limiter } from './limiter.ts';
import { type OperatorNames, type OperatorUse, useByOperator } from './operator-use.ts';
import {
  blockOf,
  type Destination,
  type EgressQuestion,
  type Refusal,
  type Route,
  Routes,
  type RoutesOptions,
} from './routes.ts';
import { type QueueEntry, TenantQueue } from './tenant-queue.ts';

export type Permit =
  | { readonly kind: 'go'; readonly lease: Lease }
  /** A circuit breaker is open. `retryAfter`: seconds. `by`: at `address`, others of the operator may be free. */
  | { readonly kind: 'blocked'; readonly by: 'operator' | 'domain' | 'address'; readonly retryAfter: number }
  /** The permit would come, or came, after the deadline. */
  | { readonly kind: 'late'; readonly retryAfter: number };

export interface PermitRequest extends Destination {
  readonly tenant: string;
  /** `Clock.elapsed()` ms: the permit has to come by then. */
  readonly startBy: number;
}

export interface ThrottleStats {
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
  readonly #routes: Routes;
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

  constructor(options: RoutesOptions) {
    this.#clock = options.clock;
    this.#routes = new Routes(options, (limiter) => this.#drain([limiter]));
  }

  /** Whether there is an egress address of this family. */
  reaches(family: 4 | 6): boolean {
    return this.#routes.reaches(family);
  }

  /** Name of the egress to ask from; see Routes. */
  chooseEgress(question: EgressQuestion): string {
    return this.#routes.chooseEgress(question);
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
    const wait = mayShare ? 0 : waitMs(route, now, request.tenant);
    if (now + wait >= request.startBy) {
      this.#late++;
      onPermit({ kind: 'late', retryAfter: seconds(wait) });
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
      refuse: (by, retryAfter) => {
        clearTimeout(giveUp);
        this.#waiting--;
        this.#blocked++;
        onPermit({ kind: 'blocked', by: by === route.address ? 'address' : 'operator', retryAfter });
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
      onPermit({ kind: 'late', retryAfter: seconds(waitMs(route, this.#clock.elapsed(), request.tenant)) });
    };
    const giveUp = setTimeout(contain(onFault, onLate), request.startBy - now);
    this.#waiting++;
    const place = queue.add(entry);
    return leave;
  }

  /** Opens the breakers that believe it, and rejects the requests that wait for them. */
  refused(refusal: Refusal): void {
    this.#routes.refused(refusal);
  }

  stats(): ThrottleStats {
    const [open, waiting, begun, blocked, late] = [this.#open, this.#waiting, this.#begun, this.#blocked, this.#late];
    return { open, waiting, ...this.#routes.stats(), begun, blocked, late };
  }

  /** For metrics. */
  useByOperator(names: OperatorNames): OperatorUse[] {
    return useByOperator(this.#routes.uses(), names);
  }

  #begin(route: Route, tenant: string, onPermit: (permit: Permit) => void): void {
    this.#open++;
    this.#begun++;
    onPermit({ kind: 'go', lease: new Lease(route, tenant, this.#onLease) });
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

  #queueOf(route: Route, { tenant, operator, host, address, egress }: PermitRequest): TenantQueue {
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
function waitMs({ limiters }: Route, now: number, tenant: string): number {
  let longest = 0;
  for (const limiter of limiters) {
    const wait = limiter.waitMs(now, tenant);
    if (wait === null) return 0;
    longest = Math.max(longest, wait);
  }
  return longest;
}

/** Whole seconds, at least one. */
const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));
