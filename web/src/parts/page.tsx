import { Box, Group, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';

/**
 * The layout of every page: title (also the document's), a one-sentence description and the primary action, if any.
 * Only the primary action is `variant="filled"`.
 */
export function Page(props: { title: string; about?: ReactNode; action?: ReactNode; children: ReactNode }) {
  const { title, about, action, children } = props;
  useEffect(() => {
    document.title = `${title} · Mailvet`;
  }, [title]);
  return (
    <Stack gap="lg" maw={1200}>
      <Group justify="space-between" align="flex-start" gap="sm">
        <Box flex="1 1 20rem">
          <Title order={1}>{title}</Title>
          {about && (
            <Text c="dimmed" size="sm" mt={4}>
              {about}
            </Text>
          )}
        </Box>
        {action}
      </Group>
      {children}
    </Stack>
  );
}
