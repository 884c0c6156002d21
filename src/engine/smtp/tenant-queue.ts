import { LinkedList, type Place } from '../../kernel/linked-list.ts';
import type { Limiter } from './limiter.ts';

/** A request for a dialogue. */
export interface QueueEntry {
  /** Of the recipient. */
  readonly domain: string;
  readonly begin: () => void;
  /** A breaker has opened. `seconds`: until it lets a dialogue through. */
  readonly refuse: (by: Limiter, seconds: number) => void;
}

/** Waiting requests of one tenant for one address of one mail host: all of them need the same limiters. */
export class TenantQueue {
  readonly tenant: string;
  readonly #limiters: readonly Limiter[];
  /** The limiter of the address. */
  readonly #address: Limiter;
  readonly #onEmpty: () => void;
  readonly #entries = new LinkedList<QueueEntry>();

  constructor(tenant: string, limiters: readonly Limiter[], address: Limiter, onEmpty: () => void) {
    this.tenant = tenant;
    this.#limiters = limiters;
    this.#address = address;
    this.#onEmpty = onEmpty;
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** The tenant's dialogues with this address. */
  get open(): number {
    return this.#address.openOf(this.tenant);
  }

  isReady(now: number): boolean {
    return this.#limiters.every((limiter) => limiter.admits(now, this.tenant, this));
  }

  /** Returns its place, by which it is removed. */
  add(entry: QueueEntry): Place<QueueEntry> {
    for (const limiter of this.#limiters) limiter.onEnqueued(this);
    return this.#entries.add(entry);
  }

  /** False if the entry has left the queue already. */
  remove(place: Place<QueueEntry>): boolean {
    if (!this.#entries.remove(place)) return false;
    for (const limiter of this.#limiters) limiter.onDequeued(this);
    if (this.isEmpty) this.#onEmpty();
    return true;
  }

  refuse(by: Limiter, seconds: number, domain?: string): void {
    for (const place of [...this.#entries]) {
      const entry = place.value;
      if ((domain ?? entry.domain) === entry.domain && this.remove(place)) entry.refuse(by, seconds);
    }
  }

  serve(): void {
    const { first } = this.#entries;
    if (first === null) return;
    this.remove(first);
    for (const limiter of this.#limiters) limiter.onServed(this);
    first.value.begin();
  }
}
