import type { Clock } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { FAILED_AUTH_PER_WINDOW } from '../../kernel/facts/limits.ts';
import { networksOf } from '../../kernel/ip.ts';
import { WindowCounts } from './window-counts.ts';

/**
 * Counts refusals with 401 by the networks of the caller, apart from any account: a valid key is not affected by failed
 * attempts from the same address.
 */
export function createFailedAuthLimiter(clock: Clock): { refuse(ip: string, apiError: ApiError): ApiError } {
  const counts = new WindowCounts(clock, 50_000);
  return {
    refuse(ip, apiError) {
      // The widest first: what it may not have is not counted for a narrower one.
      const isOver = networksOf(ip).some(({ network, times }) => counts.add(network) > times * FAILED_AUTH_PER_WINDOW);
      if (!isOver) return apiError;
      return new ApiError('rate_limit_exceeded', 'Too many requests without a valid API key came from this address.', {
        limit: FAILED_AUTH_PER_WINDOW,
        retry_after: counts.secondsLeft(),
      });
    },
  };
}
