import { Button, Paper, SimpleGrid, Text, Title } from '@mantine/core';
import type { DashboardKey } from '../../api/schema.ts';
import { counted } from '../../parts/words.ts';
import { NOTICES, type Notice } from './search.ts';

export const NOTICE_WORDS: Readonly<Record<Notice, { short: string; title: string; advice: string }>> = {
  never_used: {
    short: 'never used',
    title: 'never used',
    advice: 'No request came with it. Put it to use, or revoke it: what nobody needs, nobody can steal.',
  },
  idle: {
    short: 'idle',
    title: 'idle for 90 days',
    advice: 'Find out whether anything still uses it; revoke it if not.',
  },
  open_to_all: {
    short: 'open to all',
    title: 'open to all addresses',
    advice: 'Who finds it can use it from anywhere. Edit it and name the addresses of your servers.',
  },
};

/** What deserves a look, with what to do about it; each shows its keys alone. */
export function Cards(props: {
  keys: readonly DashboardKey[];
  show: Notice | null;
  onShow: (n: Notice | null) => void;
}) {
  const { keys, show, onShow } = props;
  const told = NOTICES.flatMap((notice) => {
    const n = keys.filter(({ notices }) => notices.includes(notice)).length;
    return n > 0 || notice === show ? [[notice, n] as const] : [];
  });
  if (told.length === 0) return null;
  return (
    <SimpleGrid cols={{ base: 1, sm: 3 }}>
      {told.map(([notice, n]) => {
        const { title, advice } = NOTICE_WORDS[notice];
        const name = `${counted(n, 'key')} ${title}`;
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
