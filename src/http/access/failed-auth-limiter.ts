import { LRUCache } from 'lru-cache';
import type { Clock } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { networkOf } from '../../kernel/ip.ts';
import { FAILED_AUTH_PER_WINDOW } from '../../kernel/limits.ts';
import { WINDOW_SECONDS } from '../../kernel/plans.ts';

const WINDOW_MS = WINDOW_SECONDS * 1000;

/**
 * Counts refusals with 401 per caller IP (an IPv6 caller by its /64, the size of one subscriber's network), apart from
 * any account: a valid key is not affected by failed attempts from the same address. Kept per process:
 * it protects this process's time, not a right that nodes would have to agree on.
 */
export function createFailedAuthLimiter(clock: Clock): { refuse(ip: string, apiError: ApiError): ApiError } {
  // Created at the first failure, as it allocates its full size at once.
  let seen: LRUCache<string, { window: number; count: number }> | null = null;
  return {
    refuse(ip, apiError) {
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
      if (entry.count <= FAILED_AUTH_PER_WINDOW) return apiError;
      return new ApiError('rate_limit_exceeded', 'Too many requests without a valid API key came from this address.', {
        limit: FAILED_AUTH_PER_WINDOW,
        retry_after: Math.max(1, Math.ceil(((window + 1) * WINDOW_MS - now) / 1000)),
      });
    },
  };
}
