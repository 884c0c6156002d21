import { Button, Group, Text } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';

/**
 * A part of a page that could not be loaded, while the rest can be used. `what`: the subject of a sentence in the
 * singular; `query`: what it needs.
 */
export const NotLoaded = ({ what, query }: { what: string; query: UseQueryResult }) =>
  query.isLoadingError && (
    <Group role="alert" gap="xs">
      <Text size="sm">{what} could not be loaded.</Text>
      <Button size="xs" onClick={() => void query.refetch()}>
        Try again
      </Button>
    </Group>
  );
