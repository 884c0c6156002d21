import { Alert, Button, Group, Text } from '@mantine/core';
import { messageOf } from './message-of.ts';

/** An error message, with a retry button if the action can be repeated. */
export function ErrorAlert({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  return (
    <Alert color="red" title="Something went wrong" role="alert" variant="outline">
      <Group justify="space-between" align="flex-end">
        <Text size="sm" className="anywhere">
          {messageOf(error)}
        </Text>
        {onRetry && (
          <Button size="xs" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Group>
    </Alert>
  );
}
