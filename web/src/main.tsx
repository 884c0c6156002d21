import '@mantine/core/styles.css';
import './app.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/query-client.ts';
import { watchLinks } from './parts/link-token.ts';
import { Notes } from './parts/notify.tsx';
import { router } from './routes.tsx';
import { readable, theme } from './theme.ts';

/** Of this reply, for the style elements that components make: the content policy lets no other through. */
const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';
// Where the library that locks scrolling behind a dialog looks for it.
Object.assign(window, { __webpack_nonce__: nonce });

watchLinks();

createRoot(document.getElementById('root')!).render(
  <MantineProvider theme={theme} cssVariablesResolver={readable} defaultColorScheme="auto" getStyleNonce={() => nonce}>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
      <Notes />
    </QueryClientProvider>
  </MantineProvider>,
);
