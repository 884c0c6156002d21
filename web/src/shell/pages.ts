import { t } from '@lingui/core/macro';
import { keysOf } from '../../../src/kernel/facts/keys-of.ts';
import { PAGE_FACTS, PAGES, type PageFacts, type PagePath } from '../../../src/kernel/facts/pages.ts';
import { isAtLeast } from '../../../src/kernel/facts/roles.ts';
import { useAccountOrNull, useSession } from '../api/session.ts';
import { factText } from '../parts/fact-text.ts';
import type { IconName } from '../parts/icon.tsx';

const GROUPS = {
  work: t`Work`,
  rules: t`Rules`,
  build: t`Build`,
  account: t`Account`,
  you: t`You`,
  operator: t`Operator`,
} as const;

/** Pages of those who have signed in, but for those that belong to another. */
type NavPath = {
  [P in PagePath]: (typeof PAGES)[P] extends { for: 'anyone' } | { under: string } ? never : P;
}[PagePath];

/** The navigation; groups, and pages of each, in their order. */
const NAVIGATION: Readonly<Record<NavPath, readonly [group: keyof typeof GROUPS, icon: IconName]>> = {
  '/': ['work', 'chart-bar'],
  '/verify': ['work', 'at'],
  '/lists': ['work', 'list-check'],
  '/log': ['work', 'logs'],
  '/outcomes': ['work', 'check'],
  '/filters': ['rules', 'filter'],
  '/policies': ['rules', 'scale'],
  '/settings/keys': ['build', 'key'],
  '/settings/hooks': ['build', 'login'],
  '/webhooks': ['build', 'webhook'],
  '/alerts': ['build', 'bell'],
  '/usage': ['account', 'chart-line'],
  '/account/ledger': ['account', 'receipt'],
  '/account/members': ['account', 'users'],
  '/account/audit-log': ['account', 'shield-check'],
  '/account': ['account', 'adjustments-horizontal'],
  '/security': ['you', 'lock'],
  '/operator': ['operator', 'building'],
  '/operator/keys': ['operator', 'tool'],
  '/operator/service': ['operator', 'activity'],
  '/operator/doctor': ['operator', 'stethoscope'],
  '/operator/lists': ['operator', 'database'],
  '/operator/jobs': ['operator', 'alert-triangle'],
  '/operator/replies': ['operator', 'message'],
  '/operator/sign-ins': ['operator', 'fingerprint'],
};

interface NavGroup {
  readonly name: keyof typeof GROUPS;
  readonly title: string;
  readonly pages: readonly { readonly to: NavPath; readonly label: string; readonly icon: IconName }[];
}

/** The pages that the user may open, in groups. */
export function useNavGroups(): readonly NavGroup[] {
  const { user } = useSession();
  const account = useAccountOrNull();
  const isShown = ({ for: whom, role = 'viewer', liveOnly }: PageFacts): boolean =>
    whom === 'account'
      ? account !== null && isAtLeast(account.role, role) && !(liveOnly && account.test)
      : whom === 'user' || user?.operator === true;
  const shown = keysOf(NAVIGATION).filter((to) => isShown(PAGES[to]));
  return keysOf(GROUPS).flatMap((name) => {
    const own = shown.filter((to) => NAVIGATION[to][0] === name);
    const pages = own.map((to) => ({ to, label: factText(PAGES[to].title), icon: NAVIGATION[to][1] }));
    return pages.length === 0 ? [] : [{ name, title: GROUPS[name], pages }];
  });
}

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
