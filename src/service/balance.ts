/** The balance of past days, its forecast, and the ledger by day. */
import { type Clock, DAY_MS, toIso } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import { BALANCE_DAYS, FORECAST_DAYS } from '../kernel/facts/limits.ts';
import type { AccountId, Funds, Store } from '../store/store.ts';

const dayOf = (at: number): number => Math.floor(at / DAY_MS) * DAY_MS;

interface LedgerDay {
  /** Start of the day (UTC), ms. */
  readonly at: number;
  readonly verifications: number;
  readonly charged: number;
  readonly granted: number;
  /** At its end, or now: held credits included, as they are not spent yet. */
  readonly balance: number;
}

/** Days on which something happened, the newest first. */
function daysOf({ total, days, grants }: Funds): LedgerDay[] {
  const granted = new Map<number, number>();
  for (const { at, credits } of grants) granted.set(dayOf(at), (granted.get(dayOf(at)) ?? 0) + credits);
  const charged = new Map(days.map((day) => [day.at, day]));
  const all = [...new Set([...granted.keys(), ...charged.keys()])].sort((a, b) => b - a);
  let balance = total;
  return all.map((at) => {
    const { charged: spent = 0, verifications = 0 } = charged.get(at) ?? {};
    const given = granted.get(at) ?? 0;
    const row = { at, verifications, charged: spent, granted: given, balance };
    balance += spent - given;
    return row;
  });
}

/** Of the days back from today; `more`: whether there are earlier ones. Throws ApiError. */
export async function ledgerDaysOf(store: Pick<Store, 'accounts'>, clock: Clock, account: AccountId, days: number) {
  const funds = await store.accounts.funds(account, dayOf(clock.now()) - (days - 1) * DAY_MS);
  if (funds === null) throw new ApiError('not_found');
  return {
    total: funds.total,
    held: funds.held,
    grants: funds.grants.map(({ at, credits, note }) => ({ at: toIso(at), credits, note })),
    days: daysOf(funds).map(({ at, ...day }) => ({ at: toIso(at), ...day })),
    more: funds.openedAt < funds.from,
  };
}

/**
 * The balance at the end of each day and where it leads. `empty_at`: when it is used up at the pace of the last
 * FORECAST_DAYS days; null: nothing was used, or it lasts for more than two years.
 */
export async function balanceOf(store: Pick<Store, 'accounts'>, clock: Clock, account: AccountId) {
  const now = clock.now();
  const today = dayOf(now);
  const funds = await store.accounts.funds(account, today - (BALANCE_DAYS - 1) * DAY_MS);
  if (funds === null) throw new ApiError('not_found');
  const changed = daysOf(funds);
  const days = Array.from({ length: BALANCE_DAYS }, (_, i) => today - (BALANCE_DAYS - 1 - i) * DAY_MS)
    .filter((at) => at >= dayOf(funds.openedAt))
    .map((at) => {
      // What came after the end of that day.
      const since = changed.filter((day) => day.at > at);
      return { at: toIso(at), balance: funds.total + since.reduce((sum, day) => sum + day.charged - day.granted, 0) };
    });
  const first = Math.max(funds.openedAt, now - FORECAST_DAYS * DAY_MS);
  const elapsed = Math.max(1, (now - first) / DAY_MS);
  const spent = changed.filter(({ at }) => at + DAY_MS > first).reduce((sum, day) => sum + day.charged, 0);
  const perDay = spent / elapsed;
  const left = perDay === 0 ? Number.POSITIVE_INFINITY : funds.total / perDay;
  return {
    days,
    per_day: Math.round(perDay),
    empty_at: left > 2 * 365 ? null : toIso(now + left * DAY_MS),
  };
}
