/**
 * Limits towards each mail operator: concurrent dialogues per mail host and new dialogues per second per operator, both
 * per egress address, and a circuit breaker for operators that reject our IP address.
 */
import { isIP } from 'node:net';
import type { Clock } from '../../kernel/clock.ts';
import { OperatorQueue, type QueueEntry } from './operator-queue.ts';

export interface ThrottleOptions {
  readonly clock: Clock;
  /** MAILVET_SMTP_CONNECTIONS_PER_HOST: dialogues open at once to one mail host, from one egress address. */
  readonly connectionsPerHost: number;
  /** MAILVET_SMTP_RATE_PER_OPERATOR: dialogues begun per second; 0 = no bound. */
  readonly ratePerOperator: number;
  /** MAILVET_SMTP_BREAKER_SECONDS; 0 = never opens. */
  readonly breakerSeconds: number;
  /** MAILVET_SMTP_BIND: local addresses to connect from, in turn; empty: the system's choice. */
  readonly egress: readonly string[];
  /** Dialogues open at once in this process. */
  readonly dialogues: number;
}

export type Permit =
  | { readonly kind: 'go'; readonly egress: string | null; readonly release: () => void }
  /** The circuit breaker is open. `retryAfter`: seconds. */
  | { readonly kind: 'blocked'; readonly retryAfter: number }
  /** The permit would come, or came, after the deadline. */
  | { readonly kind: 'late'; readonly retryAfter: number };

export interface PermitRequest {
  readonly operator: string;
  readonly host: string;
  readonly family: 4 | 6;
  /** `Clock.elapsed()` ms. */
  readonly deadline: number;
  /** An open session may serve this request first, so its waiting time cannot be predicted. */
  readonly mayShare: boolean;
  /** Called at most once, perhaps before `acquire` returns. */
  readonly onPermit: (turn: Permit) => void;
}

export interface ThrottleStats {
  readonly open: number;
  readonly waiting: number;
  readonly operators: number;
  readonly breakersOpen: number;
  readonly begun: number;
  readonly blocked: number;
  readonly late: number;
}

/** From this many queues on, pristine ones are dropped. */
const SWEEP_AT = 4096;

export class Throttle {
  readonly #options: ThrottleOptions;
  readonly #queues = new Map<string, OperatorQueue>();
  /** Queues waiting for a slot of the process-wide limit, served round robin. */
  readonly #waitingForSlot = new Set<OperatorQueue>();
  #sweepAt = SWEEP_AT;
  #nextEgress = 0;
  #open = 0;
  #begun = 0;
  #blocked = 0;
  #late = 0;

  constructor(options: ThrottleOptions) {
    this.#options = options;
  }

  /** Local addresses of a family; `[null]` if the system chooses; empty if the family is not available. */
  egressOf(family: 4 | 6): readonly (string | null)[] {
    const { egress } = this.#options;
    return egress.length === 0 ? [null] : egress.filter((ip) => isIP(ip) === family);
  }

  /** Queues for a dialogue. The returned function withdraws the request; it does nothing once a permit was given. */
  acquire(request: PermitRequest): () => void {
    const { clock } = this.#options;
    const queue = this.#choose(request.operator, request.family);
    const now = clock.elapsed();
    const blocked = queue.blockedFor(now);
    if (blocked > 0) {
      this.#blocked++;
      request.onPermit({ kind: 'blocked', retryAfter: blocked });
      return () => {};
    }
    const wait = request.mayShare ? 0 : queue.waitMs(now);
    if (now + wait >= request.deadline) {
      this.#late++;
      request.onPermit({ kind: 'late', retryAfter: Math.max(1, Math.ceil(wait / 1000)) });
      return () => {};
    }
    let granted = false;
    let giveUp: NodeJS.Timeout | undefined;
    const settled = (): void => {
      granted = true;
      clearTimeout(giveUp);
    };
    const entry: QueueEntry = {
      host: request.host,
      begin: (release) => {
        settled();
        this.#begun++;
        request.onPermit({ kind: 'go', egress: queue.egress, release });
      },
      refuse: (retryAfter) => {
        settled();
        this.#blocked++;
        request.onPermit({ kind: 'blocked', retryAfter });
      },
    };
    queue.enqueue(entry);
    // Most get a permit at once and need no timer.
    if (granted) return () => {};
    giveUp = setTimeout(() => {
      if (!queue.dequeue(entry)) return;
      this.#late++;
      request.onPermit({ kind: 'late', retryAfter: Math.max(1, Math.ceil(queue.waitMs(clock.elapsed()) / 1000)) });
    }, request.deadline - now);
    return () => {
      settled();
      queue.dequeue(entry);
    };
  }

