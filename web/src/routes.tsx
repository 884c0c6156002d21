import {
  type AnyRoute,
  createRootRoute,
  createRoute,
  createRouter,
  notFound,
  type RouterHistory,
  redirect,
} from '@tanstack/react-router';
import { ADDRESS_LENGTH } from '../../src/kernel/facts/limits.ts';
import type { PagePath } from '../../src/kernel/facts/pages.ts';
import { accountIn, accountRewrite, needsAccount, pinAccount } from './api/account-path.ts';
import { queryClient } from './api/query-client.ts';
import { accountOf, sessionQuery } from './api/session.ts';
import { auditLogSearch } from './pages/audit-log/search.ts';
import { filtersSearch } from './pages/filters/search.ts';
import { keysSearch } from './pages/keys/search.ts';
import { listSearch, listsSearch } from './pages/lists/search.ts';
import { logSearch } from './pages/log/search.ts';
import { accountsSearch } from './pages/operator/search.ts';
import { usageSearch } from './pages/usage/search.ts';
import { webhookSearch } from './pages/webhooks/search.ts';
import { lazyPage } from './parts/lazy.tsx';
import { LoadingPage } from './parts/loading.tsx';
import { NotFound } from './parts/not-found.tsx';
import { flagSearch, textOf } from './parts/search-params.ts';
import { sourceSearch } from './parts/source.ts';
import { timeSearch } from './parts/time.ts';
import { takeEarlyFind } from './shell/early-find.ts';
import { Root, SignedOutLayout } from './shell/root.tsx';
import { RootError, RouteError } from './shell/route-error.tsx';

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
  beforeLoad: () => {
    if (typeof document !== 'undefined') takeEarlyFind();
    return queryClient.ensureQueryData(sessionQuery);
  },
});

/** Pages that need a session. Others are sent to the sign-in page and come back. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: lazyPage(() => import('./shell/shell.tsx'), 'Shell'),
  errorComponent: RootError,
  beforeLoad: async ({ location, matches }) => {
    const { user, accounts } = await queryClient.ensureQueryData(sessionQuery);
    // Signing in would not help.
    if (user === null && matches.at(-1)?.routeId === unknown.id) throw notFound();
    if (user === null) throw redirect({ to: '/sign-in', search: { next: location.publicHref } });
    const account = accountOf(accounts);
    if (account === null) return;
    pinAccount(account.id);
    if (needsAccount(location.pathname) && accountIn(location.publicHref) === null)
      throw redirect({ href: location.href, replace: true });
  },
});

/** What the routes of pages have in common. */
const pageOf =
  <P extends AnyRoute>(parent: P) =>
  <const T extends PagePath, M extends Record<string, unknown>, N extends keyof M & string>(
    path: T,
    load: () => Promise<M>,
    name: N,
  ) => ({
    getParentRoute: () => parent,
    path,
    component: lazyPage(load, name),
  });
const ofSignedOut = pageOf(signedOut);
const ofSignedIn = pageOf(signedIn);

const signIn = createRoute({
  ...ofSignedOut('/sign-in', () => import('./pages/sign-in.tsx'), 'SignInPage'),
  validateSearch: (search: Record<string, unknown>) => ({ next: safeRedirect(search.next) }),
});
const oidcReturn = createRoute({
  ...ofSignedOut('/sign-in/oidc', () => import('./pages/oidc-return.tsx'), 'OidcReturnPage'),
});
const signInLink = createRoute({
  ...ofSignedOut('/sign-in/link', () => import('./pages/sign-in-link.tsx'), 'SignInLinkPage'),
});
const signUp = createRoute({ ...ofSignedOut('/sign-up', () => import('./pages/sign-up.tsx'), 'SignUpPage') });
const setup = createRoute({ ...ofSignedOut('/setup', () => import('./pages/setup.tsx'), 'SetupPage') });
const resetPassword = createRoute({
  ...ofSignedOut('/reset-password', () => import('./pages/reset-password.tsx'), 'ResetPasswordPage'),
});
const verifyEmail = createRoute({
  ...ofSignedOut('/verify-email', () => import('./pages/verify-email.tsx'), 'VerifyEmailPage'),
});
const invitation = createRoute({
  ...ofSignedOut('/invitation', () => import('./pages/invitation.tsx'), 'InvitationPage'),
});

const reference = createRoute({
  getParentRoute: () => root,
  path: '/docs',
  component: lazyPage(() => import('./pages/reference.tsx'), 'ReferenceLayout'),
  errorComponent: RootError,
});
const referenceStart = createRoute({
  getParentRoute: () => reference,
  path: '/',
  component: lazyPage(() => import('./pages/reference.tsx'), 'ReferencePage'),
});
const referenceOperation = createRoute({
  getParentRoute: () => reference,
  path: '/$operation',
  component: lazyPage(() => import('./pages/reference.tsx'), 'ReferenceOperationPage'),
});

