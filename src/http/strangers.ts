import { LRUCache } from 'lru-cache';
import type { Clock } from '../kernel/clock.ts';
import { Refusal } from '../kernel/errors.ts';
import { networkOf } from '../service/network.ts';

/** Requests refused with 401 that one network may make in a window of five minutes. */
export const STRANGER_LIMIT = 100;
const WINDOW_MS = 300_000;

/**
 * Counts refusals with 401 per caller IP (an IPv6 caller by its /64, the size of one subscriber's network), apart from
 * any account: whoever holds a good key is never touched by what others try from the same address. Kept per process:
 * it protects this process's time, not a right that nodes would have to agree on.
 */
export function createStrangers(clock: Clock): { refuse(ip: string, refusal: Refusal): Refusal } {
  // Made at the first stranger: it takes its room at once.
  let seen: LRUCache<string, { window: number; count: number }> | null = null;
  return {
    refuse(ip, refusal) {
      const now = clock.now();
      const window = Math.floor(now / WINDOW_MS);
      const network = networkOf(ip);
      seen ??= new LRUCache({ max: 50_000 });
      let entry = seen.get(network);
      if (entry?.window !== window) {
        entry = { window, count: 0 };
        seen.set(network, entry);
      }
      entry.count += 1;
      if (entry.count <= STRANGER_LIMIT) return refusal;
      return new Refusal('rate_limit_exceeded', 'Too many requests without a valid API key came from this address.', {
        limit: STRANGER_LIMIT,
        retry_after: Math.max(1, Math.ceil(((window + 1) * WINDOW_MS - now) / 1000)),
      });
    },
  };
}
