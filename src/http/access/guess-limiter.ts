import { LRUCache } from 'lru-cache';
import type { Clock } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { METRICS_GUESSES, METRICS_GUESSES_SECONDS } from '../../kernel/facts/limits.ts';
import { type CountedNetwork, networksOf } from '../../kernel/ip.ts';

const WINDOW_MS = METRICS_GUESSES_SECONDS * 1000;
/** Networks that are remembered, and addresses that had the right token. */
const NETWORKS_MAX = 8_192;
const KNOWN_MAX = 512;

/** Limits guesses of one secret, by network. Kept per process. */
interface GuessLimiter {
  /** To be called before a guess is looked at. Throws `rate_limit_exceeded`. */
  admit(ip: string): void;
  failed(ip: string): void;
  /** The address is counted apart from its network from now on: guesses of its neighbors do not block it. */
  succeeded(ip: string): void;
}

export function createGuessLimiter(clock: Clock): GuessLimiter {
  // Created at the first use, as they allocate their full size at once.
  let failures: LRUCache<string, { readonly window: number; readonly count: number }> | null = null;
  let known: LRUCache<string, true> | null = null;
  const countedAs = (ip: string): readonly CountedNetwork[] =>
    known?.get(ip) ? [{ network: `address ${ip}`, times: 1 }] : networksOf(ip);
  const currentWindow = () => Math.floor(clock.now() / WINDOW_MS);
  function countOf(key: string, window: number): number {
    const entry = failures?.get(key);
    return entry?.window === window ? entry.count : 0;
  }
  return {
    admit(ip) {
      const window = currentWindow();
      if (countedAs(ip).every(({ network, times }) => countOf(network, window) < times * METRICS_GUESSES)) return;
      throw new ApiError('rate_limit_exceeded', 'Too many wrong metrics tokens came from this network.', {
        limit: METRICS_GUESSES,
        retry_after: Math.max(1, Math.ceil(((window + 1) * WINDOW_MS - clock.now()) / 1000)),
      });
    },
    failed(ip) {
      const window = currentWindow();
      failures ??= new LRUCache({ max: NETWORKS_MAX });
      for (const { network } of countedAs(ip)) failures.set(network, { window, count: countOf(network, window) + 1 });
    },
    succeeded(ip) {
      known ??= new LRUCache({ max: KNOWN_MAX });
      known.set(ip, true);
    },
  };
}
