import { Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';

/** One matter of the page: its name, what it is about, and what can be done. */
export function Section({ title, about, children }: { title: string; about: ReactNode; children: ReactNode }) {
  const id = useId();
  return (
    <Stack component="section" aria-labelledby={id} gap="sm">
      <Title order={2} id={id}>
        {title}
      </Title>
      <Text size="sm" c="dimmed">
        {about}
      </Text>
      {children}
    </Stack>
  );
}