  /** 421 or 4.7.x: the operator asks us to slow down. */
  slowDown(operator: string, egress: string | null): void {
    this.#queue(operator, egress).slowDown();
  }

  /** The operator rejects our IP address: opens the breaker and rejects all waiting requests. */
  refused(operator: string, egress: string | null): void {
    this.#queue(operator, egress).openBreaker();
  }

  /** The operator accepts us: closes the breaker. */
  answered(operator: string, egress: string | null): void {
    this.#queues.get(keyOf(operator, egress))?.closeBreaker();
  }

  stats(): ThrottleStats {
    const now = this.#options.clock.elapsed();
    let waiting = 0;
    let breakersOpen = 0;
    for (const queue of this.#queues.values()) {
      waiting += queue.waiting;
      if (queue.blockedFor(now) > 0) breakersOpen++;
    }
    const [open, begun, blocked, late] = [this.#open, this.#begun, this.#blocked, this.#late];
    return { open, waiting, operators: this.#queues.size, breakersOpen, begun, blocked, late };
  }

  /** Round robin over egress addresses whose breaker is closed; if all are open, the one that closes first. */
  #choose(operator: string, family: 4 | 6): OperatorQueue {
    const now = this.#options.clock.elapsed();
    const egress = this.egressOf(family);
    const first = this.#nextEgress++;
    let best: OperatorQueue | null = null;
    for (let i = 0; i < egress.length; i++) {
      const queue = this.#queue(operator, egress[(first + i) % egress.length] ?? null);
      if (queue.blockedFor(now) === 0) return queue;
      if (best === null || queue.blockedFor(now) < best.blockedFor(now)) best = queue;
    }
    return best ?? this.#queue(operator, null);
  }

  #queue(operator: string, egress: string | null): OperatorQueue {
    const key = keyOf(operator, egress);
    const known = this.#queues.get(key);
    if (known !== undefined) return known;
    if (this.#queues.size >= this.#sweepAt) this.#sweep();
    const { clock, connectionsPerHost, ratePerOperator: rate, breakerSeconds } = this.#options;
    const queue = new OperatorQueue({ egress, clock, connectionsPerHost, rate, breakerSeconds, slots: this.#slots });
    this.#queues.set(key, queue);
    return queue;
  }

  readonly #slots = {
    take: (queue: OperatorQueue): boolean => {
      if (this.#open >= this.#options.dialogues) {
        this.#waitingForSlot.add(queue);
        return false;
      }
      this.#waitingForSlot.delete(queue);
      this.#open++;
      return true;
    },
    giveBack: (): void => {
      this.#open--;
      for (const queue of this.#waitingForSlot) {
        if (this.#open >= this.#options.dialogues) return;
        this.#waitingForSlot.delete(queue);
        queue.drain();
      }
    },
  };

  #sweep(): void {
    for (const [key, queue] of this.#queues) if (queue.isPristine()) this.#queues.delete(key);
    this.#sweepAt = Math.max(SWEEP_AT, this.#queues.size * 2);
  }
}

const keyOf = (operator: string, egress: string | null): string => `${operator}\n${egress ?? ''}`;
