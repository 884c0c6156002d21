import { Container, Title } from '@mantine/core';
import { useQueryErrorResetBoundary } from '@tanstack/react-query';
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { ErrorAlert } from '../parts/error-alert.tsx';

/** Replaces a page that failed to load or render. */
export function RouteError({ error }: ErrorComponentProps) {
  const router = useRouter();
  const { reset } = useQueryErrorResetBoundary();
  const again = () => {
    reset();
    void router.invalidate();
  };
  return <ErrorAlert error={error instanceof Error ? error : new Error(String(error))} onRetry={again} />;
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
