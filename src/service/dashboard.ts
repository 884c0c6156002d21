import type { WatchedDomainData } from '../engine/data/domain-data.ts';
import type { Clock } from '../kernel/clock.ts';
import { DAY_MS, monthOf, toIso, toIsoOrNull } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import { OPERATORS_SHOWN, OVERVIEW_LISTS, RECENT_DAYS } from '../kernel/facts/limits.ts';
import type { KeyNotice } from '../kernel/facts/notices.ts';
import { type UsageSource, wasAsked } from '../kernel/facts/outcomes.ts';
import { creditsOf, planWithLevel } from '../kernel/facts/plans.ts';
import type { ViewPage } from '../kernel/facts/saved-views.ts';
import { NO_OPERATOR } from '../kernel/log-origins.ts';
import type { AccountId, List, SavedView, SavedViews, Store } from '../store/store.ts';
import { createAccountService } from './accounts.ts';
import { balanceOf } from './balance.ts';
import { type ChartQuery, chartOf } from './charts.ts';
import { type ListsOptions, urlsOf } from './disposable-lists.ts';
import type { ListsUpdate } from './disposable-lists-update.ts';
import type { DoctorOptions } from './doctor.ts';
import { createJobService } from './jobs.ts';
import { createKeyService, isUsable, noticesOf } from './keys.ts';
import { listObject } from './lists/service.ts';
import { createLogService } from './log.ts';
import type { MailLimits } from './mail-limits.ts';
import { createMemberService, type MemberActivity } from './members.ts';
import { parseViewName } from './names.ts';
import { createNoticeService, failedLists, firstStepsOf, isShown, shownFailures } from './notices.ts';
import { createOperatorService } from './operator.ts';
import { createOperatorKeyService } from './operator-keys.ts';
import { createReplyService } from './replies.ts';
import type { SharedLists } from './shared-lists.ts';
import type { Sessions, SignedIn } from './sign-in/session.ts';

interface DashboardParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly options: DoctorOptions &
    Omit<ListsOptions, 'listsDir'> & { readonly retentionDays: number; readonly signup: 'open' | 'closed' };
  readonly lists: WatchedDomainData;
  /** The public URL of the service has no trailing slash. */
  readonly url: () => string;
  readonly sessions: Sessions;
  /** Whether mail can be sent. */
  readonly mail: boolean;
  readonly mailLimits: MailLimits;
  readonly activity: MemberActivity;
  readonly listsUpdate: Pick<ListsUpdate, 'request'>;
  readonly sharedLists: SharedLists;
}

export type DashboardServices = ReturnType<typeof createDashboard>;

