import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { EmptyState } from '../parts/empty-state.tsx';
import { formatNumber } from '../parts/format.ts';
import { Page } from '../parts/page.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { jobsQuery } from './jobs/queries.ts';
import { JobsTable } from './jobs/table.tsx';
import { OperatorOnly } from './operator/operator-only.tsx';

export const JobsPage = () => (
  <OperatorOnly>
    <Jobs />
  </OperatorOnly>
);

function Jobs() {
  const query = useQuery(jobsQuery);
  return (
    <Page
      title="Failed jobs"
      about="Background work that used up its attempts. Retry it once the cause is fixed, or drop it."
    >
      <QueryResult query={query}>
        {({ jobs, total_count }) =>
          jobs.length > 0 ? (
            <>
              <JobsTable jobs={jobs} />
              {total_count > jobs.length && (
                <Text size="sm" c="dimmed">
                  The newest {formatNumber(jobs.length)} of {formatNumber(total_count)} failed jobs.
                </Text>
              )}
            </>
          ) : (
            <EmptyState title="No failed jobs">Mail, purges and other background work are running normally.</EmptyState>
          )
        }
      </QueryResult>
    </Page>
  );
}
