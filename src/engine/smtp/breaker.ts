import type { Clock } from '../../kernel/clock.ts';
import { SMTP_LIMITS } from './limits.ts';
import { CANARIES } from './tenants.ts';

/** Of an open breaker: after its time it is half-open, with one trial dialogue at a time. */
export interface Trial {
  isTrying: boolean;
}

/** So many accounts have to be rejected, each for itself, before a breaker is open for all. */
const ACCOUNTS_FOR_ALL = 2;
/** Accounts whose rejections by domain are remembered. */
const ACCOUNTS_MAX = 1_000;

/**
 * The circuit breaker of an operator or an address: no dialogues for a while after our IP address was rejected. It
 * opens for the account whose recipient was rejected, because one account can make such a reply: by a rule for its own
 * domains, or on a server that it rents under the operator's name. It is open for all once it is for two accounts.
 */
export class Breaker {
  readonly #clock: Clock;
  readonly #ms: number;
  /** By account, until when it is open (`Clock.elapsed()` ms); the latest two, the older one first. */
  readonly #openUntil = new Map<string, number>();
  #trial: Trial = { isTrying: false };
  #answeredAt = Number.NEGATIVE_INFINITY;
  /** By account: domains of recipients that were rejected since, because of our IP address. */
  readonly #refusedFor = new Map<string, Set<string>>();

  /** `seconds`: for how long it opens; 0 = never. */
  constructor(clock: Clock, seconds: number) {
    this.#clock = clock;
    this.#ms = seconds * 1000;
  }

  state(now: number): 'closed' | 'open' | 'half_open' {
    if (this.#openUntil.size === 0) return 'closed';
    for (const until of this.#openUntil.values()) if (until > now) return 'open';
    return 'half_open';
  }

  /** Until when it is open for an account; null: it is closed. */
  #untilFor(account: string): number | null {
    if (this.#openUntil.size === 0 || account === CANARIES) return null;
    const own = this.#openUntil.get(account) ?? null;
    if (this.#openUntil.size < ACCOUNTS_FOR_ALL) return own;
    // For all only as long as for each of them.
    return Math.max(own ?? 0, Math.min(...this.#openUntil.values()));
  }

  /** Seconds until it lets a dialogue of the account through; 0 while it is closed. */
  blockedFor(now: number, account: string): number {
    const until = this.#untilFor(account);
    return until === null ? 0 : Math.max(0, Math.ceil((until - now) / 1000));
  }

  admits(now: number, account: string): boolean {
    const until = this.#untilFor(account);
    return until === null || (!this.#trial.isTrying && until <= now);
  }

  /** A dialogue of the account begins. Returns the trial if it is one. */
  take(account: string): Trial | null {
    if (this.#untilFor(account) === null) return null;
    this.#trial.isTrying = true;
    return this.#trial;
  }

  /**
   * Our IP address was rejected. `domain`: of the recipient that was; null: before a recipient was named. True if the
   * breaker opened for the account. A domain may have rules of its own, so several have to say the same, with no answer
   * in between.
   */
  refused(domain: string | null, account: string): boolean {
    if (this.#ms === 0) return false;
    if (domain !== null && this.#noteDomain(domain, account) < SMTP_LIMITS.breakerDomains) return false;
    this.#refusedFor.delete(account);
    const now = this.#clock.elapsed();
    this.#openUntil.delete(account);
    for (const [other, until] of this.#openUntil)
      if (until < now - this.#ms || this.#openUntil.size >= ACCOUNTS_FOR_ALL) this.#openUntil.delete(other);
    this.#openUntil.set(account, now + this.#ms);
    this.#trial = { isTrying: false };
    return true;
  }

  /** How many domains of the account were rejected. */
  #noteDomain(domain: string, account: string): number {
    const domains = this.#refusedFor.get(account) ?? new Set();
    this.#refusedFor.set(account, domains.add(domain));
    if (this.#refusedFor.size > ACCOUNTS_MAX)
      for (const oldest of this.#refusedFor.keys()) {
        this.#refusedFor.delete(oldest);
        break;
      }
    return domains.size;
  }

  /**
   * The same for an address: unless a dialogue was answered there recently. The server may have rules for each of its
   * names, so one name's rejection is believed only if no other name knows better; a second one in a row is believed.
   */
  refusedAtAddress(domain: string | null, account: string): boolean {
    if (domain !== null) return this.refused(domain, account);
    const doubted = this.#clock.elapsed() - this.#answeredAt < this.#ms;
    this.#answeredAt = Number.NEGATIVE_INFINITY;
    return !doubted && this.refused(null, account);
  }

  /** A dialogue was answered: we are accepted. True if that closed it. */
  answered(): boolean {
    this.#answeredAt = this.#clock.elapsed();
    if (this.#refusedFor.size > 0) this.#refusedFor.clear();
    const wasOpen = this.#openUntil.size > 0;
    if (wasOpen) this.#openUntil.clear();
    return wasOpen;
  }
}