const overview = createRoute({
  ...ofSignedIn('/', () => import('./pages/overview.tsx'), 'OverviewPage'),
  validateSearch: usageSearch,
});
const usage = createRoute({
  ...ofSignedIn('/usage', () => import('./pages/usage.tsx'), 'UsagePage'),
  validateSearch: usageSearch,
});
const verify = createRoute({
  ...ofSignedIn('/verify', () => import('./pages/verify.tsx'), 'VerifyPage'),
  validateSearch: verifySearch,
});
const lists = createRoute({
  ...ofSignedIn('/lists', () => import('./pages/lists.tsx'), 'ListsPage'),
  validateSearch: listsSearch,
});
const newList = createRoute({ ...ofSignedIn('/lists/new', () => import('./pages/new-list.tsx'), 'NewListPage') });
const list = createRoute({
  ...ofSignedIn('/lists/$id', () => import('./pages/list.tsx'), 'ListPage'),
  validateSearch: listSearch,
});
const log = createRoute({
  ...ofSignedIn('/log', () => import('./pages/log.tsx'), 'LogPage'),
  validateSearch: logSearch,
});
const logEntry = createRoute({ ...ofSignedIn('/log/$id', () => import('./pages/log-entry.tsx'), 'LogEntryPage') });
const outcomes = createRoute({
  ...ofSignedIn('/outcomes', () => import('./pages/outcomes.tsx'), 'OutcomesPage'),
  validateSearch: ({ create }: Record<string, unknown>) => flagSearch('create', create),
});
const filters = createRoute({
  ...ofSignedIn('/filters', () => import('./pages/filters.tsx'), 'FiltersPage'),
  validateSearch: filtersSearch,
});
const policies = createRoute({ ...ofSignedIn('/policies', () => import('./pages/policies.tsx'), 'PoliciesPage') });
const policy = createRoute({ ...ofSignedIn('/policies/$name', () => import('./pages/policy.tsx'), 'PolicyPage') });
const keys = createRoute({
  ...ofSignedIn('/settings/keys', () => import('./pages/keys.tsx'), 'KeysPage'),
  validateSearch: keysSearch,
});
const key = createRoute({
  ...ofSignedIn('/settings/keys/$id', () => import('./pages/key.tsx'), 'KeyPage'),
  validateSearch: (search: Record<string, unknown>) => ({ ...timeSearch(search), ...sourceSearch(search) }),
});
const hooks = createRoute({
  ...ofSignedIn('/settings/hooks', () => import('./pages/hooks.tsx'), 'HooksPage'),
  validateSearch: ({ create }: Record<string, unknown>) => flagSearch('create', create),
});
const webhooks = createRoute({
  ...ofSignedIn('/webhooks', () => import('./pages/webhooks.tsx'), 'WebhooksPage'),
  validateSearch: ({ create }: Record<string, unknown>) => flagSearch('create', create),
});
const webhook = createRoute({
  ...ofSignedIn('/webhooks/$id', () => import('./pages/webhook.tsx'), 'WebhookPage'),
  validateSearch: webhookSearch,
});
const alerts = createRoute({ ...ofSignedIn('/alerts', () => import('./pages/alerts.tsx'), 'AlertsPage') });
const account = createRoute({ ...ofSignedIn('/account', () => import('./pages/account.tsx'), 'AccountPage') });
const ledger = createRoute({ ...ofSignedIn('/account/ledger', () => import('./pages/ledger.tsx'), 'LedgerPage') });
const members = createRoute({
  ...ofSignedIn('/account/members', () => import('./pages/members.tsx'), 'MembersPage'),
  validateSearch: ({ invite }: Record<string, unknown>) => flagSearch('invite', invite),
});
const auditLog = createRoute({
  ...ofSignedIn('/account/audit-log', () => import('./pages/audit-log.tsx'), 'AuditLogPage'),
  validateSearch: auditLogSearch,
});
const security = createRoute({ ...ofSignedIn('/security', () => import('./pages/security.tsx'), 'SecurityPage') });
const operator = createRoute({
  ...ofSignedIn('/operator', () => import('./pages/operator.tsx'), 'OperatorPage'),
  validateSearch: accountsSearch,
});
const operatorAccount = createRoute({
  ...ofSignedIn('/operator/accounts/$id', () => import('./pages/operator-account.tsx'), 'OperatorAccountPage'),
});
const operatorKeys = createRoute({
  ...ofSignedIn('/operator/keys', () => import('./pages/operator-keys.tsx'), 'OperatorKeysPage'),
});
const service = createRoute({ ...ofSignedIn('/operator/service', () => import('./pages/service.tsx'), 'ServicePage') });
const doctor = createRoute({ ...ofSignedIn('/operator/doctor', () => import('./pages/doctor.tsx'), 'DoctorPage') });
const disposableLists = createRoute({
  ...ofSignedIn('/operator/lists', () => import('./pages/disposable-lists.tsx'), 'DisposableListsPage'),
});
const operatorJobs = createRoute({ ...ofSignedIn('/operator/jobs', () => import('./pages/jobs.tsx'), 'JobsPage') });
const operatorReplies = createRoute({
  ...ofSignedIn('/operator/replies', () => import('./pages/replies.tsx'), 'RepliesPage'),
});
const operatorSignIns = createRoute({
  ...ofSignedIn('/operator/sign-ins', () => import('./pages/operator-sign-ins.tsx'), 'OperatorSignInsPage'),
});

/** What is no page, for users: it keeps the navigation. */
const unknown = createRoute({ getParentRoute: () => signedIn, path: '$', component: () => <NotFound inside /> });

/** Every part with its states. The build leaves it out. */
const design = import.meta.env.DEV
  ? createRoute({
      getParentRoute: () => root,
      path: '/design',
      component: lazyPage(() => import('./pages/design.tsx'), 'DesignPage'),
    })
  : null;

const routeTree = root.addChildren([
  signedOut.addChildren([signIn, oidcReturn, signInLink, signUp, setup, resetPassword, verifyEmail, invitation]),
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
    outcomes,
    filters,
    policies,
    policy,
    keys,
    key,
    hooks,
    webhooks,
    webhook,
    alerts,
    account,
    ledger,
    members,
    auditLog,
    security,
    operator,
    operatorAccount,
    operatorKeys,
    service,
    doctor,
    disposableLists,
    operatorJobs,
    operatorReplies,
    operatorSignIns,
    unknown,
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
