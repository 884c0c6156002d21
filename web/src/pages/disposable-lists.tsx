import { plural, t } from '@lingui/core/macro';
import { Plural, Trans } from '@lingui/react/macro';
import { Alert, Button, Text } from '@mantine/core';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { LISTS_STALE_DAYS } from '../../../src/kernel/facts/limits.ts';
import { api, unwrap } from '../api/client.ts';
import type { DisposableLists } from '../api/schema.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { DescriptionItem, DescriptionList } from '../parts/description-list.tsx';
import { Elapsed } from '../parts/elapsed.tsx';
import { ErrorAlert } from '../parts/error-alert.tsx';
import { formatNumber } from '../parts/format.ts';
import { Page } from '../parts/page.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { Timestamp } from '../parts/timestamp.tsx';
import { OperatorOnly } from './operator/operator-only.tsx';
import { OPERATOR_KEY } from './operator/queries.ts';

type Source = DisposableLists['sources'][number];

const COLUMNS: readonly Column<Source>[] = [
  {
    header: t`Source`,
    cell: ({ name, url, license, problem }) => (
      <>
        <Text size="sm">{name}</Text>
        <Text size="xs" c="dimmed" className="anywhere">
          {url === null ? t`Not downloaded` : url} · {license}
        </Text>
        {problem !== null && (
          <Text size="xs" c="red" className="anywhere">
            <Trans>Last good copy in use: {problem}</Trans>
          </Text>
        )}
      </>
    ),
  },
  { header: t`Domains`, cell: ({ domains }) => formatNumber(domains), numeric: true },
  {
    header: t`Downloaded`,
    cell: ({ downloaded_at }) => (downloaded_at === null ? t`With the package` : <Timestamp at={downloaded_at} />),
  },
  { header: t`Weight`, cell: ({ weight }) => weight, folds: true },
];

function ListDetails({ lists }: { lists: DisposableLists }) {
  const { version, age_days, disposable_domains, problem, attempted_at, failed, sources } = lists;
  return (
    <>
      {problem !== null && (
        <Alert color="red" variant="outline" title={t`The latest list is not in use`} className="anywhere">
          {problem}
        </Alert>
      )}
      {failed !== null && (
        <Alert color="yellow" variant="outline" title={t`The last update failed`} className="anywhere">
          {failed}
        </Alert>
      )}
      {age_days > LISTS_STALE_DAYS && (
        <Alert color="yellow" variant="outline" title={t`The list is outdated`}>
          <Trans>
            It is <Plural value={age_days} one="# day" other="# days" /> old. Update it now.
          </Trans>
        </Alert>
      )}
      <DescriptionList>
        <DescriptionItem term={t`Version`}>{version}</DescriptionItem>
        <DescriptionItem term={t`Age`}>
          {age_days === 0 ? t`Today` : plural(age_days, { one: '# day', other: '# days' })}
        </DescriptionItem>
        <DescriptionItem term={t`Domains`}>{formatNumber(disposable_domains)}</DescriptionItem>
        <DescriptionItem term={t`Last update`}>
          {attempted_at === null ? t`Never` : <Timestamp at={attempted_at} />}
        </DescriptionItem>
      </DescriptionList>
      <DataTable label={t`Sources`} columns={COLUMNS} rows={sources} rowKey={({ name }) => name} />
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
      title={t`Disposable lists`}
      about={t`The list of disposable email domains. It grows every day: an outdated list misses new domains.`}
      action={
        <Button variant="filled" onClick={() => update.mutate()} loading={update.isPending}>{t`Update now`}</Button>
      }
    >
      {update.isPending && <Elapsed label={t`Downloading and checking the latest list…`} seconds={20} />}
      {update.error && <ErrorAlert error={update.error} />}
      {update.data && !update.isPending && (
        <Alert color="green" variant="outline" role="status" title={t`List updated`}>
          <Text size="sm" className="anywhere">
            {update.data.message}
          </Text>
        </Alert>
      )}
      <QueryResult query={query}>{(lists) => <ListDetails lists={lists} />}</QueryResult>
      <Text
        size="sm"
        c="dimmed"
        maw={640}
      >{t`A background job updates it every day, unless MAILVET_LISTS_UPDATE is off. All nodes use a new list without a restart.`}</Text>
    </Page>
  );
}
