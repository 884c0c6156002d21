/** What callers may do in a window of time, whoever they are. Kept per process. */
import type { Clock } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import {
  FAILED_AUTH_PER_WINDOW,
  METRICS_GUESSES,
  METRICS_GUESSES_SECONDS,
  OPERATOR_KEYS_MAX,
  OPERATOR_REQUESTS_PER_WINDOW,
} from '../../kernel/facts/limits.ts';
import { WINDOW_SECONDS } from '../../kernel/facts/plans.ts';
import { GuessCounts, slotsOfNetworks, WindowCounts } from '../../kernel/windows.ts';
import type { AccountId } from '../../service/members.ts';

const WINDOW_MS = WINDOW_SECONDS * 1000;

/**
 * Counts refusals with 401 by the networks of the caller, apart from any account: a valid key is not affected by failed
 * attempts from the same address.
 */
export function createFailedAuthLimiter(clock: Clock): { refuse(ip: string, apiError: ApiError): ApiError } {
  const counts = new WindowCounts(WINDOW_MS, 50_000);
  return {
    refuse(ip, apiError) {
      const now = clock.now();
      if (counts.take(slotsOfNetworks(ip, FAILED_AUTH_PER_WINDOW), now)) return apiError;
      return new ApiError('rate_limit_exceeded', 'Too many requests without a valid API key came from this address.', {
        limit: FAILED_AUTH_PER_WINDOW,
        retry_after: counts.secondsLeft(now),
      });
    },
  };
}

/** Whose requests are counted together: those for an account, or those of a user for none. */
type DashboardCaller = { readonly account: AccountId } | { readonly user: string };

/** Bounds what people do in the dashboard, apart from the rate limit of the API: `limit` requests in a rate window. */
export function createDashboardLimiter(clock: Clock, limit: number): { admit(caller: DashboardCaller): void } {
  const counts = new WindowCounts(WINDOW_MS, 10_000);
  return {
    /** Throws `rate_limit_exceeded`. */
    admit(caller) {
      const isAccount = 'account' in caller;
      const key = isAccount ? `account ${caller.account}` : `user ${caller.user}`;
      const now = clock.now();
      if (counts.take([{ key, max: limit }], now)) return;
      const whose = isAccount ? 'this account' : 'you';
      throw new ApiError('rate_limit_exceeded', `Too many requests of the dashboard came from ${whose}.`, {
        limit,
        retry_after: counts.secondsLeft(now),
      });
    },
  };
}

/** Bounds what a program does with one operator key in a rate window. */
export function createOperatorLimiter(clock: Clock): { admit(key: string): void } {
  const counts = new WindowCounts(WINDOW_MS, OPERATOR_KEYS_MAX);
  return {
    /** Throws `rate_limit_exceeded`. */
    admit(key) {
      const now = clock.now();
      if (counts.take([{ key, max: OPERATOR_REQUESTS_PER_WINDOW }], now)) return;
      const retry_after = counts.secondsLeft(now);
      const message = 'Too many requests came with this operator key.';
      throw new ApiError('rate_limit_exceeded', message, { limit: OPERATOR_REQUESTS_PER_WINDOW, retry_after });
    },
  };
}

/** Limits guesses of the metrics token, by network. */
export function createGuessLimiter(clock: Clock) {
  const guesses = new GuessCounts({ windowMs: METRICS_GUESSES_SECONDS * 1000, perNetwork: METRICS_GUESSES });
  return {
    /** To be called before a guess is looked at. Throws `rate_limit_exceeded`. */
    admit(ip: string) {
      const now = clock.now();
      if (guesses.mayGuess(ip, now)) return;
      throw new ApiError('rate_limit_exceeded', 'Too many wrong metrics tokens came from this network.', {
        limit: METRICS_GUESSES,
        retry_after: guesses.secondsLeft(now),
      });
    },
    failed: (ip: string) => guesses.failed(ip, clock.now()),
    /** The address is counted apart from its network from now on: guesses of its neighbors do not block it. */
    succeeded: (ip: string) => guesses.succeeded(ip),
  };
}
