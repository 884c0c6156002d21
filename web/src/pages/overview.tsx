import { SimpleGrid } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { overviewQuery } from '../api/account.ts';
import { useAccount } from '../api/session.ts';
import { Page } from '../parts/page.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { Balance, Month, Plan, RateLimit } from './overview/cards.tsx';
import { FirstSteps, isNew } from './overview/first-steps.tsx';
import { KeyNotices } from './overview/key-notices.tsx';

export function OverviewPage() {
  const { id, name } = useAccount();
  const query = useQuery(overviewQuery(id));
  return (
    <Page title="Overview" about={name}>
      <QueryResult query={query}>
        {(overview) => (
          <>
            {isNew(overview) && <FirstSteps overview={overview} />}
            <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
              <Balance overview={overview} />
              <Plan overview={overview} />
              <RateLimit overview={overview} />
              <Month overview={overview} />
            </SimpleGrid>
            <KeyNotices keys={overview.keys} />
          </>
        )}
      </QueryResult>
    </Page>
  );
}
