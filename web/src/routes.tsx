import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouterHistory,
  redirect,
} from '@tanstack/react-router';
import { ADDRESS_LENGTH, DELIVERIES_PAGE } from '../../src/kernel/facts/limits.ts';
import { accountIn, accountRewrite, needsAccount, pinAccount } from './api/account-path.ts';
import { queryClient } from './api/query-client.ts';
import { accountOf, sessionQuery } from './api/session.ts';
import { auditLogSearch } from './pages/audit-log/search.ts';
import { filtersSearch } from './pages/filters/search.ts';
import { keysSearch } from './pages/keys/search.ts';
import { listSearch, listsSearch } from './pages/lists/search.ts';
import { logSearch } from './pages/log/search.ts';
import { accountsSearch } from './pages/operator/search.ts';
import { usageSearch } from './pages/usage/range.ts';
import { LoadingPage } from './parts/loading.tsx';
import { NotFound } from './parts/not-found.tsx';
import { flagSearch, pageSearch, textOf } from './parts/search-params.ts';
import { Root, SignedOutLayout } from './shell/root.tsx';
import { RootError, RouteError } from './shell/route-error.tsx';

/** Search parameters of a webhook's page. */
interface WebhookSearch {
  readonly page?: number;
}

const webhookSearch = ({ page }: Record<string, unknown>): WebhookSearch => pageSearch(page, DELIVERIES_PAGE.max);

/** Search parameter: the address that the form begins with. */
function verifySearch({ email }: Record<string, unknown>): { email?: string } {
  const text = textOf(email, ADDRESS_LENGTH.max);
  return text === undefined ? {} : { email: text };
}

/** A path on this origin to go to after signing in; guards against open redirects. */
function safeRedirect(next: unknown): string {
  if (typeof next !== 'string' || !next.startsWith('/') || next.startsWith('/sign-in')) return '/';
  // Parsed as browsers do: `//host`, `/\host` and a tab between the slashes all point to another host.
  const { origin } = location;
  return URL.canParse(next, origin) && new URL(next, origin).origin === origin ? next : '/';
}

const root = createRootRoute({ component: Root, notFoundComponent: () => <NotFound /> });

/** Pages that do not need a session. */
const signedOut = createRoute({
  getParentRoute: () => root,
  id: 'open',
  component: SignedOutLayout,
  errorComponent: RootError,
  beforeLoad: () => queryClient.ensureQueryData(sessionQuery),
});

