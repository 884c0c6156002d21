import { Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { EmptyState } from '../parts/empty-state.tsx';
import { formatNumber } from '../parts/format.ts';
import { Page } from '../parts/page.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { OperatorOnly } from './operator/operator-only.tsx';
import { ExplainForm } from './replies/explain-form.tsx';
import { repliesQuery } from './replies/queries.ts';
import { UncertainRepliesTable } from './replies/table.tsx';

export const RepliesPage = () => (
  <OperatorOnly>
    <Replies />
  </OperatorOnly>
);

function Replies() {
  const query = useQuery(repliesQuery);
  return (
    <Page
      title="SMTP replies"
      about="How replies of mail servers are read, and those that were read with low confidence."
    >
      <ExplainForm />
      <Title order={2}>Uncertain replies</Title>
      <QueryResult query={query}>
        {({ replies, total_count }) =>
          replies.length > 0 ? (
            <>
              <Text size="sm" c="dimmed">
                Without addresses, names and numbers. No rule matched, or only a weak one.
              </Text>
              <UncertainRepliesTable replies={replies} />
              {total_count > replies.length && (
                <Text size="sm" c="dimmed">
                  The {formatNumber(replies.length)} most frequent of {formatNumber(total_count)} kinds.
                </Text>
              )}
            </>
          ) : (
            <EmptyState title="No uncertain replies">All replies so far matched a rule.</EmptyState>
          )
        }
      </QueryResult>
    </Page>
  );
}
