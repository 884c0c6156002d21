import { t } from '@lingui/core/macro';
import { keysOf } from '../../../src/kernel/facts/keys-of.ts';
import { PAGE_FACTS, PAGES, type PagePath } from '../../../src/kernel/facts/pages.ts';
import { isAtLeast } from '../../../src/kernel/facts/roles.ts';
import { useAccountOrNull, useSession } from '../api/session.ts';
import { factText } from '../parts/fact-text.ts';
import type { IconName } from '../parts/icon.tsx';

type NavPath = Exclude<PagePath, `${string}$${string}`>;
type Whom = 'account' | 'user' | 'operator';

/** The navigation, in order; icons of pages by path. */
const NAVIGATION: readonly (readonly [
  title: string,
  whom: Whom,
  pages: Readonly<Partial<Record<NavPath, IconName>>>,
])[] = [
  [
    t`Work`,
    'account',
    { '/': 'chart-bar', '/verify': 'at', '/lists': 'list-check', '/log': 'logs', '/outcomes': 'check' },
  ],
  [t`Rules`, 'account', { '/filters': 'filter', '/policies': 'scale' }],
  [
    t`Build`,
    'account',
    { '/settings/keys': 'key', '/settings/hooks': 'login', '/webhooks': 'webhook', '/alerts': 'bell' },
  ],
  [
    t`Account`,
    'account',
    {
      '/usage': 'chart-line',
      '/account/ledger': 'receipt',
      '/account/members': 'users',
      '/account/audit-log': 'shield-check',
      '/account': 'adjustments-horizontal',
    },
  ],
  [t`You`, 'user', { '/security': 'lock' }],
  [
    t`Operator`,
    'operator',
    {
      '/operator': 'building',
      '/operator/keys': 'tool',
      '/operator/service': 'activity',
      '/operator/doctor': 'stethoscope',
      '/operator/lists': 'database',
      '/operator/jobs': 'alert-triangle',
      '/operator/replies': 'message',
      '/operator/sign-ins': 'fingerprint',
    },
  ],
];

interface NavGroup {
  readonly title: string;
  /** Which users see it: members of an account, everyone, operators. */
  readonly for: Whom;
  readonly pages: readonly { readonly to: NavPath; readonly label: string; readonly icon: IconName }[];
}

/** The pages that the user may open, in groups. */
export function useNavGroups(): readonly NavGroup[] {
  const { user } = useSession();
  const account = useAccountOrNull();
  const mine = account?.role ?? 'viewer';
  const seen: Readonly<Record<Whom, boolean>> = {
    account: account !== null,
    user: true,
    operator: user?.operator === true,
  };
  const shown = new Set(
    PAGE_FACTS.filter(({ role = 'viewer', liveOnly }) => isAtLeast(mine, role) && !(liveOnly && account?.test)).map(
      ({ path }) => path,
    ),
  );
  return NAVIGATION.filter(([, whom]) => seen[whom]).map(([title, whom, icons]) => ({
    title,
    for: whom,
    pages: navPaths(icons).flatMap((to) => {
      const icon = icons[to];
      return icon !== undefined && shown.has(to) ? [{ to, label: factText(PAGES[to].title), icon }] : [];
    }),
  }));
}

const navPaths = (icons: object) => keysOf(PAGES).filter((path): path is NavPath => Object.hasOwn(icons, path));

/** Whether it is one of the pages for operators: these are one entry of the navigation, with tabs. */
export const isOfOperator = (pathname: string): boolean =>
  pathname === '/operator' || pathname.startsWith('/operator/');

/** Whether `pathname` is the page, or one of those below it. */
export const isCurrent = (pathname: string, to: string): boolean =>
  pathname === to ||
  PAGE_FACTS.some(({ path, under }) => under === to && pathname.startsWith(path.split('$')[0] ?? path));

/** The page of which `pathname` shows one row; null: it is in the navigation itself. */
export const sectionOf = (pathname: string): PagePath | null =>
  keysOf(PAGES).find((to) => to !== pathname && isCurrent(pathname, to)) ?? null;

export const isLiveOnly = (pathname: string): boolean =>
  PAGE_FACTS.some(({ path, liveOnly }) => liveOnly === true && path === pathname);

/** The page of an account to which a path belongs: the same in test mode, or in another account. */
export const samePage = (pathname: string): string =>
  PAGE_FACTS.find((page) => page.for === 'account' && page.under === undefined && isCurrent(pathname, page.path))
    ?.path ?? '/';
