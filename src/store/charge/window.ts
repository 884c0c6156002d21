/** The rate window: fixed windows that start at whole multiples of WINDOW_SECONDS, by the store's clock. */
import { PLANS, type Plan, WINDOW_SECONDS } from '../../kernel/plans.ts';
import type { RateWindow } from '../store.ts';

const LENGTH = WINDOW_SECONDS * 1000;

export interface WindowState {
  readonly plan: Plan;
  readonly rateLimit: number | null;
  windowStart: number;
  windowCount: number;
}

export const limitOf = (account: { plan: Plan; rateLimit: number | null }): number =>
  account.rateLimit ?? PLANS[account.plan].requestsPerWindow;

/** The window in force at `now`. It never goes back: when the clock does, the stored one stays in force. */
export function currentWindow(account: Readonly<WindowState>, now: number): { start: number; count: number } {
  const start = Math.floor(now / LENGTH) * LENGTH;
  return start > account.windowStart ? { start, count: 0 } : { start: account.windowStart, count: account.windowCount };
}

/** The window as it stands at `now`, without counting. */
export function windowOf(account: Readonly<WindowState>, now: number): RateWindow {
  const limit = limitOf(account);
  const { start, count } = currentWindow(account, now);
  return { limit, remaining: Math.max(0, limit - count), resetAt: start + LENGTH };
}

/** Counts one request; answers false, and counts nothing, when the window is used up. */
export function countRequest(account: WindowState, now: number): boolean {
  const { start, count } = currentWindow(account, now);
  if (count >= limitOf(account)) return false;
  account.windowStart = start;
  account.windowCount = count + 1;
  return true;
}
