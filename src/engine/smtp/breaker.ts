import type { Clock } from '../../kernel/clock.ts';
import { SMTP_LIMITS } from './limits.ts';

/** After `until` (`Clock.elapsed()` ms) it is half-open: one trial dialogue at a time. */
export interface OpenBreaker {
  readonly until: number;
  isTrying: boolean;
}

/** The circuit breaker of an operator or an address: no dialogues for a while after our IP address was rejected. */
export class Breaker {
  readonly #clock: Clock;
  readonly #ms: number;
  #open: OpenBreaker | null = null;
  #answeredAt = Number.NEGATIVE_INFINITY;
  /** Domains of recipients that were rejected since, because of our IP address. */
  #refusedFor = new Set<string>();

  /** `seconds`: for how long it opens; 0 = never. */
  constructor(clock: Clock, seconds: number) {
    this.#clock = clock;
    this.#ms = seconds * 1000;
  }

  state(now: number): 'closed' | 'open' | 'half_open' {
    if (this.#open === null) return 'closed';
    return this.#open.until > now ? 'open' : 'half_open';
  }

  /** Seconds until it lets a dialogue through; 0 while it is closed. */
  blockedFor(now: number): number {
    return this.#open === null ? 0 : Math.max(0, Math.ceil((this.#open.until - now) / 1000));
  }

  admits(now: number): boolean {
    return this.#open === null || (!this.#open.isTrying && this.#open.until <= now);
  }

  /** A dialogue begins. Returns the open breaker whose trial it is. */
  take(): OpenBreaker | null {
    if (this.#open !== null) this.#open.isTrying = true;
    return this.#open;
  }

  /**
   * Our IP address was rejected. `domain`: of the recipient that was; null: before a recipient was named. True if the
   * breaker opened. A domain may have rules of its own, so several have to say the same, with no answer in between.
   */
  refused(domain: string | null): boolean {
    if (this.#ms === 0) return false;
    if (domain !== null && this.#refusedFor.add(domain).size < SMTP_LIMITS.breakerDomains) return false;
    this.#refusedFor.clear();
    this.#open = { until: this.#clock.elapsed() + this.#ms, isTrying: false };
    return true;
  }

  /**
   * The same for an address: unless a dialogue was answered there recently. The server may have rules for each of its
   * names, so one name's rejection is believed only if no other name knows better; a second one in a row is believed.
   */
  refusedAtAddress(domain: string | null): boolean {
    if (domain !== null) return this.refused(domain);
    const doubted = this.#clock.elapsed() - this.#answeredAt < this.#ms;
    this.#answeredAt = Number.NEGATIVE_INFINITY;
    return !doubted && this.refused(null);
  }

  /** A dialogue was answered: we are accepted. True if that closed it. */
  answered(): boolean {
    this.#answeredAt = this.#clock.elapsed();
    if (this.#refusedFor.size > 0) this.#refusedFor.clear();
    const wasOpen = this.#open !== null;
    this.#open = null;
    return wasOpen;
  }
}
