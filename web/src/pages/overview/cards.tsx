import { Anchor, Paper, Progress, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Overview } from '../../api/schema.ts';
import { useMay } from '../../api/session.ts';
import { When } from '../../parts/when.tsx';
import { count, counted, onDay, PLAN_NAMES } from '../../parts/words.ts';
import { LowBalanceLine } from './low-balance-line.tsx';

type Props = { overview: Overview };

function Card({ title, figure, children }: { title: string; figure: ReactNode; children: ReactNode }) {
  return (
    <Paper withBorder p="md" component="section" aria-label={title}>
      <Stack gap="xs">
        <Title order={2}>{title}</Title>
        <Text size="xl" fw={600} className="numbers">
          {figure}
        </Text>
        {children}
      </Stack>
    </Paper>
  );
}

const percent = (part: number, whole: number): number => (whole === 0 ? 0 : Math.min(100, (part / whole) * 100));

export function Balance({ overview: { credits, period, low_balance } }: Props) {
  const mayAdmin = useMay('admin');
  const { remaining, used, locked } = credits;
  return (
    <Card title="Balance" figure={counted(remaining, 'credit')}>
      <Progress value={percent(used, used + remaining)} aria-label="Part of the credits that was used this month" />
      <Text size="sm">
        {count(used)} used since {onDay(period.start)}
        {locked > 0 && `, ${count(locked)} held by checks that are still running`}.{' '}
        <Anchor component={Link} to="/account/ledger" underline="always">
          Credit ledger
        </Anchor>
      </Text>
      <LowBalanceLine line={low_balance} mayAdmin={mayAdmin} />
    </Card>
  );
}

export function Plan({ overview: { account, smtp_available } }: Props) {
  return (
    <Card title="Plan" figure={PLAN_NAMES[account.plan] ?? account.plan}>
      <Text size="sm">
        mx (1 credit): syntax, domain, mail servers, disposable lists.
        <br />
        {smtp_available
          ? 'smtp (10 credits): also asks the mail server whether the mailbox exists.'
          : 'smtp, which asks the mail server whether the mailbox exists, comes with Premium and Enterprise.'}
      </Text>
    </Card>
  );
}

export function Window({ overview: { rate_limit } }: Props) {
  const { limit, remaining, reset_at } = rate_limit;
  const used = limit - remaining;
  return (
    <Card title="Rate limit now" figure={`${count(remaining)} of ${count(limit)} left`}>
      <Progress
        value={percent(used, limit)}
        color={remaining === 0 ? 'red' : 'accent'}
        aria-label="Part of the rate limit that is used"
      />
      <Text size="sm">
        {counted(used, 'request')} in this window of five minutes, over all keys. It begins anew <When at={reset_at} />.
      </Text>
    </Card>
  );
}

export function Month({ overview: { totals, period } }: Props) {
  const { requests, good, bad } = totals;
  return (
    <Card title="This month" figure={counted(requests, 'verification')}>
      <Progress value={percent(good, requests)} aria-label="Part of the verifications that was good" />
      <Text size="sm">
        {count(good)} good, {count(bad)} bad since {onDay(period.start)} (UTC).{' '}
        <Anchor component={Link} to="/usage" underline="always">
          Usage
        </Anchor>
      </Text>
    </Card>
  );
}
