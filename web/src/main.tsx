import './mantine-styles.css';
import './tokens.css';
import './mantine.css';
import './app.css';
// Texts wait for the catalog of the page's language.
import './i18n.ts';
// Before the router changes the URL.
import './parts/opened-parameters.ts';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { queryClient } from './api/query-client.ts';
import { App } from './app.tsx';
import { watchLinks } from './parts/link-token.ts';
import { shownState } from './parts/shown-state.ts';
import { showOwnTimeZone } from './parts/time-zone.ts';
import { firstViewEnds } from './parts/use-end-first-view.ts';
import { createAppRouter } from './routes.tsx';

const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';
// Read by react-remove-scroll, which inserts a style element.
Object.assign(window, { __webpack_nonce__: nonce });

watchLinks();
showOwnTimeZone();

const container = document.getElementById('root')!;
const router = createAppRouter();
const app = <App router={router} nonce={nonce} />;
const known = document.getElementById('known')?.textContent;
if (known === undefined) createRoot(container).render(app);
// Not awaited here: a module that is shared with others could then not be in one file with this one.
else void hydrate(JSON.parse(known));

/** Takes over what the service rendered, with this state and data; where the state is another here, replaces it. */
async function hydrate(rendered: { state: string; data: readonly [string[], unknown][] }): Promise<void> {
  for (const [key, data] of rendered.data) queryClient.setQueryData(key, data);
  // The router renders on the server without a boundary around all.
  router.ssr = { manifest: undefined };
  await router.load();
  if (document.documentElement.dataset.other === undefined && shownState(router) === rendered.state) {
    container.dataset.reacts = '';
    // A page that reacts later than its frame reads the search of its route, which a navigation would take from it.
    const blockerFn = () => firstViewEnds.then(() => false);
    void firstViewEnds.then(router.history.block({ blockerFn, enableBeforeUnload: false }));
    // React has rendered again what differed. It is a fault of the page, but the page works.
    hydrateRoot(container, app, {
      onRecoverableError: (error) => console.error(error, ...(error instanceof Error ? [error.cause] : [])),
    });
  } else {
    container.replaceChildren();
    delete container.dataset.firstView;
    createRoot(container).render(app);
  }
}
