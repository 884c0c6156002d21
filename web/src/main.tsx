import './mantine-styles.css';
import './tokens.css';
import './mantine.css';
import './app.css';
// Before the router changes the URL.
import './parts/opened-parameters.ts';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/query-client.ts';
import { watchLinks } from './parts/link-token.ts';
import { ToastRegion } from './parts/notify.tsx';
import { router } from './routes.tsx';
import { theme, tokenVariables } from './theme.ts';

/** Required by the content security policy for style elements that components insert. */
const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';
// Read by react-remove-scroll, which inserts a style element.
Object.assign(window, { __webpack_nonce__: nonce });

watchLinks();

createRoot(document.getElementById('root')!).render(
  <MantineProvider
    theme={theme}
    cssVariablesResolver={tokenVariables}
    defaultColorScheme="auto"
    getStyleNonce={() => nonce}
  >
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
      <ToastRegion />
    </QueryClientProvider>
  </MantineProvider>,
);
