import { Anchor, List, Paper, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Overview } from '../../api/schema.ts';
import { pluralize } from '../../parts/format.ts';
import { NOTICE_COPY } from '../keys/notice-cards.tsx';
import { NOTICES } from '../keys/search.ts';

/** API keys to review, with links to them. */
export function KeyNotices({ keys }: { keys: Overview['keys'] }) {
  const shown = NOTICES.filter((notice) => keys[notice] > 0);
  if (shown.length === 0) return null;
  return (
    <Paper withBorder p="md" component="section" aria-label="API keys to review">
      <Title order={2} mb="xs">
        API keys to review
      </Title>
      <List size="sm">
        {shown.map((show) => (
          <List.Item key={show}>
            <Anchor size="sm" renderRoot={(props) => <Link {...props} to="/settings/keys" search={{ show }} />}>
              {pluralize(keys[show], 'key')} {NOTICE_COPY[show].title}
            </Anchor>
          </List.Item>
        ))}
      </List>
    </Paper>
  );
}
