import { type Clock, monthOf, toIso } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import { PLANS } from '../kernel/plans.ts';
import type { AccountId, Store } from '../store/store.ts';
import { noticesOf, stateOf } from './keys.ts';

/** Balance, usage this month (UTC), and API keys that need attention. */
export async function overviewOf(store: Pick<Store, 'accounts' | 'usage' | 'keys'>, clock: Clock, id: AccountId) {
  const now = clock.now();
  const { start, end } = monthOf(now);
  const [account, window, totals, keys] = await Promise.all([
    store.accounts.get(id),
    store.accounts.window(id),
    store.usage.summary(id, start, end),
    store.keys.list(id),
  ]);
  if (account === null || window === null) throw new ApiError('not_found');
  const { name, plan, status, balance, locked, lowBalance } = account;
  const active = keys.filter((key) => ['active', 'expiring'].includes(stateOf(key, now)));
  const notices = active.flatMap((key) => noticesOf(key, now));
  const count = (notice: (typeof notices)[number]) => notices.filter((n) => n === notice).length;
  return {
    account: { id, name, plan, status },
    credits: { remaining: balance, locked, used: totals.credits },
    period: { start: toIso(start), end: toIso(end) },
    totals: { requests: totals.requests, good: totals.good, bad: totals.bad },
    rate_limit: { limit: window.limit, remaining: window.remaining, reset_at: toIso(window.resetAt) },
    smtp_available: PLANS[plan].smtp,
    low_balance: lowBalance,
    // Held credits may be released, so they count as available, as they do for the mail.
    is_low: lowBalance !== null && balance + locked < lowBalance,
    keys: {
      active: active.length,
      never_used: count('never_used'),
      idle: count('idle'),
      open_to_all: count('open_to_all'),
      budget_spent: count('budget_spent'),
    },
  };
}

export type Overview = Awaited<ReturnType<typeof overviewOf>>;
