import { PAGE_FACTS } from '../../../src/kernel/facts/pages.ts';

/**
 * The account in the URL: `/accounts/acc_…/log`. The router sees `/log`, so that links name pages only and stay within
 * the account of their tab. Pages without an account have no prefix. Switching the account reloads the page: all that
 * one document shows belongs to one account.
 */

const WITH_ACCOUNT = /^\/accounts\/([^/]+)(\/.*)?$/;
/** First segments of pages that are not of an account: `/design` is there in development. */
const WITHOUT_ACCOUNT: ReadonlySet<string> = new Set([
  ...PAGE_FACTS.filter((page) => page.for !== 'account').map(({ path }) => path.split('/')[1] ?? ''),
  'design',
  'accounts',
]);
const STORAGE_KEY = 'mailvet.account';

/** The account that a path names; null: none. */
export const accountIn = (pathname: string): string | null => WITH_ACCOUNT.exec(pathname)?.[1] ?? null;

/** The account that the URL of this document named last. */
let pinned = accountIn(location.pathname);

/** The account of this document, if its URL names or has named one. It may be one that the user cannot see. */
export const pinnedAccount = (): string | null => pinned;

/** The account that this browser opened last: an id, no secret. */
export const lastAccount = (): string | null => localStorage.getItem(STORAGE_KEY);

/** From here on, links of this document lead to pages of this account; null: to those of none. */
export function pinAccount(id: string | null): void {
  pinned = id;
  if (id !== null && lastAccount() !== id) localStorage.setItem(STORAGE_KEY, id);
}

export const needsAccount = (pathname: string): boolean => !WITHOUT_ACCOUNT.has(pathname.split('/')[1] ?? '');

/** Opens a page of another account. `path`: as the router sees it. */
export const openAccount = (id: string, path = '/'): void => window.location.assign(pathOf(id, path));

/** The URL of a page of the account. */
export const pathOf = (id: string, path: string): string =>
  `/accounts/${encodeURIComponent(id)}${path === '/' ? '' : path}`;

/** For the router: from the URL to the path of a page, and back. */
export const accountRewrite = {
  input({ url }: { url: URL }): URL {
    const path = WITH_ACCOUNT.exec(url.pathname);
    if (path !== null) url.pathname = path[2] ?? '/';
    return url;
  },
  output({ url }: { url: URL }): URL {
    if (pinned !== null && needsAccount(url.pathname)) url.pathname = pathOf(pinned, url.pathname);
    return url;
  },
};
