import { Button, Paper, SimpleGrid, Text, Title } from '@mantine/core';
import { KEY_IDLE_DAYS } from '../../api/limits.ts';
import type { DashboardKey } from '../../api/schema.ts';
import { pluralize } from '../../parts/format.ts';
import { NOTICES, type Notice } from './search.ts';

export const NOTICE_COPY: Readonly<Record<Notice, { badge: string; title: string; advice: string }>> = {
  never_used: {
    badge: 'never used',
    title: 'never used',
    advice: 'No request has used the key. If nothing needs it, revoke it: an unused key is only a risk.',
  },
  idle: {
    badge: 'idle',
    title: `idle for ${KEY_IDLE_DAYS} days`,
    advice: 'Check whether anything still needs the key. If not, revoke it.',
  },
  open_to_all: {
    badge: 'any IP address',
    title: 'allowed from any IP address',
    advice: 'Anyone who obtains the key can use it from anywhere. Edit it and add the IP addresses of your servers.',
  },
  budget_spent: {
    badge: 'budget spent',
    title: 'with a spent monthly budget',
    advice: 'Requests that cost credits are rejected (402) until next month. Edit the key to raise its budget.',
  },
};

/** Keys to review, with advice. Each card filters the table. */
export function NoticeCards(props: {
  keys: readonly DashboardKey[];
  show: Notice | null;
  onShow: (n: Notice | null) => void;
}) {
  const { keys, show, onShow } = props;
  const shown = NOTICES.flatMap((notice) => {
    const n = keys.filter(({ notices }) => notices.includes(notice)).length;
    return n > 0 || notice === show ? [[notice, n] as const] : [];
  });
  if (shown.length === 0) return null;
  return (
    <SimpleGrid cols={{ base: 1, sm: 3 }}>
      {shown.map(([notice, n]) => {
        const { title, advice } = NOTICE_COPY[notice];
        const name = `${pluralize(n, 'key')} ${title}`;
        return (
          <Paper key={notice} withBorder p="md" component="section" aria-label={name}>
            <Title order={2} size="h3">
              {name}
            </Title>
            <Text size="sm" my="xs">
              {advice}
            </Text>
            <Button
              size="xs"
              variant={notice === show ? 'light' : 'default'}
              aria-pressed={notice === show}
              aria-label={`${notice === show ? 'Show all keys' : 'Show only these'}: ${title}`}
              onClick={() => onShow(notice === show ? null : notice)}
            >
              {notice === show ? 'Show all keys' : 'Show only these'}
            </Button>
          </Paper>
        );
      })}
    </SimpleGrid>
  );
}
