import './mantine-styles.css';
import './tokens.css';
import './mantine.css';
import './app.css';
// Before the router changes the URL.
import './parts/opened-parameters.ts';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { queryClient } from './api/query-client.ts';
import { App } from './app.tsx';
import { watchLinks } from './parts/link-token.ts';
import { createAppRouter } from './routes.tsx';

const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';
// Read by react-remove-scroll, which inserts a style element.
Object.assign(window, { __webpack_nonce__: nonce });

watchLinks();

const container = document.getElementById('root')!;
const router = createAppRouter();
const app = <App router={router} nonce={nonce} />;
const { firstView } = container.dataset;
if (firstView === undefined) createRoot(container).render(app);
// Not awaited here: a module that is shared with others could then not be in one file with this one.
else void hydrate(firstView);

/** Takes over what the service rendered. `path`: of the page, which may be another here. */
async function hydrate(path: string): Promise<void> {
  const known: [string[], unknown][] = JSON.parse(document.getElementById('known')?.textContent ?? '[]');
  for (const [key, data] of known) queryClient.setQueryData(key, data);
  // The router renders on the server without a boundary around all.
  router.ssr = { manifest: undefined };
  await router.load();
  if (document.documentElement.dataset.other === undefined && router.state.location.pathname === path) {
    container.dataset.reacts = '';
    hydrateRoot(container, app);
  } else {
    delete container.dataset.firstView;
    createRoot(container).render(app);
  }
}
