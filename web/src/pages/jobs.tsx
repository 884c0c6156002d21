import { Anchor, Button, Group, Text } from '@mantine/core';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, unwrap } from '../api/client.ts';
import type { OperatorJob } from '../api/schema.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { ErrorAlert } from '../parts/error-alert.tsx';
import { focusContent } from '../parts/focus.ts';
import { formatNumber } from '../parts/format.ts';
import { notify } from '../parts/notify.tsx';
import { Page } from '../parts/page.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { Timestamp } from '../parts/timestamp.tsx';
import { useDialogState } from '../parts/use-dialog-state.ts';
import { OperatorOnly } from './operator/operator-only.tsx';
import { OPERATOR_KEY } from './operator/queries.ts';

const jobsQuery = queryOptions({
  queryKey: [...OPERATOR_KEY, 'jobs'],
  queryFn: () => unwrap(api.GET('/dashboard/operator/jobs')),
});

const retryJob = (id: string) => unwrap(api.POST('/dashboard/operator/jobs/{id}/retry', { params: { path: { id } } }));

const dropJob = (id: string) => unwrap(api.DELETE('/dashboard/operator/jobs/{id}', { params: { path: { id } } }));

function JobsTable({ jobs }: { jobs: readonly OperatorJob[] }) {
  const client = useQueryClient();
  const dropping = useDialogState<OperatorJob>();
  const changed = async (message: string) => {
    await client.invalidateQueries({ queryKey: jobsQuery.queryKey });
    focusContent();
    void notify(message);
  };
  const retrying = useMutation({
    mutationFn: ({ id }: OperatorJob) => retryJob(id),
    onSuccess: () => changed('The job will run again.'),
  });
  async function drop({ id }: OperatorJob) {
    await dropJob(id);
    await changed('The job was dropped.');
  }
  const columns: readonly Column<OperatorJob>[] = [
    { header: 'Job', cell: (job) => <Job of={job} /> },
    { header: 'Account', cell: (job) => <Account of={job} />, folds: true },
    { header: 'Attempts', numeric: true, cell: ({ attempts }) => formatNumber(attempts), folds: true },
    {
      header: 'Last error',
      folds: true,
      cell: ({ last_error }) => <span className="anywhere">{last_error ?? '–'}</span>,
    },
    { header: 'Failed', cell: ({ failed_at }) => <Timestamp at={failed_at} />, folds: true },
    {
      header: 'Actions',
      quietHeader: true,
      cell: (job) => (
        <Group gap="xs" wrap="nowrap">
          <Button
            size="xs"
            aria-label={`Retry ${job.kind}`}
            loading={retrying.isPending && retrying.variables.id === job.id}
            onClick={() => retrying.mutate(job)}
          >
            Retry
          </Button>
          <Button size="xs" aria-label={`Drop ${job.kind}`} onClick={() => dropping.open(job)}>
            Drop
          </Button>
        </Group>
      ),
    },
  ];
  return (
    <>
      {retrying.error && <ErrorAlert error={retrying.error} />}
      <DataTable label="Failed jobs" columns={columns} rows={jobs} rowKey={({ id }) => id} />
      <ConfirmDialog
        title="Drop the job?"
        action="Drop"
        opened={dropping.opened}
        onClose={dropping.close}
        onConfirm={async () => dropping.item && drop(dropping.item)}
      >
        It will not run again, and its work is not done.
      </ConfirmDialog>
    </>
  );
}

const Job = ({ of }: { of: OperatorJob }) => (
  <>
    <Text size="sm" fw={600}>
      {of.kind}
    </Text>
    <Text size="xs" c="dimmed">
      {of.description}
    </Text>
  </>
);

function Account({ of: { account } }: { of: OperatorJob }) {
  if (account === null) return '–';
  return (
    <Anchor
      size="sm"
      className="anywhere"
      renderRoot={(props) => <Link {...props} to="/operator/accounts/$id" params={{ id: account }} />}
    >
      {account}
    </Anchor>
  );
}

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
