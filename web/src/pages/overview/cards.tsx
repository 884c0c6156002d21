import { Anchor, Paper, Progress, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { PRICE } from '../../api/limits.ts';
import type { Overview } from '../../api/schema.ts';
import { useAccount, useHasRole } from '../../api/session.ts';
import { formatDate, formatNumber, pluralize } from '../../parts/format.ts';
import { PLAN_LABELS, PLANS_WITH_SMTP, RATE_WINDOW } from '../../parts/plans.ts';
import { Timestamp } from '../../parts/timestamp.tsx';
import { LowBalanceThreshold } from './low-balance-threshold.tsx';

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
  const isAdmin = useHasRole('admin');
  const { test } = useAccount();
  const { remaining, used, locked } = credits;
  if (test)
    return (
      <Card title="Balance" figure={pluralize(remaining, 'test credit')}>
        <Text size="sm">Test mode charges nothing, so they stay.</Text>
      </Card>
    );
  return (
    <Card title="Balance" figure={pluralize(remaining, 'credit')}>
      <Progress value={percent(used, used + remaining)} aria-label="Share of the credits that was used this month" />
      <Text size="sm">
        {formatNumber(used)} used since {formatDate(period.start)}
        {locked > 0 && `, ${formatNumber(locked)} held for running verifications`}.{' '}
        <Anchor component={Link} to="/account/ledger" underline="always">
          Credit ledger
        </Anchor>
      </Text>
      <LowBalanceThreshold threshold={low_balance} isAdmin={isAdmin} />
    </Card>
  );
}

export function Plan({ overview: { account, smtp_available } }: Props) {
  return (
    <Card title="Plan" figure={PLAN_LABELS[account.plan]}>
      <Text size="sm">
        mx ({pluralize(PRICE.mx, 'credit')}): checks syntax, disposable lists, domain and mail servers.
        <br />
        {smtp_available
          ? `smtp (${pluralize(PRICE.smtp, 'credit')}): also asks the mail server whether the mailbox exists.`
          : `smtp, which also asks the mail server whether the mailbox exists, is available with ${PLANS_WITH_SMTP}.`}
      </Text>
    </Card>
  );
}

export function RateLimit({ overview: { rate_limit } }: Props) {
  const { limit, remaining, reset_at } = rate_limit;
  const used = limit - remaining;
  return (
    <Card title="Rate limit" figure={`${formatNumber(remaining)} of ${formatNumber(limit)} left`}>
      <Progress
        value={percent(used, limit)}
        color={remaining === 0 ? 'red' : 'accent'}
        aria-label="Share of the rate limit that is used"
      />
      <Text size="sm">
        {pluralize(used, 'request')} in the current window of {RATE_WINDOW}, across all API keys. Resets at{' '}
        <Timestamp at={reset_at} />.
      </Text>
    </Card>
  );
}

export function Month({ overview: { totals, period } }: Props) {
  const { requests, good, bad } = totals;
  return (
    <Card title="This month" figure={pluralize(requests, 'verification')}>
      <Progress value={percent(good, requests)} aria-label="Share of good verifications" />
      <Text size="sm">
        {formatNumber(good)} good, {formatNumber(bad)} bad since {formatDate(period.start)} (UTC).{' '}
        <Anchor component={Link} to="/usage" underline="always">
          Usage
        </Anchor>
      </Text>
    </Card>
  );
}
