import { LRUCache } from 'lru-cache';
import type { Clock } from '../../kernel/clock.ts';

const HOUR_MS = 3_600_000;
/** A catch-all stays one for long; a domain that refuses strangers may become one any day. */
const KEPT_MS = { fail: 24 * HOUR_MS, pass: 6 * HOUR_MS } as const;
const MOST_DOMAINS = 50_000;
/** How long a greylisting server remembers whom it told to come back; most do for hours. */
const GREYLISTED_MS = HOUR_MS;

/** Whether a domain accepts any mailbox, remembered per domain and operator; what is unknown is not remembered. */
export class CatchAllCache {
  readonly #options: { readonly max: number; readonly perf: { now(): number }; readonly ttlResolution: number };
  // Both are made for the first answer: they take their room at once, which every start would wait for.
  #cache: LRUCache<string, 'pass' | 'fail'> | null = null;
  /** Random local parts that were greylisted: a new one at each try would be greylisted anew, for ever. */
  #greylisted: LRUCache<string, string> | null = null;

  constructor(clock: Clock, max = MOST_DOMAINS) {
    this.#options = { max, perf: { now: () => clock.elapsed() }, ttlResolution: 1 };
  }

  get(domain: string, operator: string): 'pass' | 'fail' | null {
    return this.#cache?.get(`${domain}\n${operator}`) ?? null;
  }

  /** The local part that the domain's server was asked about and told to ask again; null for none. */
  greylistedProbe(domain: string, operator: string): string | null {
    return this.#greylisted?.get(`${domain}\n${operator}`) ?? null;
  }

  noteGreylisted(domain: string, operator: string, localPart: string): void {
    this.#greylisted ??= new LRUCache({ ...this.#options, ttl: GREYLISTED_MS });
    this.#greylisted.set(`${domain}\n${operator}`, localPart);
  }

  set(domain: string, operator: string, result: 'pass' | 'fail'): void {
    this.#cache ??= new LRUCache(this.#options);
    this.#cache.set(`${domain}\n${operator}`, result, { ttl: KEPT_MS[result] });
  }
}
