import { Container, Title } from '@mantine/core';
import { useQueryErrorResetBoundary } from '@tanstack/react-query';
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { Failure } from '../parts/failure.tsx';

/** In the place of a page that failed: why, and once more from the beginning. */
export function Stopped({ error }: ErrorComponentProps) {
  const router = useRouter();
  const { reset } = useQueryErrorResetBoundary();
  const again = () => {
    reset();
    void router.invalidate();
  };
  return <Failure error={error instanceof Error ? error : new Error(String(error))} onRetry={again} />;
}

/** The same where not even the frame of a page came up. */
export const StoppedBefore = (props: ErrorComponentProps) => (
  <Container component="main" size={440} py="xl">
    <Title order={1} mb="md">
      Mailvet
    </Title>
    <Stopped {...props} />
  </Container>
);
