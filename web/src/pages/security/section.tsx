import { Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';

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
