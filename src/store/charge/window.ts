/** The rate window: fixed windows that start at whole multiples of WINDOW_SECONDS, by the store's clock. */
import { type PlanTerms, WINDOW_SECONDS } from '../../kernel/facts/plans.ts';
import type { RateWindow } from '../store.ts';

const WINDOW_LENGTH_MS = WINDOW_SECONDS * 1000;

/** The window that an account counts in, and what it has counted. */
export interface WindowCounters {
  windowStart: number;
  windowCount: number;
}
interface WindowState extends WindowCounters {
  readonly rateLimit: number | null;
}

export const rateLimitOf = (account: { readonly rateLimit: number | null }, terms: PlanTerms): number =>
  account.rateLimit ?? terms.requestsPerWindow;

/**
 * Returns by how much the stored window is ahead, ms, where that is more than one window, as the clock had been ahead;
 * else 0.
 */
export function windowAhead({ windowStart }: Readonly<WindowState>, now: number): number {
  const ahead = windowStart - Math.floor(now / WINDOW_LENGTH_MS) * WINDOW_LENGTH_MS;
  return ahead > WINDOW_LENGTH_MS ? ahead : 0;
}

/** The current window. When the clock is set back by no more than a window, the stored one stays current. */
function currentWindow(account: Readonly<WindowState>, now: number): { start: number; count: number } {
  const start = Math.floor(now / WINDOW_LENGTH_MS) * WINDOW_LENGTH_MS;
  return start > account.windowStart || windowAhead(account, now) > 0
    ? { start, count: 0 }
    : { start: account.windowStart, count: account.windowCount };
}

/** Returns the window as it is at `now`, without counting. */
export function windowOf(account: Readonly<WindowState>, terms: PlanTerms, now: number): RateWindow {
  const limit = rateLimitOf(account, terms);
  const { start, count } = currentWindow(account, now);
  return { limit, remaining: Math.max(0, limit - count), resetAt: start + WINDOW_LENGTH_MS };
}

/** Counts one request; returns false, without counting, when the window is exhausted. */
export function countRequest(account: WindowState, terms: PlanTerms, now: number): boolean {
  const { start, count } = currentWindow(account, now);
  if (count >= rateLimitOf(account, terms)) return false;
  account.windowStart = start;
  account.windowCount = count + 1;
  return true;
}
