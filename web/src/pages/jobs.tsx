import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
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
    onSuccess: () => changed(t`The job will run again.`),
  });
  async function drop({ id }: OperatorJob) {
    await dropJob(id);
    await changed(t`The job was dropped.`);
  }
  const columns: readonly Column<OperatorJob>[] = [
    { header: t`Job`, cell: (job) => <Job of={job} /> },
    { header: t`Account`, cell: (job) => <Account of={job} />, folds: true },
    { header: t`Attempts`, numeric: true, cell: ({ attempts }) => formatNumber(attempts), folds: true },
    {
      header: t`Last error`,
      folds: true,
      cell: ({ last_error }) => <span className="anywhere">{last_error ?? '–'}</span>,
    },
    { header: t`Failed`, cell: ({ failed_at }) => <Timestamp at={failed_at} />, folds: true },
    {
      header: t`Actions`,
      quietHeader: true,
      cell: (job) => (
        <Group gap="xs" wrap="nowrap">
          <Button
            size="xs"
            aria-label={t`Retry ${job.kind}`}
            loading={retrying.isPending && retrying.variables.id === job.id}
            onClick={() => retrying.mutate(job)}
          >{t`Retry`}</Button>
          <Button size="xs" aria-label={t`Drop ${job.kind}`} onClick={() => dropping.open(job)}>{t`Drop`}</Button>
        </Group>
      ),
    },
  ];
  return (
    <>
      {retrying.error && <ErrorAlert error={retrying.error} />}
      <DataTable label={t`Failed jobs`} columns={columns} rows={jobs} rowKey={({ id }) => id} />
      <ConfirmDialog
        title={t`Drop the job?`}
        action={t`Drop`}
        opened={dropping.opened}
        onClose={dropping.close}
        onConfirm={async () => dropping.item && drop(dropping.item)}
      >{t`It will not run again, and its work is not done.`}</ConfirmDialog>
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
      title={t`Failed jobs`}
      about={t`Background work that used up its attempts. Retry it once the cause is fixed, or drop it.`}
    >
      <QueryResult query={query}>
        {({ jobs, total_count }) =>
          jobs.length > 0 ? (
            <>
              <JobsTable jobs={jobs} />
              {total_count > jobs.length && (
                <Text size="sm" c="dimmed">
                  <Trans>
                    The newest {formatNumber(jobs.length)} of {formatNumber(total_count)} failed jobs.
                  </Trans>
                </Text>
              )}
            </>
          ) : (
            <EmptyState
              title={t`No failed jobs`}
            >{t`Mail, purges and other background work are running normally.`}</EmptyState>
          )
        }
      </QueryResult>
    </Page>
  );
}
