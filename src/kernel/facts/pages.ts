import type { Role } from './roles.ts';

export interface PageFacts {
  readonly title: string;
  /** Who may open it: anyone, every user, members of an account, operators. */
  readonly for: 'anyone' | 'user' | 'account' | 'operator';
  /** The least role that sees it in the navigation. */
  readonly role?: Role;
  /** It concerns the account itself, not its data, and is not part of test mode. */
  readonly liveOnly?: true;
  /** Its content is in the HTML. */
  readonly firstView?: true;
  /** The page in the navigation to which it belongs. */
  readonly under?: string;
}

/** The pages of the dashboard, by path. `$id` is a parameter; pages of an account are also below `/accounts/acc_…`. */
export const PAGES = {
  '/': { title: 'Overview', for: 'account', firstView: true },
  '/verify': { title: 'Verify', for: 'account', role: 'member' },
  '/lists': { title: 'Lists', for: 'account' },
  '/lists/new': { title: 'New list', for: 'account', role: 'member', under: '/lists' },
  '/lists/$id': { title: 'List', for: 'account', under: '/lists' },
  '/log': { title: 'Log', for: 'account' },
  '/log/$id': { title: 'Verification', for: 'account', under: '/log' },
  '/outcomes': { title: 'Outcomes', for: 'account' },
  '/filters': { title: 'Filters', for: 'account' },
  '/policies': { title: 'Policies', for: 'account' },
  '/policies/$name': { title: 'Policy', for: 'account', under: '/policies' },
  '/settings/keys': { title: 'API keys', for: 'account' },
  '/settings/keys/$id': { title: 'API key', for: 'account', under: '/settings/keys' },
  '/settings/hooks': { title: 'Auth hooks', for: 'account' },
  '/webhooks': { title: 'Webhooks', for: 'account' },
  '/webhooks/$id': { title: 'Webhook', for: 'account', under: '/webhooks' },
  '/alerts': { title: 'Alerts', for: 'account', liveOnly: true },
  '/usage': { title: 'Usage', for: 'account' },
  '/account/ledger': { title: 'Credit ledger', for: 'account', liveOnly: true },
  '/account/members': { title: 'Members', for: 'account', liveOnly: true },
  '/account/audit-log': { title: 'Audit log', for: 'account', role: 'admin' },
  '/account': { title: 'Account', for: 'account', liveOnly: true },
  '/security': { title: 'Sign-in and security', for: 'user' },
  '/operator': { title: 'Accounts', for: 'operator' },
  '/operator/accounts/$id': { title: 'Account', for: 'operator', under: '/operator' },
  '/operator/keys': { title: 'Operator keys', for: 'operator' },
  '/operator/service': { title: 'Service', for: 'operator' },
  '/operator/doctor': { title: 'Doctor', for: 'operator' },
  '/operator/lists': { title: 'Disposable lists', for: 'operator' },
  '/operator/jobs': { title: 'Failed jobs', for: 'operator' },
  '/operator/replies': { title: 'SMTP replies', for: 'operator' },
  '/operator/sign-ins': { title: 'Sign-ins', for: 'operator' },
  '/sign-in': { title: 'Sign in', for: 'anyone', firstView: true },
  '/sign-in/oidc': { title: 'Sign in', for: 'anyone' },
  '/sign-in/link': { title: 'Sign in', for: 'anyone' },
  '/sign-up': { title: 'Sign up', for: 'anyone', firstView: true },
  '/setup': { title: 'Set up Mailvet', for: 'anyone', firstView: true },
  '/reset-password': { title: 'Reset your password', for: 'anyone', firstView: true },
  '/verify-email': { title: 'Verify your email address', for: 'anyone' },
  '/invitation': { title: 'Invitation', for: 'anyone', firstView: true },
  '/docs': { title: 'API reference', for: 'anyone' },
  '/docs/$operation': { title: 'API reference', for: 'anyone', under: '/docs' },
} as const satisfies Readonly<Record<string, PageFacts>>;

export type PagePath = keyof typeof PAGES;
const facts: Readonly<Record<PagePath, PageFacts>> = PAGES;
export const PAGE_FACTS: readonly (PageFacts & { readonly path: string })[] = Object.entries(facts).map(
  ([path, page]) => ({ path, ...page }),
);
