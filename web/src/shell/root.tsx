import { Center, Container, Paper, Text } from '@mantine/core';
import { Outlet } from '@tanstack/react-router';
import { Suspense } from 'react';
import { Loading } from '../parts/loading.tsx';

export function Root() {
  return (
    <Suspense fallback={<Loading />}>
      <Outlet />
    </Suspense>
  );
}

/** Layout of sign-in and related pages: one narrow card. */
export function SignedOutLayout() {
  return (
    <Container component="main" size={440} py="xl">
      <Center mb="lg">
        <Text fw={700} size="lg">
          Mailvet
        </Text>
      </Center>
      <Paper withBorder p="lg">
        <Outlet />
      </Paper>
    </Container>
  );
}
