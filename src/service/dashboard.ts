import type { WatchedLists } from '../engine/lists/watch.ts';
import type { Clock } from '../kernel/clock.ts';
import type { AccountId, Store } from '../store/store.ts';
import { type AccountService, type ConfirmPassword, createAccountService } from './accounts.ts';
import { type Chart, type ChartAsk, chartOf } from './charts.ts';
import type { DoctorOptions } from './doctor.ts';
import { createKeyService, type KeyService } from './keys.ts';
import type { ListsOptions } from './lists.ts';
import { createLogService, type LogService } from './log.ts';
import type { Mail } from './mail.ts';
import { createMemberService, type MemberService } from './members.ts';
import { createOperatorService, type OperatorService } from './operator.ts';
import { type Overview, overviewOf } from './overview.ts';
import type { Sessions } from './sign-in/who.ts';

/** What people do in the dashboard, made of one store. */
export interface DashboardServices {
  readonly sessions: Sessions;
  readonly members: MemberService;
  readonly account: AccountService;
  readonly overview: (account: AccountId) => Promise<Overview>;
  readonly chart: (account: AccountId, ask: ChartAsk) => Promise<Chart>;
  readonly keys: KeyService;
  readonly log: LogService;
  readonly operator: OperatorService;
}

export interface DashboardParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly options: DoctorOptions &
    ListsOptions & { readonly retentionDays: number; readonly signup: 'open' | 'closed' };
  readonly lists: WatchedLists;
  /** Public address of the service, without a slash at its end. */
  readonly url: () => string;
  readonly sessions: Sessions;
  readonly confirmPassword: ConfirmPassword;
  /** Null: none is set up. */
  readonly mail: Mail | null;
}

export function createDashboard(parts: DashboardParts): DashboardServices {
  const { store, clock, options, lists, url, sessions, confirmPassword, mail } = parts;
  return {
    sessions,
    members: createMemberService({ store, clock, url, mail, strangers: options.signup === 'open' }),
    account: createAccountService({ store, retentionDaysMax: options.retentionDays, confirmPassword }),
    overview: (account) => overviewOf(store, clock, account),
    chart: (account, ask) => chartOf(store, clock, account, ask),
    keys: createKeyService(store.keys, clock),
    log: createLogService(store, options.retentionDays),
    operator: createOperatorService({
      store,
      clock,
      lists,
      // Loaded when an operator asks: both are no part of what a start waits for.
      async doctor() {
        const { examine, tryStore } = await import('./doctor.ts');
        return examine(options, () => tryStore(store));
      },
      async fetchLists() {
        const { fetchListsApart, summaryLine } = await import('./lists.ts');
        return summaryLine(await fetchListsApart(options));
      },
    }),
  };
}
