import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { queryClient } from './api/query-client.ts';
import { sessionQuery } from './api/session.ts';
import { filtersSearch } from './pages/filters/search.ts';
import { keysSearch } from './pages/keys/search.ts';
import { logSearch } from './pages/log/search.ts';
import { accountsSearch } from './pages/operator/search.ts';
import { usageSearch } from './pages/usage/range.ts';
import { Loading } from './parts/loading.tsx';
import { NotFound } from './parts/not-found.tsx';
import { Root, SignedOut } from './shell/root.tsx';
import { Stopped, StoppedBefore } from './shell/stopped.tsx';

const root = createRootRoute({ component: Root, notFoundComponent: () => <NotFound /> });

/** Pages for anybody. */
const open = createRoute({
  getParentRoute: () => root,
  id: 'open',
  component: SignedOut,
  errorComponent: StoppedBefore,
  beforeLoad: () => queryClient.ensureQueryData(sessionQuery),
});

/** Pages for who is signed in; everybody else is asked to, and comes back. */
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: lazyRouteComponent(() => import('./shell/shell.tsx'), 'Shell'),
  errorComponent: StoppedBefore,
  beforeLoad: async ({ location }) => {
    const { user } = await queryClient.ensureQueryData(sessionQuery);
    if (user === null) throw redirect({ to: '/sign-in', search: { next: location.href } });
  },
});

/** Where a person goes after signing in: a path of this page, nothing else. */
export function safeNext(next: unknown): string {
  if (typeof next !== 'string' || !next.startsWith('/') || next.startsWith('/sign-in')) return '/';
  // As the browser reads it: `//host`, `/\host` and a tab between the slashes all lead elsewhere.
  const { origin } = location;
  return URL.canParse(next, origin) && new URL(next, origin).origin === origin ? next : '/';
}

const signIn = createRoute({
  getParentRoute: () => open,
  path: '/sign-in',
  validateSearch: (search: Record<string, unknown>) => ({ next: safeNext(search.next) }),
  component: lazyRouteComponent(() => import('./pages/sign-in.tsx'), 'SignInPage'),
});
const signUp = createRoute({
  getParentRoute: () => open,
  path: '/sign-up',
  component: lazyRouteComponent(() => import('./pages/sign-up.tsx'), 'SignUpPage'),
});
const setup = createRoute({
  getParentRoute: () => open,
  path: '/setup',
  component: lazyRouteComponent(() => import('./pages/setup.tsx'), 'SetupPage'),
});
const resetPassword = createRoute({
  getParentRoute: () => open,
  path: '/reset-password',
  component: lazyRouteComponent(() => import('./pages/reset-password.tsx'), 'ResetPasswordPage'),
});
const verifyEmail = createRoute({
  getParentRoute: () => open,
  path: '/verify-email',
  component: lazyRouteComponent(() => import('./pages/verify-email.tsx'), 'VerifyEmailPage'),
});
const invitation = createRoute({
  getParentRoute: () => open,
  path: '/invitation',
  component: lazyRouteComponent(() => import('./pages/invitation.tsx'), 'InvitationPage'),
});

const overview = createRoute({
  getParentRoute: () => inside,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/overview.tsx'), 'OverviewPage'),
});
const usage = createRoute({
  getParentRoute: () => inside,
  path: '/usage',
  validateSearch: usageSearch,
  component: lazyRouteComponent(() => import('./pages/usage.tsx'), 'UsagePage'),
});
const verify = createRoute({
  getParentRoute: () => inside,
  path: '/verify',
  component: lazyRouteComponent(() => import('./pages/verify.tsx'), 'VerifyPage'),
});
const log = createRoute({
  getParentRoute: () => inside,
  path: '/log',
  validateSearch: logSearch,
  component: lazyRouteComponent(() => import('./pages/log.tsx'), 'LogPage'),
});
const logEntry = createRoute({
  getParentRoute: () => inside,
  path: '/log/$id',
  component: lazyRouteComponent(() => import('./pages/log-entry.tsx'), 'LogEntryPage'),
});
const filters = createRoute({
  getParentRoute: () => inside,
  path: '/filters',
  validateSearch: filtersSearch,
  component: lazyRouteComponent(() => import('./pages/filters.tsx'), 'FiltersPage'),
});
const keys = createRoute({
  getParentRoute: () => inside,
  path: '/settings/keys',
  validateSearch: keysSearch,
  component: lazyRouteComponent(() => import('./pages/keys.tsx'), 'KeysPage'),
});
const account = createRoute({
  getParentRoute: () => inside,
  path: '/account',
  component: lazyRouteComponent(() => import('./pages/account.tsx'), 'AccountPage'),
});
const ledger = createRoute({
  getParentRoute: () => inside,
  path: '/account/ledger',
  component: lazyRouteComponent(() => import('./pages/ledger.tsx'), 'LedgerPage'),
});
const members = createRoute({
  getParentRoute: () => inside,
  path: '/account/members',
  component: lazyRouteComponent(() => import('./pages/members.tsx'), 'MembersPage'),
});
const trail = createRoute({
  getParentRoute: () => inside,
  path: '/account/trail',
  component: lazyRouteComponent(() => import('./pages/trail.tsx'), 'TrailPage'),
});
const security = createRoute({
  getParentRoute: () => inside,
  path: '/security',
  component: lazyRouteComponent(() => import('./pages/security.tsx'), 'SecurityPage'),
});
const operator = createRoute({
  getParentRoute: () => inside,
  path: '/operator',
  validateSearch: accountsSearch,
  component: lazyRouteComponent(() => import('./pages/operator.tsx'), 'OperatorPage'),
});
const operatorAccount = createRoute({
  getParentRoute: () => inside,
  path: '/operator/accounts/$id',
  component: lazyRouteComponent(() => import('./pages/operator-account.tsx'), 'OperatorAccountPage'),
});
const doctor = createRoute({
  getParentRoute: () => inside,
  path: '/operator/doctor',
  component: lazyRouteComponent(() => import('./pages/doctor.tsx'), 'DoctorPage'),
});
const lists = createRoute({
  getParentRoute: () => inside,
  path: '/operator/lists',
  component: lazyRouteComponent(() => import('./pages/lists.tsx'), 'ListsPage'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    open.addChildren([signIn, signUp, setup, resetPassword, verifyEmail, invitation]),
    inside.addChildren([
      overview,
      usage,
      verify,
      log,
      logEntry,
      filters,
      keys,
      account,
      ledger,
      members,
      trail,
      security,
      operator,
      operatorAccount,
      doctor,
      lists,
    ]),
  ]),
  defaultPreload: 'intent',
  defaultErrorComponent: Stopped,
  defaultPendingComponent: Loading,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
