import { Anchor, Box, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Account } from '../../api/schema.ts';
import { Fact, Facts } from '../../parts/facts.tsx';
import { count, counted, onDay, PLAN_NAMES } from '../../parts/words.ts';

/** What the plan allows, what things cost, and what is left. */
export function PlanFacts({ account }: { account: Account }) {
  const { plan, rate_limit, smtp_available, prices, credits, created_at, id, role } = account;
  return (
    <Box component="section" aria-labelledby="plan">
      <Title order={2} id="plan" mb="xs">
        Plan and limits
      </Title>
      <Facts>
        <Fact term="Plan">{PLAN_NAMES[plan] ?? plan}</Fact>
        <Fact term="Requests">
          {count(rate_limit)} in 5 minutes, all keys and people together. What is beyond gets 429 until the next 5
          minutes begin.
        </Fact>
        <Fact term="mx">
          {counted(prices.mx, 'credit')} for each answer: does the address look right, and does its domain take mail?
        </Fact>
        <Fact term="smtp">
          {smtp_available
            ? `${counted(prices.smtp, 'credit')} where the mail server answers about the mailbox, else ${counted(prices.mx, 'credit')}. ${counted(prices.smtp, 'credit')} must be there to ask.`
            : `Not in this plan; it takes Premium or Enterprise. It would cost ${counted(prices.smtp, 'credit')}.`}
        </Fact>
        <Fact term="Your filters">0 credits for what they stop.</Fact>
        <Fact term="Balance">
          {counted(credits.remaining, 'credit')}
          {credits.locked > 0 && `, and ${count(credits.locked)} held by checks that are running`}.{' '}
          <Anchor component={Link} to="/account/ledger" inherit underline="always">
            Every change is in the ledger
          </Anchor>
          .
        </Fact>
        <Fact term="Since">{onDay(created_at)}</Fact>
        <Fact term="Your role">{role}</Fact>
        <Fact term="Id">
          <Text component="code" inherit ff="monospace" className="anywhere">
            {id}
          </Text>
        </Fact>
      </Facts>
    </Box>
  );
}
