import { Alert, Button, Group, Text } from '@mantine/core';

/** What could not be loaded or done, in the service's words, and the way on. */
export function Failure({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  return (
    <Alert color="red" title="That did not work" role="alert" variant="outline">
      <Group justify="space-between" align="flex-end">
        <Text size="sm" className="anywhere">
          {error.message}
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
