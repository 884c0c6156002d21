/** Accounts get places and turns by the table of costs. They are kept per process. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../kernel/clock.ts';
import { type BodyCostName, COSTS, type ReaderCostName, type TurnCostName } from '../kernel/costs.ts';
import { ApiError } from '../kernel/errors.ts';
import { FairQueue, type HeldPlace, Places } from '../kernel/fair-queue.ts';
import { ownerOf } from '../store/test-account.ts';
import { GiveWay } from './lists/give-way.ts';

/** Whoever has no place waits in line for one for so long, seconds; so many accounts do. */
export const PLACE_WAIT_SECONDS = 20;
const PLACE_LINE = 64;
/** After so many seconds, whoever was refused a place may try again. */
const PLACE_RETRY_SECONDS = 5;
/** Nobody loses a place to another account before, seconds. */
const PLACE_GRACE_SECONDS = 5;

type HeldCostName = BodyCostName | ReaderCostName;

const HELD_COST_NAMES: Readonly<Record<HeldCostName, string>> = {
  list_upload: 'uploads',
  report: 'reports',
  list_download: 'downloads of results',
  export: 'exports',
};
const TURNS: Readonly<Record<TurnCostName, string>> = {
  query: 'searches, charts and downloads',
  mcp_message: 'large messages',
};
/** How often who waits in line asks for a place: one can be taken away as time passes, not only when it is released. */
const PLACE_POLL_MS = 100;
/** An upload that is refused has not been read; a reader is one request too many. */
const REFUSAL_CODES = { body: 'overloaded', reader: 'rate_limit_exceeded' } as const;

/** What an account reads piece by piece, and the place that is held for it. Made by `Costs.read` alone. */
export class PacedReading<T> {
  readonly cost: ReaderCostName;
  readonly place: HeldPlace;
  readonly #pieces: AsyncGenerator<T, void, undefined>;

  constructor(cost: ReaderCostName, place: HeldPlace, pieces: AsyncGenerator<T, void, undefined>) {
    this.cost = cost;
    this.place = place;
    this.#pieces = pieces;
  }

  /** The same, with its pieces made into others. */
  as<U>(make: (pieces: AsyncIterable<T>) => AsyncGenerator<U, void, undefined>): PacedReading<U> {
    return new PacedReading(this.cost, this.place, make(this.#pieces));
  }

  /** To be read once. */
  pieces(): AsyncGenerator<T, void, undefined> {
    return this.#pieces;
  }
}

export class Costs {
  readonly #places: Readonly<Record<HeldCostName, Places>>;
  readonly #turns: Readonly<Record<TurnCostName, FairQueue>> = {
    query: new FairQueue(COSTS.query.atOnce, COSTS.query.waiting),
    mcp_message: new FairQueue(COSTS.mcp_message.atOnce, COSTS.mcp_message.waiting),
  };
  readonly #clock: Clock;
  readonly #way: GiveWay;

  /** `singleCalls`: how many there were so far. What is made piece by piece leaves them the processor. */
  constructor(clock: Clock, singleCalls: () => number = () => 0) {
    this.#clock = clock;
    this.#way = new GiveWay(clock, singleCalls);
    const placesOf = (name: HeldCostName) => {
      const { perAccount: perParty, atOnce: all, forFirst } = COSTS[name];
      const graceMs = PLACE_GRACE_SECONDS * 1000;
      return new Places({ perParty, all, forFirst, line: PLACE_LINE, graceMs }, () => clock.elapsed());
    };
    this.#places = {
      list_upload: placesOf('list_upload'),
      report: placesOf('report'),
      list_download: placesOf('list_download'),
      export: placesOf('export'),
    };
  }

  /**
   * An account that has no place waits for one. Throws ApiError `overloaded` for a body and `rate_limit_exceeded` for a
   * reader where no place is left.
   */
  async hold(cost: HeldCostName, account: string): Promise<HeldPlace> {
    const [places, party] = [this.#places[cost], ownerOf(account)];
    const untilMs = this.#clock.elapsed() + PLACE_WAIT_SECONDS * 1000;
    for (;;) {
      const place = places.take(party);
      if (typeof place !== 'string') return place;
      if (place !== 'wait' || this.#clock.elapsed() >= untilMs) {
        if (place === 'wait') places.leave(party);
        const whose = place === 'party' ? 'This account' : 'The service';
        throw new ApiError(
          REFUSAL_CODES[COSTS[cost].kind],
          `${whose} has too many ${HELD_COST_NAMES[cost]} under way.`,
          {
            retry_after: PLACE_RETRY_SECONDS,
          },
        );
      }
      await sleep(PLACE_POLL_MS);
    }
  }

  /** Does `work` in the turn of the account. Throws as `enter`. */
  async query<T>(account: string, work: () => Promise<T>): Promise<T> {
    const leave = await this.#enter('query', account);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /**
   * Waits for the turn of the account to keep this thread busy; the returned function ends it, and can be called again.
   * Throws ApiError `rate_limit_exceeded` where too many of the account wait.
   */
  async busy(cost: TurnCostName, account: string): Promise<() => void> {
    const leave = await this.#enter(cost, account);
    const began = this.#clock.elapsed();
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      void this.#way.rest(this.#clock.elapsed() - began).then(leave);
    };
  }

  async #enter(cost: TurnCostName, account: string): Promise<() => void> {
    const leave = await this.#turns[cost].enter(ownerOf(account), '', true);
    if (leave !== null) return leave;
    const message = `Too many ${TURNS[cost]} of this account are under way.`;
    throw new ApiError('rate_limit_exceeded', message, { retry_after: 1 });
  }

  /**
   * Holds a place until the reading has ended; each piece is made in the turn of the account, which rests after it as
   * long as single calls come. Throws as `hold`.
   */
  async read<T>(
    cost: ReaderCostName,
    account: string,
    pieces: AsyncGenerator<T, void, undefined>,
  ): Promise<PacedReading<T>> {
    return new PacedReading(cost, await this.hold(cost, account), this.#inTurns(account, pieces));
  }

  async *#inTurns<T>(account: string, pieces: AsyncGenerator<T, void, undefined>): AsyncGenerator<T, void, undefined> {
    try {
      for (;;) {
        const leave = await this.#turns.query.enter(ownerOf(account));
        const began = this.#clock.elapsed();
        const rest = () => void this.#way.rest(this.#clock.elapsed() - began).then(leave);
        const step = await pieces.next().finally(rest);
        if (step.done) return;
        yield step.value;
      }
    } finally {
      await pieces.return();
    }
  }
}
