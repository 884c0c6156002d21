import type { WatchedDomainData } from '../engine/data/domain-data.ts';
import type { Clock } from '../kernel/clock.ts';
import type { AccountId, Store } from '../store/store.ts';
import { type AccountService, type ConfirmPassword, createAccountService } from './accounts.ts';
import { type Chart, type ChartQuery, chartOf } from './charts.ts';
import { type ListsOptions, urlsOf } from './disposable-lists.ts';
import type { ListsUpdate } from './disposable-lists-update.ts';
import type { DoctorOptions } from './doctor.ts';
import { createJobService, type JobService } from './jobs.ts';
import { createKeyService, type KeyService } from './keys.ts';
import { createLogService, type LogService } from './log.ts';
import type { MailLimits } from './mail-limits.ts';
import { createMemberService, type MemberService } from './members.ts';
import { createOperatorService, type OperatorService } from './operator.ts';
import { operatorsAsked } from './operators-asked.ts';
import { type Overview, overviewOf } from './overview.ts';
import { createReplyService, type ReplyService } from './replies.ts';
import { createViewService, type ViewService } from './saved-views.ts';
import type { SharedLists } from './shared-lists.ts';
import type { Sessions } from './sign-in/session.ts';

/** The services behind the dashboard's routes. */
export interface DashboardServices {
  readonly sessions: Sessions;
  readonly members: MemberService;
  readonly account: AccountService;
  readonly overview: (account: AccountId) => Promise<Overview>;
  readonly operators: (account: AccountId) => ReturnType<typeof operatorsAsked>;
  readonly chart: (account: AccountId, ask: ChartQuery) => Promise<Chart>;
  readonly keys: KeyService;
  readonly log: LogService;
  readonly views: ViewService;
  readonly operator: OperatorService;
  readonly jobs: JobService;
  readonly replies: ReplyService;
}

interface DashboardParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly options: DoctorOptions &
    Omit<ListsOptions, 'listsDir'> & { readonly retentionDays: number; readonly signup: 'open' | 'closed' };
  readonly lists: WatchedDomainData;
  /** Public URL of the service, without a trailing slash. */
  readonly url: () => string;
  readonly sessions: Sessions;
  readonly confirmPassword: ConfirmPassword;
  /** Whether mail can be sent. */
  readonly mail: boolean;
  readonly mailLimits: MailLimits;
  readonly listsUpdate: Pick<ListsUpdate, 'request'>;
  readonly sharedLists: SharedLists;
}

export function createDashboard(parts: DashboardParts): DashboardServices {
  const { store, clock, options, lists, url, sessions, confirmPassword, mail, mailLimits, listsUpdate, sharedLists } =
    parts;
  const members = createMemberService({ store, mailLimits, clock, url, mail, signupOpen: options.signup === 'open' });
  return {
    sessions,
    members,
    account: createAccountService({ store, clock, retentionDaysMax: options.retentionDays, confirmPassword }),
    overview: (account) => overviewOf(store, clock, account),
    operators: (account) => operatorsAsked(store, account),
    chart: (account, ask) => chartOf(store, clock, account, ask),
    keys: createKeyService(store, clock),
    log: createLogService(store, options.retentionDays),
    views: createViewService(store.savedViews),
    operator: createOperatorService({
      store,
      clock,
      lists,
      invite: members.invite,
      // Imported lazily, to keep the start fast.
      async doctor() {
        const { examine, checkStore } = await import('./doctor.ts');
        return examine(options, () => checkStore(store));
      },
      requestListsUpdate: () => listsUpdate.request(),
      lastAttempt: () => sharedLists.lastAttempt(),
      sourceUrls: urlsOf(options),
    }),
    jobs: createJobService(store),
    replies: createReplyService(store, lists),
  };
}
