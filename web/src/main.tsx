import './mantine-styles.css';
import './tokens.css';
import './mantine.css';
import './app.css';
// Before the router changes the URL.
import './parts/opened-parameters.ts';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { takeOver } from './first-view/take-over.ts';
import { watchLinks } from './parts/link-token.ts';

const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';
// Read by react-remove-scroll, which inserts a style element.
Object.assign(window, { __webpack_nonce__: nonce });

watchLinks();

const container = document.getElementById('root')!;
const render = () => createRoot(container).render(<App nonce={nonce} />);
if (container.firstElementChild === null) render();
// Not awaited here: a module that is shared with others could then not be in one file with this one.
else void takeOver(container, render);
