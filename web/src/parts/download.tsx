import { t } from '@lingui/core/macro';
import { Button, Group } from '@mantine/core';

/** Links to all of a log or ledger; `path` without the extension. */
export const Download = ({ path, query = '' }: { path: string; query?: string }) => (
  <Group gap="xs">
    <Button component="a" href={`${path}.csv${query}`} download>{t`Download CSV`}</Button>
    <Button component="a" href={`${path}.jsonl${query}`} download>{t`Download JSON Lines`}</Button>
  </Group>
);
