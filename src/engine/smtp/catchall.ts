import { LRUCache } from 'lru-cache';
import { type Clock, HOUR_MS } from '../../kernel/clock.ts';
import type { CatchAllEvidence } from '../evidence.ts';

/** A catch-all domain rarely changes; another domain may become a catch-all any day. */
const KEPT_MS = { fail: 24 * HOUR_MS, pass: 6 * HOUR_MS } as const;
const MOST_DOMAINS = 50_000;
/** How long a greylisting server remembers a deferred recipient; most do for hours. */
const GREYLISTED_MS = HOUR_MS;

/** Whether a domain accepts any mailbox, remembered per domain and operator; what is unknown is not remembered. */
export class CatchAllCache {
  readonly #options: { readonly max: number; readonly perf: { now(): number }; readonly ttlResolution: number };
  // Created with the first answer: both allocate their whole capacity, which would slow every start.
  #cache: LRUCache<string, 'pass' | 'fail'> | null = null;
  /** Random local parts that were greylisted: a new one at each retry would be greylisted again, forever. */
  #greylisted: LRUCache<string, string> | null = null;

  /** Domains that are being probed, by tenant: what one waits for may be held up by its own work, of any amount. */
  readonly #underWay = new Map<string, Promise<CatchAllEvidence | null>>();

  constructor(clock: Clock, max = MOST_DOMAINS) {
    this.#options = { max, perf: { now: () => clock.elapsed() }, ttlResolution: 0 };
  }

  get(domain: string, operator: string): 'pass' | 'fail' | null {
    return this.#cache?.get(`${domain}\n${operator}`) ?? null;
  }

  /**
   * The result of the tenant's probe that is under way for a domain, null if it comes to nothing; undefined: there is
   * none.
   */
  underWay(domain: string, operator: string, tenant: string): Promise<CatchAllEvidence | null> | undefined {
    return this.#underWay.get(`${domain}\n${operator}\n${tenant}`);
  }

  /**
   * Others of the tenant wait for the result of this probe. The returned function must be called with it, or with null
   * for none.
   */
  begin(domain: string, operator: string, tenant: string): (evidence: CatchAllEvidence | null) => void {
    const key = `${domain}\n${operator}\n${tenant}`;
    let resolve: (evidence: CatchAllEvidence | null) => void = () => {};
    const promise = new Promise<CatchAllEvidence | null>((settle) => {
      resolve = settle;
    });
    this.#underWay.set(key, promise);
    return (evidence) => {
      if (this.#underWay.get(key) === promise) this.#underWay.delete(key);
      resolve(evidence);
    };
  }

  /** The random local part that this domain's server has greylisted; null for none. */
  greylistedProbe(domain: string, operator: string): string | null {
    return this.#greylisted?.get(`${domain}\n${operator}`) ?? null;
  }

  noteGreylisted(domain: string, operator: string, localPart: string): void {
    this.#greylisted ??= new LRUCache({ ...this.#options, ttl: GREYLISTED_MS });
    this.#greylisted.set(`${domain}\n${operator}`, localPart);
  }

  clear(): void {
    this.#cache?.clear();
    this.#greylisted?.clear();
  }

  set(domain: string, operator: string, result: 'pass' | 'fail'): void {
    this.#cache ??= new LRUCache(this.#options);
    this.#cache.set(`${domain}\n${operator}`, result, { ttl: KEPT_MS[result] });
  }
}
