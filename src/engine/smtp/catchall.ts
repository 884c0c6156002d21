import { LRUCache } from 'lru-cache';
import type { Clock } from '../../kernel/clock.ts';

const HOUR_MS = 3_600_000;
/** A catch-all stays one for long; a domain that refuses strangers may become one any day. */
const KEPT_MS = { fail: 24 * HOUR_MS, pass: 6 * HOUR_MS } as const;
const MOST_DOMAINS = 50_000;

/** Whether a domain accepts any mailbox, remembered per domain and operator; what is unknown is not remembered. */
export class CatchAllCache {
  readonly #cache: LRUCache<string, 'pass' | 'fail'>;

  constructor(clock: Clock, max = MOST_DOMAINS) {
    this.#cache = new LRUCache({ max, perf: { now: () => clock.elapsed() }, ttlResolution: 1 });
  }

  get(domain: string, operator: string): 'pass' | 'fail' | null {
    return this.#cache.get(`${domain}\n${operator}`) ?? null;
  }

  set(domain: string, operator: string, result: 'pass' | 'fail'): void {
    this.#cache.set(`${domain}\n${operator}`, result, { ttl: KEPT_MS[result] });
  }
}
