import { Anchor, Box, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Account } from '../../api/schema.ts';
import { DescriptionItem, DescriptionList } from '../../parts/description-list.tsx';
import { formatDate, formatNumber, pluralize } from '../../parts/format.ts';
import { PLAN_LABELS, PLANS_WITH_SMTP, RATE_WINDOW } from '../../parts/plans.ts';
import { ROLE_LABELS } from '../../parts/roles.ts';
import { formatBytes } from '../lists/format-bytes.ts';

/** Plan, prices and balance. */
export function PlanDetails({ account }: { account: Account }) {
  const { plan, rate_limit, smtp_available, prices, credits, storage, created_at, id, role } = account;
  const { list_bytes, filters } = storage;
  return (
    <Box component="section" aria-labelledby="plan">
      <Title order={2} id="plan" mb="xs">
        Plan and limits
      </Title>
      <DescriptionList>
        <DescriptionItem term="Plan">{PLAN_LABELS[plan]}</DescriptionItem>
        <DescriptionItem term="Rate limit">
          {pluralize(rate_limit, 'request')} per {RATE_WINDOW}, shared by all API keys and members. Requests over the
          limit get 429 until the next window starts.
        </DescriptionItem>
        <DescriptionItem term="Storage">
          {formatBytes(list_bytes.used)} of {formatBytes(list_bytes.limit)} for lists and their results, and{' '}
          {formatNumber(filters.used)} of {pluralize(filters.limit, 'filter')}.
        </DescriptionItem>
        <DescriptionItem term="mx">
          {pluralize(prices.mx, 'credit')} per verification. Checks syntax, filters, disposable lists, domain and mail
          servers.
        </DescriptionItem>
        <DescriptionItem term="smtp">
          {smtp_available
            ? `${pluralize(prices.smtp, 'credit')} if the mail server answers for the mailbox, otherwise ${pluralize(prices.mx, 'credit')}. Needs a balance of at least ${pluralize(prices.smtp, 'credit')}.`
            : `Not included in this plan. Available with ${PLANS_WITH_SMTP} for ${pluralize(prices.smtp, 'credit')}.`}
        </DescriptionItem>
        <DescriptionItem term="Your filters">0 credits for an address that a filter blocks.</DescriptionItem>
        <DescriptionItem term="Balance">
          {pluralize(credits.remaining, 'credit')}
          {credits.locked > 0 && `, plus ${formatNumber(credits.locked)} held for running verifications`}.{' '}
          <Anchor component={Link} to="/account/ledger" inherit underline="always">
            Credit ledger
          </Anchor>
          .
        </DescriptionItem>
        <DescriptionItem term="Created">{formatDate(created_at)}</DescriptionItem>
        <DescriptionItem term="Your role">{ROLE_LABELS[role]}</DescriptionItem>
        <DescriptionItem term="ID">
          <Text component="code" inherit ff="monospace" className="anywhere">
            {id}
          </Text>
        </DescriptionItem>
      </DescriptionList>
    </Box>
  );
}
