import { type Clock, monthOf, toIso } from '../kernel/clock.ts';
import { PLAN_WITH_SMTP, PLANS, type Plan, PRICE, WINDOW_SECONDS } from '../kernel/facts/plans.ts';
import type { Caller, RateWindow, Store, UsageGrouping } from '../store/store.ts';

export interface UsageWanted {
  readonly groupBy: UsageGrouping | null;
  readonly from: number | null;
  readonly to: number | null;
}

/** Plan, balance, rate limit and counters of an account; `used` and `totals` cover the calendar month (UTC). */
export async function usageOf(
  store: Pick<Store, 'accounts' | 'usage'>,
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
  const { balance, locked } = account ?? { balance: 0, locked: 0 };
  return {
    plan: caller.plan,
    period: { start: toIso(start), end: toIso(end) },
    credits: { total: balance + locked, locked, used: totals.credits, remaining: balance },
    rate_limit: {
      limit: window.limit,
      remaining: window.remaining,
      window_seconds: WINDOW_SECONDS,
      reset_at: toIso(window.resetAt),
    },
    storage: { list_bytes: storage.listBytes, filters: storage.filters },
    validation_types: {
      mx: { credits: PRICE.mx, available: true },
      smtp: { credits: PRICE.smtp, ...smtpOn(caller.plan) },
    },
    totals: { requests: totals.requests, good: totals.good, bad: totals.bad, by_reason: { ...totals.byReason } },
    ...(series === null ? {} : { series }),
  };
}

const smtpOn = (plan: Plan) =>
  PLANS[plan].smtp ? { available: true } : { available: false, upgrade_required: PLAN_WITH_SMTP };
