import { Alert, Button, Text } from '@mantine/core';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { LISTS_STALE_DAYS } from '../../../src/kernel/facts/limits.ts';
import { api, unwrap } from '../api/client.ts';
import type { DisposableLists } from '../api/schema.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { DescriptionItem, DescriptionList } from '../parts/description-list.tsx';
import { Elapsed } from '../parts/elapsed.tsx';
import { ErrorAlert } from '../parts/error-alert.tsx';
import { formatNumber, pluralize } from '../parts/format.ts';
import { Page } from '../parts/page.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { Timestamp } from '../parts/timestamp.tsx';
import { OperatorOnly } from './operator/operator-only.tsx';
import { OPERATOR_KEY } from './operator/queries.ts';

type Source = DisposableLists['sources'][number];

const COLUMNS: readonly Column<Source>[] = [
  {
    header: 'Source',
    cell: ({ name, url, license, problem }) => (
      <>
        <Text size="sm">{name}</Text>
        <Text size="xs" c="dimmed" className="anywhere">
          {url === null ? 'Not downloaded' : url} · {license}
        </Text>
        {problem !== null && (
          <Text size="xs" c="red" className="anywhere">
            Last good copy in use: {problem}
          </Text>
        )}
      </>
    ),
  },
  { header: 'Domains', cell: ({ domains }) => formatNumber(domains), numeric: true },
  {
    header: 'Downloaded',
    cell: ({ downloaded_at }) => (downloaded_at === null ? 'With the package' : <Timestamp at={downloaded_at} />),
  },
  { header: 'Weight', cell: ({ weight }) => weight, folds: true },
];

function ListDetails({ lists }: { lists: DisposableLists }) {
  const { version, age_days, disposable_domains, problem, attempted_at, failed, sources } = lists;
  return (
    <>
      {problem !== null && (
        <Alert color="red" variant="outline" title="The latest list is not in use" className="anywhere">
          {problem}
        </Alert>
      )}
      {failed !== null && (
        <Alert color="yellow" variant="outline" title="The last update failed" className="anywhere">
          {failed}
        </Alert>
      )}
      {age_days > LISTS_STALE_DAYS && (
        <Alert color="yellow" variant="outline" title="The list is outdated">
          It is {pluralize(age_days, 'day')} old. Update it now.
        </Alert>
      )}
      <DescriptionList>
        <DescriptionItem term="Version">{version}</DescriptionItem>
        <DescriptionItem term="Age">{age_days === 0 ? 'Today' : pluralize(age_days, 'day')}</DescriptionItem>
        <DescriptionItem term="Domains">{formatNumber(disposable_domains)}</DescriptionItem>
        <DescriptionItem term="Last update">
          {attempted_at === null ? 'Never' : <Timestamp at={attempted_at} />}
        </DescriptionItem>
      </DescriptionList>
      <DataTable label="Sources" columns={COLUMNS} rows={sources} rowKey={({ name }) => name} />
    </>
  );
}

const listsQuery = queryOptions({
  queryKey: [...OPERATOR_KEY, 'lists'],
  queryFn: () => unwrap(api.GET('/dashboard/operator/lists')),
});

export const DisposableListsPage = () => (
  <OperatorOnly>
    <ListsPanel />
  </OperatorOnly>
);

function ListsPanel() {
  const query = useQuery(listsQuery);
  const client = useQueryClient();
  const update = useMutation({
    mutationFn: () => unwrap(api.POST('/dashboard/operator/lists/update')),
    onSuccess: ({ lists }) => client.setQueryData(listsQuery.queryKey, lists),
  });
  return (
    <Page
      title="Disposable lists"
      about="The list of disposable email domains. It grows every day: an outdated list misses new domains."
      action={
        <Button variant="filled" onClick={() => update.mutate()} loading={update.isPending}>
          Update now
        </Button>
      }
    >
      {update.isPending && <Elapsed label="Downloading and checking the latest list…" seconds={20} />}
      {update.error && <ErrorAlert error={update.error} />}
      {update.data && !update.isPending && (
        <Alert color="green" variant="outline" role="status" title="List updated">
          <Text size="sm" className="anywhere">
            {update.data.message}
          </Text>
        </Alert>
      )}
      <QueryResult query={query}>{(lists) => <ListDetails lists={lists} />}</QueryResult>
      <Text size="sm" c="dimmed" maw={640}>
        A background job updates it every day, unless MAILVET_LISTS_UPDATE is off. All nodes use a new list without a
        restart.
      </Text>
    </Page>
  );
}
