import { t } from '@lingui/core/macro';
import { Alert, Button, Group, Text } from '@mantine/core';
import { ApiError } from '../api/client.ts';
import { messageOf } from './message-of.ts';

/** An error message, with a retry button if the action can be repeated. What the user can fix has no other title. */
export function ErrorAlert({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const isRefused = error instanceof ApiError && error.status < 500;
  return (
    <Alert color="red" title={isRefused ? undefined : t`Something went wrong`} role="alert" variant="outline">
      <Group justify="space-between" align="flex-end">
        <Text size="sm" className="anywhere">
          {messageOf(error)}
        </Text>
        {onRetry && <Button size="xs" onClick={onRetry}>{t`Try again`}</Button>}
      </Group>
    </Alert>
  );
}
