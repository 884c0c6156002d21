/**
 * How hard a mail operator is asked: dialogues at once per mail host, dialogues begun per second per operator, both per
 * egress address, and a breaker for operators that refuse our IP. Who waits here waits only for its own operator.
 */
import { isIP } from 'node:net';
import type { Clock } from '../../kernel/clock.ts';
import { Lane, type Place } from './lane.ts';

export interface PaceOptions {
  readonly clock: Clock;
  /** MAILVET_SMTP_CONNECTIONS_PER_HOST: dialogues open at once to one mail host, from one egress address. */
  readonly connectionsPerHost: number;
  /** MAILVET_SMTP_RATE_PER_OPERATOR: dialogues begun per second; 0 = no bound. */
  readonly ratePerOperator: number;
  /** MAILVET_SMTP_BREAKER_SECONDS; 0 = never opens. */
  readonly breakerSeconds: number;
  /** MAILVET_SMTP_BIND: local addresses to ask from, in turn; none: the system's choice. */
  readonly egress: readonly string[];
  /** Dialogues open at once in this process. */
  readonly dialogues: number;
}

export type Turn =
  | { readonly kind: 'go'; readonly egress: string | null; readonly release: () => void }
  /** The operator refuses our IP: not dialled. `retryAfter`: seconds. */
  | { readonly kind: 'blocked'; readonly retryAfter: number }
  /** The turn would come, or came, after the deadline. */
  | { readonly kind: 'late'; readonly retryAfter: number };

export interface PaceRequest {
  readonly operator: string;
  readonly host: string;
  readonly family: 4 | 6;
  /** `Clock.elapsed()` ms. */
  readonly deadline: number;
  /** A session that is open already may serve this one first, so that its turn cannot be foretold. */
  readonly mayShare: boolean;
  /** Called at most once, perhaps before `enter` returns. */
  readonly onTurn: (turn: Turn) => void;
}

export interface PaceStats {
  readonly open: number;
  readonly waiting: number;
  readonly operators: number;
  readonly breakersOpen: number;
  readonly begun: number;
  readonly blocked: number;
  readonly late: number;
}

/** Lanes that are as good as new are forgotten when there are this many. */
const SWEEP_AT = 4096;

export class Pace {
  readonly #options: PaceOptions;
  readonly #lanes = new Map<string, Lane>();
  /** Lanes that wait for the bound of the whole process, in turn. */
  readonly #starved = new Set<Lane>();
  #sweepAt = SWEEP_AT;
  #nextEgress = 0;
  #open = 0;
  #begun = 0;
  #blocked = 0;
  #late = 0;

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  /** Local addresses of a family; `[null]` when the system chooses; empty when that family cannot be asked from. */
  egressOf(family: 4 | 6): readonly (string | null)[] {
    const { egress } = this.#options;
    return egress.length === 0 ? [null] : egress.filter((ip) => isIP(ip) === family);
  }

  /** Queues for a dialogue. The function returned takes the request back; it does nothing once the turn has come. */
  enter(request: PaceRequest): () => void {
    const { clock } = this.#options;
    const lane = this.#choose(request.operator, request.family);
    const now = clock.elapsed();
    const blocked = lane.blockedFor(now);
    if (blocked > 0) {
      this.#blocked++;
      request.onTurn({ kind: 'blocked', retryAfter: blocked });
      return () => {};
    }
    const wait = request.mayShare ? 0 : lane.waitMs(now);
    if (now + wait >= request.deadline) {
      this.#late++;
      request.onTurn({ kind: 'late', retryAfter: Math.max(1, Math.ceil(wait / 1000)) });
      return () => {};
    }
    let turned = false;
    let giveUp: NodeJS.Timeout | undefined;
    const settled = (): void => {
      turned = true;
      clearTimeout(giveUp);
    };
    const place: Place = {
      host: request.host,
      begin: (release) => {
        settled();
        this.#begun++;
        request.onTurn({ kind: 'go', egress: lane.egress, release });
      },
      refuse: (retryAfter) => {
        settled();
        this.#blocked++;
        request.onTurn({ kind: 'blocked', retryAfter });
      },
    };
    lane.join(place);
    // Most have their turn at once, and need no timer.
    if (turned) return () => {};
    giveUp = setTimeout(() => {
      if (!lane.leave(place)) return;
      this.#late++;
      request.onTurn({ kind: 'late', retryAfter: Math.max(1, Math.ceil(lane.waitMs(clock.elapsed()) / 1000)) });
    }, request.deadline - now);
    return () => {
      settled();
      lane.leave(place);
    };
  }

  /** 421 or 4.7.x: they find us too fast. */
  slowDown(operator: string, egress: string | null): void {
    this.#lane(operator, egress).slowDown();
  }

  /** They refuse our IP: opens the breaker, and whoever waits there is told at once. */
  refused(operator: string, egress: string | null): void {
    this.#lane(operator, egress).refuse();
  }

  /** They talk to us: closes the breaker. */
  answered(operator: string, egress: string | null): void {
    this.#lanes.get(keyOf(operator, egress))?.recover();
  }

  stats(): PaceStats {
    const now = this.#options.clock.elapsed();
    let waiting = 0;
    let breakersOpen = 0;
    for (const lane of this.#lanes.values()) {
      waiting += lane.waiting;
      if (lane.blockedFor(now) > 0) breakersOpen++;
    }
    const [open, begun, blocked, late] = [this.#open, this.#begun, this.#blocked, this.#late];
    return { open, waiting, operators: this.#lanes.size, breakersOpen, begun, blocked, late };
  }

  /** The next egress address in turn whose breaker is closed; if all are open, the one that closes first. */
  #choose(operator: string, family: 4 | 6): Lane {
    const now = this.#options.clock.elapsed();
    const egress = this.egressOf(family);
    const first = this.#nextEgress++;
    let best: Lane | null = null;
    for (let i = 0; i < egress.length; i++) {
      const lane = this.#lane(operator, egress[(first + i) % egress.length]!);
      if (lane.blockedFor(now) === 0) return lane;
      if (best === null || lane.blockedFor(now) < best.blockedFor(now)) best = lane;
    }
    return best ?? this.#lane(operator, null);
  }

  #lane(operator: string, egress: string | null): Lane {
    const key = keyOf(operator, egress);
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    if (this.#lanes.size >= this.#sweepAt) this.#sweep();
    const { clock, connectionsPerHost, ratePerOperator: rate, breakerSeconds } = this.#options;
    const lane = new Lane({ egress, clock, connectionsPerHost, rate, breakerSeconds, slots: this.#slots });
    this.#lanes.set(key, lane);
    return lane;
  }

  readonly #slots = {
    take: (lane: Lane): boolean => {
      if (this.#open >= this.#options.dialogues) {
        this.#starved.add(lane);
        return false;
      }
      this.#starved.delete(lane);
      this.#open++;
      return true;
    },
    giveBack: (): void => {
      this.#open--;
      for (const lane of this.#starved) {
        if (this.#open >= this.#options.dialogues) return;
        this.#starved.delete(lane);
        lane.pump();
      }
    },
  };

  #sweep(): void {
    for (const [key, lane] of this.#lanes) if (lane.likeNew()) this.#lanes.delete(key);
    this.#sweepAt = Math.max(SWEEP_AT, this.#lanes.size * 2);
  }
}

const keyOf = (operator: string, egress: string | null): string => `${operator}\n${egress ?? ''}`;
