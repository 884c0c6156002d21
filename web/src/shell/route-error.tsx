import { t } from '@lingui/core/macro';
import { Container, Title } from '@mantine/core';
import { useQueryErrorResetBoundary } from '@tanstack/react-query';
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { useEffect, useEffectEvent } from 'react';
import { ErrorAlert } from '../parts/error-alert.tsx';
import { isForUsers } from '../parts/message-of.ts';
import { useHasNoFirstView } from '../parts/use-end-first-view.ts';

/** Messages of the browser are not for users; a file that does not load is tried again once by the router. */
function explain(error: unknown): { error: Error; reload: boolean } {
  // Our own errors and those of the service explain themselves.
  if (error instanceof Error && isForUsers(error)) return { error, reload: false };
  const text = error instanceof Error ? error.message : '';
  const why = /import|module|preload/i.test(text)
    ? t`A part of the dashboard could not be loaded. The service may have been updated, or the connection was interrupted.`
    : t`This page has failed.`;
  return {
    error: new Error(`${why} Reload it; if that does not help, tell the operator of this service.`),
    reload: true,
  };
}

/** Replaces a page that failed to load or render. */
export function RouteError({ error: thrown }: ErrorComponentProps) {
  const router = useRouter();
  useHasNoFirstView();
  const { reset } = useQueryErrorResetBoundary();
  const { error, reload } = explain(thrown);
  const again = () => {
    if (reload) return window.location.reload();
    reset();
    void router.invalidate();
  };
  const onOnline = useEffectEvent(again);
  useEffect(() => {
    window.addEventListener('online', onOnline);
    return () => window.removeEventListener('online', onOnline);
  }, []);
  return <ErrorAlert error={error} onRetry={again} />;
}

/** The same for errors outside the shell. */
export const RootError = (props: ErrorComponentProps) => (
  <Container component="main" size={440} py="xl">
    <Title order={1} mb="md">
      Mailvet
    </Title>
    <RouteError {...props} />
  </Container>
);
