/** The balance of past days, its forecast, and the ledger by day. */
import { type Clock, DAY_MS, monthOf, toIso } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import { BALANCE_DAYS, FORECAST_DAYS } from '../kernel/facts/limits.ts';
import type { AccountId, Funds, Store } from '../store/store.ts';

const dayOf = (at: number): number => Math.floor(at / DAY_MS) * DAY_MS;

interface LedgerDay {
  /** The day (UTC) starts at this time, ms. */
  readonly at: number;
  readonly verifications: number;
  readonly charged: number;
  readonly granted: number;
  /** The balance is that at the end of the day, or now: held credits are included, as they are not spent yet. */
  readonly balance: number;
}

/** Returns the days on which something happened, the newest first. */
function ledgerDays({ total, days, grants }: Funds): LedgerDay[] {
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

/** The days are counted back from today; `more` says whether there are earlier ones. Throws ApiError. */
export async function ledgerDaysOf(store: Pick<Store, 'accounts'>, clock: Clock, account: AccountId, days: number) {
  const funds = await store.accounts.funds(account, dayOf(clock.now()) - (days - 1) * DAY_MS);
  if (funds === null) throw new ApiError('not_found');
  return {
    total: funds.total,
    held: funds.held,
    grants: funds.grants.map(({ at, credits, note }) => ({ at: toIso(at), credits, note })),
    days: ledgerDays(funds).map(({ at, ...day }) => ({ at: toIso(at), ...day })),
    more: funds.openedAt < funds.from,
  };
}

/**
 * The balance at the end of each day, and how long what is available lasts. Lists are held for as a whole when they
 * start, and each is a decision of its own: the pace is that of the other verifications, so that both stay as they are
 * while a list runs.
 */
export async function balanceOf(store: Pick<Store, 'accounts'>, clock: Clock, account: AccountId) {
  const now = clock.now();
  const today = dayOf(now);
  const funds = await store.accounts.funds(account, today - (BALANCE_DAYS - 1) * DAY_MS);
  if (funds === null) throw new ApiError('not_found');
  const changed = ledgerDays(funds);
  const days = Array.from({ length: BALANCE_DAYS }, (_, i) => today - (BALANCE_DAYS - 1 - i) * DAY_MS)
    .filter((at) => at >= dayOf(funds.openedAt))
    .map((at) => {
      // These came after the end of that day.
      const since = changed.filter((day) => day.at > at);
      return { at: toIso(at), balance: funds.total + since.reduce((sum, day) => sum + day.charged - day.granted, 0) };
    });
  return { days, ...forecastOf(funds, now) };
}

/** Everything that is said and drawn of the forecast comes from these rounded figures. */
function forecastOf({ total, held, openedAt, days }: Funds, now: number) {
  const first = Math.max(openedAt, dayOf(now) - (FORECAST_DAYS - 1) * DAY_MS);
  const recent = days.filter(({ at }) => at + DAY_MS > first);
  const spent = recent.reduce((sum, { charged, chargedByLists }) => sum + charged - chargedByLists, 0);
  const perDay = Math.ceil(spent / Math.max(1, (now - first) / DAY_MS));
  const available = total - held;
  const lasts = perDay === 0 ? Number.POSITIVE_INFINITY : available / perDay;
  const { end } = monthOf(now);
  const missing = Math.max(0, Math.ceil((perDay * (end - now)) / DAY_MS) - available);
  return {
    per_day: perDay,
    empty_at: lasts > FORECAST_YEARS * 365 ? null : toIso(dayOf(now + lasts * DAY_MS)),
    month_ends: toIso(end),
    month_short_by: missing,
  };
}

const FORECAST_YEARS = 2;
