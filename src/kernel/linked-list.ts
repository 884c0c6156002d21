/** A member's place in a list. Opaque: only the list changes it. */
export interface Place<T> {
  readonly value: T;
  before: Place<T> | null;
  after: Place<T> | null;
  isTaken: boolean;
}

/**
 * A list with removal from anywhere in constant time, for what comes and goes with every request: in a Set or Map, such
 * members would stay in memory until a full collection (docs/architecture.md#what-v8-does).
 */
export class LinkedList<T> implements Iterable<Place<T>> {
  #first: Place<T> | null = null;
  #last: Place<T> | null = null;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): Place<T> | null {
    return this.#first;
  }

  /** Appends it. The place is needed to remove it. */
  add(value: T): Place<T> {
    const place: Place<T> = { value, before: this.#last, after: null, isTaken: true };
    if (this.#last === null) this.#first = place;
    else this.#last.after = place;
    this.#last = place;
    this.#size++;
    return place;
  }

  /** `place`: one of this list. False if it was removed before. */
  remove(place: Place<T>): boolean {
    const { before, after, isTaken } = place;
    if (!isTaken) return false;
    if (before === null) this.#first = after;
    else before.after = after;
    if (after === null) this.#last = before;
    else after.before = before;
    // Else the place would retain its neighbors.
    place.before = null;
    place.after = null;
    place.isTaken = false;
    this.#size--;
    return true;
  }

  /**
   * Places are in order of arrival. Meanwhile only the current one may be removed: for anything else, copy the list
   * first.
   */
  *[Symbol.iterator](): Generator<Place<T>> {
    for (let place = this.#first; place !== null; ) {
      const current = place;
      place = current.after;
      yield current;
    }
  }
}
