import { Anchor, Center, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';

/** The 404 page. `inside`: within the shell, which has the landmarks. */
export function NotFound({ inside = false }: { inside?: boolean }) {
  useEffect(() => {
    document.title = 'Page not found · Mailvet';
  }, []);
  return (
    <Center component={inside ? 'div' : 'main'} py="xl">
      <Stack align="center">
        <Title order={1}>Page not found</Title>
        <Text>Check the URL. The page may have been moved or deleted.</Text>
        <Anchor component={Link} to="/">
          Go to the overview
        </Anchor>
      </Stack>
    </Center>
  );
}
