import { type Clock, monthOf, toIso } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import { OVERVIEW_LISTS } from '../kernel/facts/limits.ts';
import { PLANS } from '../kernel/facts/plans.ts';
import type { AccountId, List, Store } from '../store/store.ts';
import { balanceOf } from './balance.ts';
import { noticesOf, stateOf } from './keys.ts';
import { listObject } from './lists/service.ts';

/** Balance with its forecast, usage this month (UTC), API keys that need attention, the latest lists. */
export async function overviewOf(
  store: Pick<Store, 'accounts' | 'usage' | 'keys' | 'lists'>,
  clock: Clock,
  id: AccountId,
) {
  const now = clock.now();
  const { start, end } = monthOf(now);
  const [account, window, totals, keys, line, lists] = await Promise.all([
    store.accounts.get(id),
    store.accounts.window(id),
    store.usage.summary(id, start, end),
    store.keys.list(id),
    balanceOf(store, clock, id),
    latestLists(store, id),
  ]);
  if (account === null || window === null) throw new ApiError('not_found');
  const { name, plan, status, balance, locked, lowBalance } = account;
  const active = keys.filter((key) => ['active', 'expiring'].includes(stateOf(key, now)));
  const notices = active.flatMap((key) => noticesOf(key, now));
  const count = (notice: (typeof notices)[number]) => notices.filter((n) => n === notice).length;
  return {
    account: { id, name, plan, status },
    credits: { remaining: balance, locked, used: totals.credits },
    balance: line,
    lists: lists.map(listObject),
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

/** Running ones first, then the latest. */
async function latestLists({ lists }: Pick<Store, 'lists'>, account: AccountId): Promise<List[]> {
  const page = { query: null, offset: 0, limit: OVERVIEW_LISTS };
  const [running, latest] = await Promise.all([
    lists.list(account, { ...page, status: 'running' }),
    lists.list(account, { ...page, status: null }),
  ]);
  const seen = new Set(running.items.map(({ id }) => id));
  return [...running.items, ...latest.items.filter(({ id }) => !seen.has(id))].slice(0, OVERVIEW_LISTS);
}

export type Overview = Awaited<ReturnType<typeof overviewOf>>;
