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
  readonly #cache: LRUCache<string, 'pass' | 'fail'>;
  /** Random local parts that were greylisted: a new one at each try would be greylisted anew, for ever. */
  readonly #greylisted: LRUCache<string, string>;

  constructor(clock: Clock, max = MOST_DOMAINS) {
    const perf = { now: () => clock.elapsed() };
    this.#cache = new LRUCache({ max, perf, ttlResolution: 1 });
    this.#greylisted = new LRUCache({ max, perf, ttlResolution: 1, ttl: GREYLISTED_MS });
  }

  get(domain: string, operator: string): 'pass' | 'fail' | null {
    return this.#cache.get(`${domain}\n${operator}`) ?? null;
  }

  /** The local part that the domain's server was asked about and told to ask again; null for none. */
  greylistedProbe(domain: string, operator: string): string | null {
    return this.#greylisted.get(`${domain}\n${operator}`) ?? null;
  }

  noteGreylisted(domain: string, operator: string, localPart: string): void {
    this.#greylisted.set(`${domain}\n${operator}`, localPart);
  }

  set(domain: string, operator: string, result: 'pass' | 'fail'): void {
    this.#cache.set(`${domain}\n${operator}`, result, { ttl: KEPT_MS[result] });
  }
}
