/**
 * The first view of a page as HTML, rendered by the service (src/http/dashboard/first-view-thread.ts) with the
 * components that take it over. Modules of the dashboard keep what they know of a document in variables: each view
 * needs a global object of its own, with the `location` of the page, and a `fetch` that answers for its user.
 */
import { createMemoryHistory } from '@tanstack/react-router';
import { renderToString } from 'react-dom/server.browser';
import { hasAccountPrefix, needsAccount, pathOf, pinAccount } from '../api/account-path.ts';
import { queryClient } from '../api/query-client.ts';
import { accountOf, sessionQuery } from '../api/session.ts';
import { App } from '../app.tsx';
import { router } from '../routes.tsx';
import type { Known } from './known.ts';

interface RenderedView {
  readonly html: string;
  /** Whose data is shown; null: nobody's. */
  readonly account: string | null;
  readonly known: Known;
}

const TEXT: Readonly<Record<string, string>> = { '&quot;': '"', '&#x27;': "'", '&amp;': '&' };

/**
 * The content security policy blocks style attributes in HTML: they become rules of a style element, as strong as they
 * are.
 */
function withStyleElement(html: string, nonce: string): string {
  const numbers = new Map<string, number>();
  const body = html.replaceAll(/ style="([^"]*)"/g, (_, escaped: string) => {
    const style = escaped.replaceAll(/&(?:quot|#x27|amp);/g, (entity) => TEXT[entity] ?? entity);
    // Nothing that could end the rule.
    if (/[<&{}]/.test(style)) return '';
    if (!numbers.has(style)) numbers.set(style, numbers.size);
    return ` data-style="${numbers.get(style)}"`;
  });
  const rules = [...numbers].map(([style, n]) => `#root [data-style="${n}"]{${style}}`);
  return `<style nonce="${nonce}">${rules.join('')}</style>${body}`;
}

/** Null: what the page shows is only known in the browser. */
async function render(nonce: string): Promise<RenderedView | null> {
  // Without a first view the page is only slower.
  queryClient.setDefaultOptions({ queries: { retry: false } });
  const { user, accounts } = await queryClient.ensureQueryData(sessionQuery);
  const isNamed = hasAccountPrefix(location.pathname);
  const inside = isNamed || needsAccount(location.pathname);
  const account = inside && user !== null ? accountOf(accounts) : null;
  if (inside ? account === null : user !== null) return null;
  if (account !== null) pinAccount(account.id);
  const pathname = account === null || isNamed ? location.pathname : pathOf(account.id, location.pathname);
  router.update({
    ...router.options,
    history: createMemoryHistory({ initialEntries: [pathname + location.search] }),
    // Its script is for a document that is hydrated.
    scrollRestoration: false,
  });
  await router.load();
  // A redirect.
  if (router.state.matches.length === 0) return null;
  const view = () => renderToString(<App nonce={nonce} />);
  // Tells which data the components ask for, and the title of the page.
  view();
  const queries = queryClient.getQueryCache();
  const wanted = queries.findAll({ predicate: ({ state }) => state.status === 'pending' });
  await Promise.all(wanted.map((query) => query.fetch()));
  const html = withStyleElement(view(), nonce);
  return {
    // Buttons do nothing yet, but submit.
    html: html.replaceAll('<button ', '<button inert ').replaceAll(/<button inert (?=[^>]*type="submit")/g, '<button '),
    account: account?.id ?? null,
    // The session of a visitor without one may be another in the browser: the cookie is not sent with links of other
    // sites.
    known: user === null ? [] : queries.getAll().map(({ queryKey, state }) => [queryKey, state.data]),
  };
}

// For the service, whose script this is.
Object.assign(globalThis, { renderFirstView: render });
