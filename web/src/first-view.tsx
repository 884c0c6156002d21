/**
 * The first view of a page as HTML, rendered by a thread of the service (src/http/dashboard/first-view-thread.ts) with
 * the `location` of the page, in the language of this module's URL, and a `fetch` that answers for its user. One view
 * at a time: what modules of the dashboard know of a document is set anew for each.
 */
import { createMemoryHistory } from '@tanstack/react-router';
import { renderToString } from 'react-dom/server.browser';
import { accountIn, pinAccount, pinnedAccount } from './api/account-path.ts';
import { queryClient } from './api/query-client.ts';
import { App } from './app.tsx';
import { shownState } from './parts/shown-state.ts';
import { showTimeZone } from './parts/time-zone.ts';
import { createAppRouter } from './routes.tsx';

// Without a first view the page is only slower.
queryClient.setDefaultOptions({ queries: { retry: false } });

/** Null: the page is another one for whoever asks. */
export async function renderFirstView({ nonce, timeZone }: { nonce: string; timeZone: string }) {
  showTimeZone(timeZone);
  queryClient.clear();
  pinAccount(accountIn(location.pathname));
  const history = createMemoryHistory({ initialEntries: [location.pathname + location.search] });
  // The script for scrolling is not needed at the top of the page.
  const router = createAppRouter({ history, scrollRestoration: false });
  await router.load();
  // A redirect.
  if (router.state.matches.length === 0) return null;
  const render = () => renderToString(<App router={router} nonce={nonce} />);
  // Tells which data the components ask for, and the title of the page.
  render();
  const queries = queryClient.getQueryCache();
  await Promise.all(queries.findAll({ predicate: ({ state }) => state.status === 'pending' }).map((q) => q.fetch()));
  // The session of a visitor without one may be another in the browser: the cookie is not sent with links of other
  // sites.
  const account = pinnedAccount();
  const data = account === null ? [] : queries.getAll().map(({ queryKey, state }) => [queryKey, state.data]);
  return {
    // The content security policy blocks style attributes, but not the script that sets them (pages.ts).
    html: render().replaceAll(' style="', ' data-style="'),
    account,
    known: JSON.stringify({ state: shownState(router), data }),
  };
}
