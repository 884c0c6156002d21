import { Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** Shown instead of an empty list: what belongs here and what to do next. */
export function EmptyState({ title, children, action }: { title: string; children: ReactNode; action?: ReactNode }) {
  return (
    <Stack align="center" gap="xs" py="xl" ta="center">
      <Title order={2}>{title}</Title>
      <Text c="dimmed" maw={480}>
        {children}
      </Text>
      {action}
    </Stack>
  );
}
