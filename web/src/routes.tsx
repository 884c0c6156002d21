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
import type { PAGES, PagePath } from '../../src/kernel/facts/pages.ts';
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

type OpenPath = { [P in PagePath]: (typeof PAGES)[P]['for'] extends 'anyone' ? P : never }[PagePath];

/** What the routes of pages have in common. */
const pageOf =
  <P extends AnyRoute, Path extends PagePath>(parent: P) =>
  <const T extends Path, M extends Record<string, unknown>, N extends keyof M & string>(
    path: T,
    load: () => Promise<M>,
    name: N,
  ) => ({
    getParentRoute: () => parent,
    path,
    component: lazyPage(load, name),
  });
const outside = pageOf<typeof signedOut, OpenPath>(signedOut);
const inside = pageOf<typeof signedIn, Exclude<PagePath, OpenPath>>(signedIn);

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

// These lists are constants of their own: as arguments of `addChildren`, their paths would be any text to the compiler.
const outsidePages = [
  createRoute({
    ...outside('/sign-in', () => import('./pages/sign-in.tsx'), 'SignInPage'),
    validateSearch: (search: Record<string, unknown>) => ({ next: safeRedirect(search.next) }),
  }),
  createRoute({
    ...outside('/sign-in/oidc', () => import('./pages/oidc-return.tsx'), 'OidcReturnPage'),
  }),
  createRoute({
    ...outside('/sign-in/link', () => import('./pages/sign-in-link.tsx'), 'SignInLinkPage'),
  }),
  createRoute({ ...outside('/sign-up', () => import('./pages/sign-up.tsx'), 'SignUpPage') }),
  createRoute({ ...outside('/setup', () => import('./pages/setup.tsx'), 'SetupPage') }),
  createRoute({
    ...outside('/reset-password', () => import('./pages/reset-password.tsx'), 'ResetPasswordPage'),
  }),
  createRoute({
    ...outside('/verify-email', () => import('./pages/verify-email.tsx'), 'VerifyEmailPage'),
  }),
  createRoute({
    ...outside('/invitation', () => import('./pages/invitation.tsx'), 'InvitationPage'),
  }),
] as const;
const insidePages = [
  createRoute({
    ...inside('/', () => import('./pages/overview.tsx'), 'OverviewPage'),
    validateSearch: usageSearch,
  }),
  createRoute({
    ...inside('/usage', () => import('./pages/usage.tsx'), 'UsagePage'),
    validateSearch: usageSearch,
  }),
  createRoute({
    ...inside('/verify', () => import('./pages/verify.tsx'), 'VerifyPage'),
    validateSearch: verifySearch,
  }),
  createRoute({
    ...inside('/lists', () => import('./pages/lists.tsx'), 'ListsPage'),
    validateSearch: listsSearch,
  }),
  createRoute({ ...inside('/lists/new', () => import('./pages/new-list.tsx'), 'NewListPage') }),
  createRoute({
    ...inside('/lists/$id', () => import('./pages/list.tsx'), 'ListPage'),
    validateSearch: listSearch,
  }),
  createRoute({
    ...inside('/log', () => import('./pages/log.tsx'), 'LogPage'),
    validateSearch: logSearch,
  }),
  createRoute({ ...inside('/log/$id', () => import('./pages/log-entry.tsx'), 'LogEntryPage') }),
  createRoute({
    ...inside('/outcomes', () => import('./pages/outcomes.tsx'), 'OutcomesPage'),
    validateSearch: ({ create }: Record<string, unknown>) => flagSearch('create', create),
  }),
  createRoute({
    ...inside('/filters', () => import('./pages/filters.tsx'), 'FiltersPage'),
    validateSearch: filtersSearch,
  }),
  createRoute({ ...inside('/policies', () => import('./pages/policies.tsx'), 'PoliciesPage') }),
  createRoute({ ...inside('/policies/$name', () => import('./pages/policy.tsx'), 'PolicyPage') }),
  createRoute({
    ...inside('/settings/keys', () => import('./pages/keys.tsx'), 'KeysPage'),
    validateSearch: keysSearch,
  }),
  createRoute({
    ...inside('/settings/keys/$id', () => import('./pages/key.tsx'), 'KeyPage'),
    validateSearch: (search: Record<string, unknown>) => ({ ...timeSearch(search), ...sourceSearch(search) }),
  }),
  createRoute({
    ...inside('/settings/hooks', () => import('./pages/hooks.tsx'), 'HooksPage'),
    validateSearch: ({ create }: Record<string, unknown>) => flagSearch('create', create),
  }),
  createRoute({
    ...inside('/webhooks', () => import('./pages/webhooks.tsx'), 'WebhooksPage'),
    validateSearch: ({ create }: Record<string, unknown>) => flagSearch('create', create),
  }),
  createRoute({
    ...inside('/webhooks/$id', () => import('./pages/webhook.tsx'), 'WebhookPage'),
    validateSearch: webhookSearch,
  }),
  createRoute({ ...inside('/alerts', () => import('./pages/alerts.tsx'), 'AlertsPage') }),
  createRoute({ ...inside('/account', () => import('./pages/account.tsx'), 'AccountPage') }),
  createRoute({ ...inside('/account/ledger', () => import('./pages/ledger.tsx'), 'LedgerPage') }),
  createRoute({
    ...inside('/account/members', () => import('./pages/members.tsx'), 'MembersPage'),
    validateSearch: ({ invite }: Record<string, unknown>) => flagSearch('invite', invite),
  }),
  createRoute({
    ...inside('/account/audit-log', () => import('./pages/audit-log.tsx'), 'AuditLogPage'),
    validateSearch: auditLogSearch,
  }),
  createRoute({ ...inside('/security', () => import('./pages/security.tsx'), 'SecurityPage') }),
  createRoute({
    ...inside('/operator', () => import('./pages/operator.tsx'), 'OperatorPage'),
    validateSearch: accountsSearch,
  }),
  createRoute({
    ...inside('/operator/accounts/$id', () => import('./pages/operator-account.tsx'), 'OperatorAccountPage'),
  }),
  createRoute({
    ...inside('/operator/keys', () => import('./pages/operator-keys.tsx'), 'OperatorKeysPage'),
  }),
  createRoute({ ...inside('/operator/service', () => import('./pages/service.tsx'), 'ServicePage') }),
  createRoute({ ...inside('/operator/doctor', () => import('./pages/doctor.tsx'), 'DoctorPage') }),
  createRoute({
    ...inside('/operator/lists', () => import('./pages/disposable-lists.tsx'), 'DisposableListsPage'),
  }),
  createRoute({ ...inside('/operator/jobs', () => import('./pages/jobs.tsx'), 'JobsPage') }),
  createRoute({
    ...inside('/operator/replies', () => import('./pages/replies.tsx'), 'RepliesPage'),
  }),
  createRoute({
    ...inside('/operator/sign-ins', () => import('./pages/operator-sign-ins.tsx'), 'OperatorSignInsPage'),
  }),
] as const;

const routeTree = root.addChildren([
  signedOut.addChildren(outsidePages),
  ...(design === null ? [] : [design]),
  reference.addChildren([referenceStart, referenceOperation]),
  signedIn.addChildren([...insidePages, unknown]),
]);

/** Does not compile where a page of the table has no route. */
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
  }) satisfies { readonly routesByPath: Readonly<Record<PagePath, AnyRoute>> };

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
