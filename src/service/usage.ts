import { type Clock, monthOf, toIso } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import type { UsageGrouping } from '../kernel/facts/outcomes.ts';
import { creditsOf, type Level, planWithLevel, WINDOW_SECONDS } from '../kernel/facts/plans.ts';
import type { Caller, RateWindow, Store } from '../store/store.ts';

export interface UsageWanted {
  readonly groupBy: UsageGrouping | null;
  readonly from: number | null;
  readonly to: number | null;
}

const upgradeTo = (plan: string | null) => (plan === null ? {} : { upgrade_required: plan });

/** Returns plan, balance, rate limit and counters of an account; `used` and `totals` cover the calendar month (UTC). */
export async function usageOf(
  store: Pick<Store, 'accounts' | 'usage' | 'plans'>,
  clock: Clock,
  caller: Caller,
  window: RateWindow,
  query: UsageWanted,
) {
  const { start, end } = monthOf(clock.now());
  const [account, storage, totals, series] = await Promise.all([
    store.accounts.get(caller.accountId),
    store.usage.storage(caller.accountId),
    store.usage.summary(caller.accountId, start, end),
    query.groupBy === null
      ? null
      : store.usage.series(caller.accountId, query.groupBy, query.from ?? start, query.to ?? end),
  ]);
  if (account === null) throw new ApiError('not_found', 'There is no such account.');
  const { terms } = account;
  const offer = (level: Level) =>
    terms.levels.includes(level)
      ? { credits: terms.prices[level], available: true }
      : { credits: terms.prices[level], available: false, ...upgradeTo(planWithLevel(store.plans, level)) };
  return {
    plan: caller.plan,
    period: { start: toIso(start), end: toIso(end) },
    credits: { ...creditsOf(account), used: totals.credits },
    rate_limit: {
      limit: window.limit,
      remaining: window.remaining,
      window_seconds: WINDOW_SECONDS,
      reset_at: toIso(window.resetAt),
    },
    storage: { list_bytes: storage.listBytes, filters: storage.filters },
    validation_types: {
      mx: offer('mx'),
      smtp: offer('smtp'),
    },
    unknown_credits: terms.prices.unknown,
    totals: { requests: totals.requests, good: totals.good, bad: totals.bad, by_reason: { ...totals.byReason } },
    ...(series === null ? {} : { series }),
  };
}
