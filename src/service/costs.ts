/** Places and turns of accounts, by the table of costs. Kept per process. */
import type { Clock } from '../kernel/clock.ts';
import {
  type BodyCostName,
  COSTS,
  PLACE_GRACE_SECONDS,
  PLACE_RETRY_SECONDS,
  type ReaderCostName,
} from '../kernel/costs.ts';
import { ApiError } from '../kernel/errors.ts';
import { FairQueue, type HeldPlace, Places } from '../kernel/fair-queue.ts';
import { ownerOf } from '../store/test-account.ts';

type HeldCostName = BodyCostName | ReaderCostName;

const NAMES: Readonly<Record<HeldCostName, string>> = {
  list_upload: 'uploads',
  list_download: 'downloads of results',
  export: 'exports',
};
/** An upload that is refused has not been read; a reader is one request too many. */
const REFUSED = { body: 'overloaded', reader: 'rate_limit_exceeded' } as const;

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
  readonly #queries = new FairQueue(COSTS.query.atOnce, COSTS.query.waiting);

  constructor(clock: Pick<Clock, 'elapsed'>) {
    const placesOf = (name: HeldCostName) => {
      const { perAccount, atOnce } = COSTS[name];
      return new Places(perAccount, atOnce, PLACE_GRACE_SECONDS * 1000, () => clock.elapsed());
    };
    this.#places = {
      list_upload: placesOf('list_upload'),
      list_download: placesOf('list_download'),
      export: placesOf('export'),
    };
  }

  /** Throws ApiError `overloaded` for a body and `rate_limit_exceeded` for a reader where no place is left. */
  hold(cost: HeldCostName, account: string): HeldPlace {
    const place = this.#places[cost].take(ownerOf(account));
    if (typeof place !== 'string') return place;
    const whose = place === 'party' ? 'This account' : 'The service';
    throw new ApiError(REFUSED[COSTS[cost].kind], `${whose} has too many ${NAMES[cost]} under way.`, {
      retry_after: PLACE_RETRY_SECONDS,
    });
  }

  /** Does `work` in the turn of the account. Throws ApiError `rate_limit_exceeded` where too many of it wait. */
  async query<T>(account: string, work: () => Promise<T>): Promise<T> {
    const leave = await this.#queries.enter(ownerOf(account), '', true);
    if (leave === null) {
      const message = 'Too many searches, charts and downloads of this account are under way.';
      throw new ApiError('rate_limit_exceeded', message, { retry_after: 1 });
    }
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Holds a place until the reading has ended; each piece is made in the turn of the account. Throws as `hold`. */
  read<T>(cost: ReaderCostName, account: string, pieces: AsyncGenerator<T, void, undefined>): PacedReading<T> {
    return new PacedReading(cost, this.hold(cost, account), this.#inTurns(account, pieces));
  }

  async *#inTurns<T>(account: string, pieces: AsyncGenerator<T, void, undefined>): AsyncGenerator<T, void, undefined> {
    try {
      for (;;) {
        const leave = await this.#queries.enter(ownerOf(account));
        const step = await pieces.next().finally(leave);
        if (step.done) return;
        yield step.value;
      }
    } finally {
      await pieces.return();
    }
  }
}
