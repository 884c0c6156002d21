import { Anchor, Center, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';

/** An address that names nothing. `inside` the frame of the pages, which has the landmarks. */
export function NotFound({ inside = false }: { inside?: boolean }) {
  useEffect(() => {
    document.title = 'Nothing is here · Mailvet';
  }, []);
  return (
    <Center component={inside ? 'div' : 'main'} py="xl">
      <Stack align="center">
        <Title order={1}>Nothing is here</Title>
        <Text>The address may be mistyped, or what it named is gone.</Text>
        <Anchor component={Link} to="/">
          To the overview
        </Anchor>
      </Stack>
    </Center>
  );
}