/** Pages that need a session. Others are sent to the sign-in page and come back. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: lazyRouteComponent(() => import('./shell/shell.tsx'), 'Shell'),
  errorComponent: RootError,
  beforeLoad: async ({ location }) => {
    const { user, accounts } = await queryClient.ensureQueryData(sessionQuery);
    if (user === null) throw redirect({ to: '/sign-in', search: { next: location.publicHref } });
    const account = accountOf(accounts);
    if (account === null) return;
    pinAccount(account.id);
    if (needsAccount(location.pathname) && accountIn(location.publicHref) === null)
      throw redirect({ href: location.href, replace: true });
  },
});

const signIn = createRoute({
  getParentRoute: () => signedOut,
  path: '/sign-in',
  validateSearch: (search: Record<string, unknown>) => ({ next: safeRedirect(search.next) }),
  component: lazyRouteComponent(() => import('./pages/sign-in.tsx'), 'SignInPage'),
});
const signUp = createRoute({
  getParentRoute: () => signedOut,
  path: '/sign-up',
  component: lazyRouteComponent(() => import('./pages/sign-up.tsx'), 'SignUpPage'),
});
const setup = createRoute({
  getParentRoute: () => signedOut,
  path: '/setup',
  component: lazyRouteComponent(() => import('./pages/setup.tsx'), 'SetupPage'),
});
const resetPassword = createRoute({
  getParentRoute: () => signedOut,
  path: '/reset-password',
  component: lazyRouteComponent(() => import('./pages/reset-password.tsx'), 'ResetPasswordPage'),
});
const verifyEmail = createRoute({
  getParentRoute: () => signedOut,
  path: '/verify-email',
  component: lazyRouteComponent(() => import('./pages/verify-email.tsx'), 'VerifyEmailPage'),
});
const invitation = createRoute({
  getParentRoute: () => signedOut,
  path: '/invitation',
  component: lazyRouteComponent(() => import('./pages/invitation.tsx'), 'InvitationPage'),
});

const reference = createRoute({
  getParentRoute: () => root,
  path: '/docs',
  component: lazyRouteComponent(() => import('./pages/reference.tsx'), 'ReferenceLayout'),
  errorComponent: RootError,
});
const referenceStart = createRoute({
  getParentRoute: () => reference,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/reference.tsx'), 'ReferencePage'),
});
const referenceOperation = createRoute({
  getParentRoute: () => reference,
  path: '/$operation',
  component: lazyRouteComponent(() => import('./pages/reference.tsx'), 'ReferenceOperationPage'),
});

const overview = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/overview.tsx'), 'OverviewPage'),
});
const usage = createRoute({
  getParentRoute: () => signedIn,
  path: '/usage',
  validateSearch: usageSearch,
  component: lazyRouteComponent(() => import('./pages/usage.tsx'), 'UsagePage'),
});
const verify = createRoute({
  getParentRoute: () => signedIn,
  path: '/verify',
  validateSearch: verifySearch,
  component: lazyRouteComponent(() => import('./pages/verify.tsx'), 'VerifyPage'),
});
const lists = createRoute({
  getParentRoute: () => signedIn,
  path: '/lists',
  validateSearch: listsSearch,
  component: lazyRouteComponent(() => import('./pages/lists.tsx'), 'ListsPage'),
});
const newList = createRoute({
  getParentRoute: () => signedIn,
  path: '/lists/new',
  component: lazyRouteComponent(() => import('./pages/new-list.tsx'), 'NewListPage'),
});
const list = createRoute({
  getParentRoute: () => signedIn,
  path: '/lists/$id',
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('./pages/list.tsx'), 'ListPage'),
});
const log = createRoute({
  getParentRoute: () => signedIn,
  path: '/log',
  validateSearch: logSearch,
  component: lazyRouteComponent(() => import('./pages/log.tsx'), 'LogPage'),
});
const logEntry = createRoute({
  getParentRoute: () => signedIn,
  path: '/log/$id',
  component: lazyRouteComponent(() => import('./pages/log-entry.tsx'), 'LogEntryPage'),
});
const filters = createRoute({
  getParentRoute: () => signedIn,
  path: '/filters',
  validateSearch: filtersSearch,
  component: lazyRouteComponent(() => import('./pages/filters.tsx'), 'FiltersPage'),
});
const keys = createRoute({
  getParentRoute: () => signedIn,
  path: '/settings/keys',
  validateSearch: keysSearch,
  component: lazyRouteComponent(() => import('./pages/keys.tsx'), 'KeysPage'),
});
const key = createRoute({
  getParentRoute: () => signedIn,
  path: '/settings/keys/$id',
  component: lazyRouteComponent(() => import('./pages/key.tsx'), 'KeyPage'),
});
const webhooks = createRoute({
  getParentRoute: () => signedIn,
  path: '/webhooks',
  validateSearch: ({ create }: Record<string, unknown>) => flagSearch('create', create),
  component: lazyRouteComponent(() => import('./pages/webhooks.tsx'), 'WebhooksPage'),
});
const webhook = createRoute({
  getParentRoute: () => signedIn,
  path: '/webhooks/$id',
  validateSearch: webhookSearch,
  component: lazyRouteComponent(() => import('./pages/webhook.tsx'), 'WebhookPage'),
});
const account = createRoute({
  getParentRoute: () => signedIn,
  path: '/account',
  component: lazyRouteComponent(() => import('./pages/account.tsx'), 'AccountPage'),
});
const ledger = createRoute({
  getParentRoute: () => signedIn,
  path: '/account/ledger',
  component: lazyRouteComponent(() => import('./pages/ledger.tsx'), 'LedgerPage'),
});
const members = createRoute({
  getParentRoute: () => signedIn,
  path: '/account/members',
  validateSearch: ({ invite }: Record<string, unknown>) => flagSearch('invite', invite),
  component: lazyRouteComponent(() => import('./pages/members.tsx'), 'MembersPage'),
});
const auditLog = createRoute({
  getParentRoute: () => signedIn,
  path: '/account/audit-log',
  validateSearch: auditLogSearch,
  component: lazyRouteComponent(() => import('./pages/audit-log.tsx'), 'AuditLogPage'),
});
const security = createRoute({
  getParentRoute: () => signedIn,
  path: '/security',
  component: lazyRouteComponent(() => import('./pages/security.tsx'), 'SecurityPage'),
});
const operator = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator',
  validateSearch: accountsSearch,
  component: lazyRouteComponent(() => import('./pages/operator.tsx'), 'OperatorPage'),
});
const operatorAccount = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/accounts/$id',
  component: lazyRouteComponent(() => import('./pages/operator-account.tsx'), 'OperatorAccountPage'),
});
const service = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/service',
  component: lazyRouteComponent(() => import('./pages/service.tsx'), 'ServicePage'),
});
const doctor = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/doctor',
  component: lazyRouteComponent(() => import('./pages/doctor.tsx'), 'DoctorPage'),
});
const disposableLists = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/lists',
  component: lazyRouteComponent(() => import('./pages/disposable-lists.tsx'), 'DisposableListsPage'),
});
const operatorJobs = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/jobs',
  component: lazyRouteComponent(() => import('./pages/jobs.tsx'), 'JobsPage'),
});
const operatorReplies = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/replies',
  component: lazyRouteComponent(() => import('./pages/replies.tsx'), 'RepliesPage'),
});
const operatorSignIns = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/sign-ins',
  component: lazyRouteComponent(() => import('./pages/operator-sign-ins.tsx'), 'OperatorSignInsPage'),
});

/** Every part with its states. The build leaves it out. */
const design = import.meta.env.DEV
  ? createRoute({
      getParentRoute: () => root,
      path: '/design',
      component: lazyRouteComponent(() => import('./pages/design.tsx'), 'DesignPage'),
    })
  : null;

const routeTree = root.addChildren([
  signedOut.addChildren([signIn, signUp, setup, resetPassword, verifyEmail, invitation]),
  ...(design === null ? [] : [design]),
  reference.addChildren([referenceStart, referenceOperation]),
  signedIn.addChildren([
    overview,
    usage,
    verify,
    lists,
    newList,
    list,
    log,
    logEntry,
    filters,
    keys,
    key,
    webhooks,
    webhook,
    account,
    ledger,
    members,
    auditLog,
    security,
    operator,
    operatorAccount,
    service,
    doctor,
    disposableLists,
    operatorJobs,
    operatorReplies,
    operatorSignIns,
  ]),
]);

export const createAppRouter = (options: { history?: RouterHistory; scrollRestoration?: boolean } = {}) =>
  createRouter({
    routeTree,
    rewrite: accountRewrite,
    // Pages would get what they do not understand as well.
    search: { strict: true },
    defaultPreload: 'intent',
    defaultErrorComponent: RouteError,
    defaultPendingComponent: LoadingPage,
    // The page before stays for as long.
    defaultPendingMs: 200,
    defaultPendingMinMs: 0,
    scrollRestoration: true,
    ...options,
  });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
