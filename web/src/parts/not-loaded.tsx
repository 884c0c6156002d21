import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Button, Group, Text } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';

/**
 * A part of a page that could not be loaded, while the rest can be used. `what`: the subject of a sentence in the
 * singular; `query`: what it needs.
 */
export const NotLoaded = ({ what, query }: { what: string; query: UseQueryResult }) =>
  query.isLoadingError && (
    <Group role="alert" gap="xs">
      <Text size="sm">
        <Trans>{what} could not be loaded.</Trans>
      </Text>
      <Button size="xs" onClick={() => void query.refetch()}>{t`Try again`}</Button>
    </Group>
  );
