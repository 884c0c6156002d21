import { Anchor, List, Paper, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Overview } from '../../api/schema.ts';
import { counted } from '../../parts/words.ts';

/** Keys that deserve a look, each kind with the way to them. */
export function KeyNotices({ keys }: { keys: Overview['keys'] }) {
  const rows = [
    ['never_used', keys.never_used, 'never used'],
    ['idle', keys.idle, 'not used for 90 days'],
    ['open_to_all', keys.open_to_all, 'open to all addresses'],
  ] as const;
  const told = rows.filter(([, n]) => n > 0);
  if (told.length === 0) return null;
  return (
    <Paper withBorder p="md" component="section" aria-label="Keys that deserve a look">
      <Title order={2} mb="xs">
        Keys that deserve a look
      </Title>
      <List size="sm">
        {told.map(([show, n, words]) => (
          <List.Item key={show}>
            <Anchor size="sm" renderRoot={(props) => <Link {...props} to="/settings/keys" search={{ show }} />}>
              {counted(n, 'key')} {words}
            </Anchor>
          </List.Item>
        ))}
      </List>
    </Paper>
  );
}