export function createDashboard(parts: DashboardParts) {
  const { store, clock, options, lists, url, sessions } = parts;
  const { mail, mailLimits, activity, listsUpdate, sharedLists } = parts;
  const signupOpen = options.signup === 'open';
  const members = createMemberService({ store, mailLimits, activity, clock, url, mail, signupOpen });
  return {
    sessions,
    members,
    account: createAccountService({ store, clock, retentionDaysMax: options.retentionDays }),
    overview: (account: AccountId, user: Pick<SignedIn, 'id' | 'operator'>) => overviewOf(store, clock, account, user),
    notices: createNoticeService(store, clock),
    operators: (account: AccountId, query: OperatorsPeriod) => operatorsAsked(store, clock, account, query),
    chart: (account: AccountId, ask: ChartQuery) => chartOf(store, clock, account, ask),
    keys: createKeyService(store, clock),
    operatorKeys: createOperatorKeyService(store),
    log: createLogService(store, options.retentionDays),
    views: createViewService(store.savedViews),
    operator: createOperatorService({
      store,
      clock,
      lists,
      members,
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

/** Balance with its forecast, usage this month (UTC), API keys that need attention, the latest lists. */
async function overviewOf(
  store: Pick<
    Store,
    'accounts' | 'usage' | 'keys' | 'lists' | 'plans' | 'dismissals' | 'members' | 'alerts' | 'sharedFiles'
  >,
  clock: Clock,
  id: AccountId,
  user: Pick<SignedIn, 'id' | 'operator'>,
) {
  const now = clock.now();
  const { start, end } = monthOf(now);
  const [account, window, totals, keys, line, lists, failed, dismissed, storage] = await Promise.all([
    store.accounts.get(id),
    store.accounts.window(id),
    store.usage.summary(id, start, end),
    store.keys.list(id),
    balanceOf(store, clock, id),
    latestLists(store, id),
    failedLists(store, clock, id),
    store.dismissals.list(id, user.id),
    store.usage.storage(id),
  ]);
  if (account === null || window === null) throw new ApiError('not_found');
  const { name, plan, status, balance, locked, lowBalance } = account;
  const active = keys.filter((key) => isUsable(key, now));
  const notices = active.flatMap((key) => noticesOf(key, now)).filter(isShown(dismissed));
  const count = (of: KeyNotice) => notices.filter(({ notice }) => notice === of).length;
  const { operator } = user;
  return {
    account: { id, name, plan, status },
    credits: { ...creditsOf(account), used: totals.credits },
    balance: line,
    lists: lists.shown.map(listObject),
    running_lists: lists.running,
    filters: storage.filters.used,
    first_steps: await firstStepsOf(store, { account, keys, now }, { operator, dismissed }),
    failed_lists: shownFailures(failed, dismissed).map(({ id, name, finishedAt }) => ({
      id,
      name,
      finished_at: toIsoOrNull(finishedAt),
    })),
    period: { start: toIso(start), end: toIso(end) },
    totals: { requests: totals.requests, good: totals.good, bad: totals.bad },
    rate_limit: { limit: window.limit, remaining: window.remaining, reset_at: toIso(window.resetAt) },
    smtp_available: account.terms.levels.includes('smtp'),
    upgrade_required: account.terms.levels.includes('smtp') ? null : planWithLevel(store.plans, 'smtp'),
    prices: account.terms.prices,
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

/** Returns running ones first, then the latest; and how many are running. */
async function latestLists(
  { lists }: Pick<Store, 'lists'>,
  account: AccountId,
): Promise<{ shown: List[]; running: number }> {
  const page = { query: null, offset: 0, limit: OVERVIEW_LISTS };
  const [running, latest] = await Promise.all([
    lists.list(account, { ...page, status: 'running' }),
    lists.list(account, { ...page, status: null }),
  ]);
  const seen = new Set(running.items.map(({ id }) => id));
  const shown = [...running.items, ...latest.items.filter(({ id }) => !seen.has(id))].slice(0, OVERVIEW_LISTS);
  return { shown, running: running.total };
}

// Mail operators have answered mailbox checks with these.

interface OperatorsPeriod {
  /** Unix time in ms; by default, the last seven days are read. */
  readonly from: number | null;
  readonly to: number | null;
  /** Selects calls or lists; null: both. */
  readonly source: UsageSource | null;
}

interface OperatorTally {
  checks: number;
  asked: number;
  undisclosed: number;
  deliverable: number;
  /** Each check that asked a server has its time here, in ms. */
  readonly times: number[];
}

/** Returns the most used first. `median_ms` is that of the whole verification. */
async function operatorsAsked(
  store: Pick<Store, 'verifications'>,
  clock: Clock,
  account: AccountId,
  { from, to, source }: OperatorsPeriod,
) {
  const { since, checks } = await store.verifications.mailboxChecks(account, {
    from: from ?? clock.now() - RECENT_DAYS * DAY_MS,
    to,
    source,
  });
  const tallies = new Map<string, OperatorTally>();
  for (const { operator, level, deliverability, reason, durationMs } of checks) {
    const name = operator ?? NO_OPERATOR;
    const tally = tallies.get(name) ?? { checks: 0, asked: 0, undisclosed: 0, deliverable: 0, times: [] };
    tallies.set(name, tally);
    tally.checks += 1;
    if (reason === 'smtp_unverifiable') tally.undisclosed += 1;
    if (deliverability === 'deliverable') tally.deliverable += 1;
    if (!wasAsked(level, reason)) continue;
    tally.asked += 1;
    tally.times.push(durationMs);
  }
  const operators = [...tallies]
    .sort(([, a], [, b]) => b.checks - a.checks)
    .slice(0, OPERATORS_SHOWN)
    .map(([operator, { checks, asked, undisclosed, deliverable, times }]) => ({
      operator,
      checks,
      asked,
      undisclosed,
      deliverable_share: asked === 0 ? null : deliverable / asked,
      median_ms: median(times),
    }));
  return { checks: checks.length, from: toIso(since), operators };
}

const median = (values: readonly number[]): number | null =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? null;

/** Searches of a page that members have named, for all of the account. All methods throw ApiError. */
function createViewService(views: SavedViews) {
  const notFound = () => new ApiError('not_found', 'There is no such view; it may have been deleted.');
  return {
    /** Views are sorted by name. */
    list: (account: AccountId, page: ViewPage) => views.list(account, page),
    /** Throws ApiError `view_exists`, `too_many_views`. */
    add: (account: AccountId, page: ViewPage, { name, search }: Omit<SavedView, 'id'>) =>
      views.add(account, page, { name: parseViewName(name), search }),
    /** Throws ApiError `not_found`, `view_exists`. */
    async rename(account: AccountId, id: string, name: string) {
      const view = await views.rename(account, id, parseViewName(name));
      if (view === null) throw notFound();
      return view;
    },
    /** Throws ApiError `not_found`. */
    async remove(account: AccountId, id: string) {
      if (!(await views.remove(account, id))) throw notFound();
    },
  };
}
