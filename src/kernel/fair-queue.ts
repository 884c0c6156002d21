/**
 * Whose turn it is, and who holds a place, where parties share what is scarce: accounts, or networks. Nothing here
 * waits for a clock or a socket.
 */

interface Group {
  open: number;
  readonly parts: Map<string, { open: number; readonly waiting: (() => void)[] }>;
}

/**
 * Bounds what parties do at once in this process. Parties take turns, and so do the parts of one. None gets more than a
 * share of the places, so that whoever comes later finds one free, even beside places that are slow to become free.
 */
export class FairQueue {
  readonly #places: number;
  readonly #waitingMax: number;
  #open = 0;
  #waiting = 0;
  /** Parties take turns in this order. */
  readonly #parties = new Map<string, Group>();

  /** `waitingMax`: how many of one part may wait; further ones are not taken. */
  constructor(places: number, waitingMax = Number.POSITIVE_INFINITY) {
    this.#places = places;
    this.#waitingMax = waitingMax;
  }

  /** Who has a place or waits for one. */
  get size(): number {
    return this.#open + this.#waiting;
  }

  /** Waits for a place; the returned function gives it back. Null: too many of this part wait. */
  enter(party: string, part?: string): Promise<() => void>;
  enter(party: string, part: string, bounded: true): Promise<(() => void) | null>;
  async enter(party: string, part = '', bounded = false): Promise<(() => void) | null> {
    const group = this.#parties.get(party) ?? { open: 0, parts: new Map() };
    const line = group.parts.get(part) ?? { open: 0, waiting: [] };
    if (bounded && line.waiting.length >= this.#waitingMax) return null;
    this.#parties.set(party, group);
    group.parts.set(part, line);
    this.#waiting++;
    await new Promise<void>((begin) => {
      line.waiting.push(begin);
      this.#serve();
    });
    return () => {
      this.#open--;
      group.open--;
      line.open--;
      if (line.open === 0 && line.waiting.length === 0) group.parts.delete(part);
      if (group.parts.size === 0) this.#parties.delete(party);
      this.#serve();
    };
  }

  #serve(): void {
    while (this.#open < this.#places && this.#serveOne());
  }

  #serveOne(): boolean {
    const share = Math.ceil(this.#places / (this.#parties.size + 1));
    for (const [party, group] of this.#parties) {
      if (group.open >= share) continue;
      const most = Math.ceil(share / group.parts.size);
      for (const [part, line] of group.parts) {
        const begin = line.open < most ? line.waiting.shift() : undefined;
        if (begin === undefined) continue;
        this.#waiting--;
        this.#open++;
        group.open++;
        line.open++;
        toEnd(this.#parties, party, group);
        toEnd(group.parts, part, line);
        begin();
        return true;
      }
    }
    return false;
  }
}

/** Moves a member to the end, except the only one (docs/architecture.md#what-v8-does). */
function toEnd<T>(rotation: Map<string, T>, key: string, member: T): void {
  if (rotation.size === 1) return;
  rotation.delete(key);
  rotation.set(key, member);
}

/** A place that is held for as long as somebody sends or takes. */
export interface HeldPlace {
  /** Counts what the client sent or took, in bytes. */
  moved(bytes: number): void;
  /** From now on it is we who work: the place is not given to somebody else. */
  keep(): void;
  /** `end` is called when another party gets the place. */
  onLost(end: () => void): void;
  /** Can be called again. */
  release(): void;
}

interface Holding {
  readonly party: string;
  readonly since: number;
  bytes: number;
  kept: boolean;
  lose: (() => void) | null;
}

interface PlaceBounds {
  readonly perParty: number;
  readonly all: number;
  /** Besides those, so many are for parties that have none. */
  readonly forFirst: number;
  /** How many parties may wait in line. */
  readonly line: number;
  /** Nobody loses a place before. */
  readonly graceMs: number;
}

/**
 * Bounds what parties hold at once in this process. Who comes when all places are taken, and has none, gets the slowest
 * of those that the greediest parties hold: nobody keeps others out by holding. Where none can be taken away, parties
 * without one wait in line.
 */
export class Places {
  readonly #bounds: PlaceBounds;
  readonly #elapsed: () => number;
  readonly #held = new Map<string, Set<Holding>>();
  /** Parties without a place wait here, the one that came first in front. */
  readonly #line = new Set<string>();
  #count = 0;

  /** `elapsed` is a monotonic clock in ms. */
  constructor(bounds: PlaceBounds, elapsed: () => number) {
    this.#bounds = bounds;
    this.#elapsed = elapsed;
  }

  /**
   * A place, or why there is none: the party has all that it may, or all are taken. `wait`: it is in line from now on,
   * is to ask again, and to `leave` when it gives up.
   */
  take(party: string): HeldPlace | 'party' | 'all' | 'wait' {
    const { perParty, all, forFirst } = this.#bounds;
    const own = this.#held.get(party)?.size ?? 0;
    if (own >= perParty) return 'party';
    const [next = party] = this.#line;
    const isFree = this.#count < (own === 0 ? all + forFirst : all);
    if (next !== party || !isFree) {
      if (own > 0) return 'all';
      const slowest = next === party ? this.#slowest() : null;
      if (slowest === null) return this.#wait(party);
      this.#release(slowest);
      slowest.lose?.();
    }
    this.#line.delete(party);
    const holding: Holding = { party, since: this.#elapsed(), bytes: 0, kept: false, lose: null };
    const mine = this.#held.get(party) ?? new Set();
    this.#held.set(party, mine.add(holding));
    this.#count += 1;
    return {
      moved(bytes) {
        holding.bytes += bytes;
      },
      keep() {
        holding.kept = true;
      },
      onLost(end) {
        holding.lose = end;
      },
      release: () => this.#release(holding),
    };
  }

  /** The party does not wait any longer. */
  leave(party: string): void {
    this.#line.delete(party);
  }

  #wait(party: string): 'wait' | 'all' {
    if (!this.#line.has(party) && this.#line.size >= this.#bounds.line) return 'all';
    this.#line.add(party);
    return 'wait';
  }

  #release(holding: Holding): void {
    const mine = this.#held.get(holding.party);
    if (mine?.delete(holding) !== true) return;
    if (mine.size === 0) this.#held.delete(holding.party);
    this.#count -= 1;
  }

  /** Returns the slowest of the parties with the most places; null if all are new, or ours to finish. */
  #slowest(): Holding | null {
    const now = this.#elapsed();
    const canLose = ({ since, kept, lose }: Holding) => !kept && lose !== null && now - since >= this.#bounds.graceMs;
    const paceOf = ({ since, bytes }: Holding) => bytes / Math.max(1, now - since);
    const worse = (one: Holding, other: Holding | null) =>
      other === null ||
      this.#sizeOf(one) > this.#sizeOf(other) ||
      (this.#sizeOf(one) === this.#sizeOf(other) && paceOf(one) < paceOf(other));
    let found: Holding | null = null;
    for (const mine of this.#held.values())
      for (const holding of mine) if (canLose(holding) && worse(holding, found)) found = holding;
    return found;
  }

  #sizeOf({ party }: Holding): number {
    return this.#held.get(party)?.size ?? 0;
  }
}
