import type { Clock } from '../kernel/clock.ts';
import { monthOf, toIso } from '../kernel/clock.ts';
import { PLAN_NAMES, PLANS, type Plan, PRICE, WINDOW_SECONDS } from '../kernel/plans.ts';
import type { Caller, RateWindow, Store, UsageGrouping } from '../store/store.ts';

export interface UsageAsk {
  readonly groupBy: UsageGrouping | null;
  readonly from: number | null;
  readonly to: number | null;
}

/** Plan, balance, rate window and counters of an account; `used` and `totals` are of the calendar month, UTC. */
export async function usageOf(
  store: Pick<Store, 'accounts' | 'usage'>,
  clock: Clock,
  caller: Caller,
  window: RateWindow,
  ask: UsageAsk,
) {
  const { start, end } = monthOf(clock.now());
  const [account, totals, series] = await Promise.all([
    store.accounts.get(caller.accountId),
    store.usage.summary(caller.accountId, start, end),
    ask.groupBy === null ? null : store.usage.series(caller.accountId, ask.groupBy, ask.from ?? start, ask.to ?? end),
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
    validation_types: {
      mx: { credits: PRICE.mx, available: true },
      smtp: { credits: PRICE.smtp, ...smtpOn(caller.plan) },
    },
    totals: { requests: totals.requests, good: totals.good, bad: totals.bad, by_reason: { ...totals.byReason } },
    ...(series === null ? {} : { series }),
  };
}

/** The cheapest plan that has the smtp level. */
export const PLAN_WITH_SMTP: Plan = PLAN_NAMES.find((p) => PLANS[p].smtp)!;

const smtpOn = (plan: Plan) =>
  PLANS[plan].smtp ? { available: true } : { available: false, upgrade_required: PLAN_WITH_SMTP };
