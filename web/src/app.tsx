import { I18nProvider } from '@lingui/react';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { queryClient } from './api/query-client.ts';
import { i18n } from './i18n.ts';
import { ToastRegion } from './parts/notify.tsx';
import type { createAppRouter } from './routes.tsx';
import { theme, tokenVariables } from './theme.ts';

/** `nonce`: required by the content security policy for style elements that components insert. */
export const App = ({ router, nonce }: { router: ReturnType<typeof createAppRouter>; nonce: string }) => (
  <MantineProvider
    theme={theme}
    cssVariablesResolver={tokenVariables}
    defaultColorScheme="auto"
    getStyleNonce={() => nonce}
  >
    <I18nProvider i18n={i18n}>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <ToastRegion />
      </QueryClientProvider>
    </I18nProvider>
  </MantineProvider>
);
