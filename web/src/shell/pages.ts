import type { LinkProps } from '@tanstack/react-router';
import type { Role } from '../api/session.ts';
import type { IconName } from '../parts/icon.tsx';

interface NavPage {
  readonly to: NonNullable<LinkProps['to']>;
  readonly label: string;
  readonly icon: IconName;
  /** Hidden from others. */
  readonly role?: Role;
  /** About the account itself, not its data: not part of test mode. */
  readonly liveOnly?: true;
  /** Its details are at paths below this one. */
  readonly below?: string;
}

export interface NavGroup {
  readonly title: string;
  /** Which users see it: members of an account, everyone, operators. */
  readonly for: 'account' | 'user' | 'operator';
  readonly pages: readonly NavPage[];
}

/** The navigation, in order. A page without an account belongs into a group for users or operators. */
export const NAV_GROUPS: readonly NavGroup[] = [
  {
    title: 'Work',
    for: 'account',
    pages: [
      { to: '/', label: 'Overview', icon: 'chart-bar' },
      { to: '/verify', label: 'Verify', icon: 'at' },
      { to: '/lists', label: 'Lists', icon: 'list-check', below: '/lists/' },
      { to: '/log', label: 'Log', icon: 'logs', below: '/log/' },
    ],
  },
  { title: 'Rules', for: 'account', pages: [{ to: '/filters', label: 'Filters', icon: 'filter' }] },
  {
    title: 'Build',
    for: 'account',
    pages: [
      { to: '/settings/keys', label: 'API keys', icon: 'key', below: '/settings/keys/' },
      { to: '/webhooks', label: 'Webhooks', icon: 'webhook', below: '/webhooks/' },
    ],
  },
  {
    title: 'Account',
    for: 'account',
    pages: [
      { to: '/usage', label: 'Usage', icon: 'chart-line' },
      { to: '/account/ledger', label: 'Credit ledger', icon: 'receipt', liveOnly: true },
      { to: '/account/members', label: 'Members', icon: 'users', liveOnly: true },
      { to: '/account/audit-log', label: 'Audit log', icon: 'shield-check', role: 'admin' },
      { to: '/account', label: 'Account', icon: 'adjustments-horizontal', liveOnly: true },
    ],
  },
  { title: 'You', for: 'user', pages: [{ to: '/security', label: 'Sign-in and security', icon: 'fingerprint' }] },
  {
    title: 'Operator',
    for: 'operator',
    pages: [
      { to: '/operator', label: 'Accounts', icon: 'building', below: '/operator/accounts/' },
      { to: '/operator/service', label: 'Service', icon: 'activity' },
      { to: '/operator/doctor', label: 'Doctor', icon: 'stethoscope' },
      { to: '/operator/lists', label: 'Disposable lists', icon: 'database' },
      { to: '/operator/jobs', label: 'Failed jobs', icon: 'activity' },
      { to: '/operator/replies', label: 'SMTP replies', icon: 'logs' },
      { to: '/operator/sign-ins', label: 'Sign-ins', icon: 'fingerprint' },
    ],
  },
];

export const isCurrent = (pathname: string, { to, below }: NavPage): boolean =>
  pathname === to || (below !== undefined && pathname.startsWith(below));

export const isLiveOnly = (pathname: string): boolean =>
  NAV_GROUPS.some(({ pages }) => pages.some((page) => page.liveOnly === true && isCurrent(pathname, page)));
