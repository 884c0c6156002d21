import { Anchor, Box, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Wordmark } from './mark.tsx';
import { useSetPageTitle } from './page-title.ts';

/** The 404 page. `inside`: within the shell, which has the landmarks. */
export function NotFound({ inside = false }: { inside?: boolean }) {
  useSetPageTitle('Page not found');
  return (
    <Box component={inside ? 'div' : 'main'} maw={640} p={inside ? 0 : 24}>
      {!inside && <Wordmark />}
      <Title order={1} mt={inside ? 0 : 48} mb={4}>
        Page not found
      </Title>
      <Text mb="sm">Check the URL. The page may have been moved or deleted.</Text>
      <Anchor component={Link} to="/">
        Go to the overview
      </Anchor>
    </Box>
  );
}
