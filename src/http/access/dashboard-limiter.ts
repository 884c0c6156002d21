import type { Clock } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import type { AccountId } from '../../service/members.ts';
import { WindowCounts } from './window-counts.ts';

/** Whose requests are counted together: those for an account, or those of a user for none. */
type DashboardCaller = { readonly account: AccountId } | { readonly user: string };

/** Bounds what people do in the dashboard, apart from the rate limit of the API: `limit` requests in a rate window. */
export function createDashboardLimiter(clock: Clock, limit: number): { admit(caller: DashboardCaller): void } {
  const counts = new WindowCounts(clock, 10_000);
  return {
    /** Throws `rate_limit_exceeded`. */
    admit(caller) {
      const isAccount = 'account' in caller;
      if (counts.add(isAccount ? `account ${caller.account}` : `user ${caller.user}`) <= limit) return;
      const whose = isAccount ? 'this account' : 'you';
      throw new ApiError('rate_limit_exceeded', `Too many requests of the dashboard came from ${whose}.`, {
        limit,
        retry_after: counts.secondsLeft(),
      });
    },
  };
}
