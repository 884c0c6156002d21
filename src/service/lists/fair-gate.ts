interface Group {
  open: number;
  readonly lists: Map<string, { open: number; readonly waiting: (() => void)[] }>;
}

/**
 * Bounds what lists do at once in this process. Accounts take turns, and so do the lists of an account. None gets more
 * than a part of the places, so that whoever comes later finds one free, even beside lists whose places are slow to
 * become free.
 */
export class FairGate {
  readonly #places: number;
  #open = 0;
  /** By account, in rotation. */
  readonly #accounts = new Map<string, Group>();

  constructor(places: number) {
    this.#places = places;
  }

  /** Waits for a place; the returned function gives it back. */
  async enter(account: string, list: string): Promise<() => void> {
    const group = this.#accounts.get(account) ?? { open: 0, lists: new Map() };
    this.#accounts.set(account, group);
    const line = group.lists.get(list) ?? { open: 0, waiting: [] };
    group.lists.set(list, line);
    await new Promise<void>((begin) => {
      line.waiting.push(begin);
      this.#serve();
    });
    return () => {
      this.#open--;
      group.open--;
      line.open--;
      if (line.open === 0 && line.waiting.length === 0) group.lists.delete(list);
      if (group.lists.size === 0) this.#accounts.delete(account);
      this.#serve();
    };
  }

  #serve(): void {
    while (this.#open < this.#places && this.#serveOne());
  }

  #serveOne(): boolean {
    const share = Math.ceil(this.#places / (this.#accounts.size + 1));
    for (const [account, group] of this.#accounts) {
      if (group.open >= share) continue;
      const most = Math.ceil(share / group.lists.size);
      for (const [list, line] of group.lists) {
        const begin = line.open < most ? line.waiting.shift() : undefined;
        if (begin === undefined) continue;
        this.#open++;
        group.open++;
        line.open++;
        toEnd(this.#accounts, account, group);
        toEnd(group.lists, list, line);
        begin();
        return true;
      }
    }
    return false;
  }
}

/** Of a rotation. V8 makes a new table for the last member of a Map that is taken out and put back. */
function toEnd<T>(rotation: Map<string, T>, key: string, member: T): void {
  if (rotation.size === 1) return;
  rotation.delete(key);
  rotation.set(key, member);
}
