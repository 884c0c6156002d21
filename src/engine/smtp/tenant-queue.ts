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
  readonly #entries = new Set<QueueEntry>();

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

  add(entry: QueueEntry): void {
    this.#entries.add(entry);
    for (const limiter of this.#limiters) limiter.onEnqueued(this);
  }

  /** False if the entry has left the queue already. */
  remove(entry: QueueEntry): boolean {
    if (!this.#entries.delete(entry)) return false;
    for (const limiter of this.#limiters) limiter.onDequeued(this);
    if (this.isEmpty) this.#onEmpty();
    return true;
  }

  refuse(by: Limiter, seconds: number, domain?: string): void {
    for (const entry of [...this.#entries])
      if ((domain ?? entry.domain) === entry.domain && this.remove(entry)) entry.refuse(by, seconds);
  }

  serve(): void {
    const [entry] = this.#entries;
    if (entry === undefined) return;
    this.remove(entry);
    for (const limiter of this.#limiters) limiter.onServed(this);
    entry.begin();
  }
}
