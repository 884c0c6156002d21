import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, Button, Code, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { keysOf } from '../../../src/kernel/facts/keys-of.ts';
import { LIST_QUERY_LENGTH } from '../../../src/kernel/facts/limits.ts';
import { LIST_ORDERS } from '../../../src/kernel/facts/sort-orders.ts';
import { overviewQuery } from '../api/account.ts';
import type { List } from '../api/schema.ts';
import { useAccount, useHasRole } from '../api/session.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { FilterChip } from '../parts/filter-chip.tsx';
import { formatNumber, zoneName } from '../parts/format.ts';
import { Page } from '../parts/page.tsx';
import { Pagination } from '../parts/pagination.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { SearchBar } from '../parts/search-bar.tsx';
import { sortable } from '../parts/sorting.tsx';
import { Timestamp } from '../parts/timestamp.tsx';
import { useLastPage } from '../parts/use-last-page.ts';
import { FailedLists } from './lists/failed.tsx';
import { etaText, ListProgress } from './lists/progress-bar.tsx';
import { listsQuery } from './lists/queries.ts';
import { type ListsSearch, listsSearch } from './lists/search.ts';
import { ListStatusTag, STATUS_LABELS } from './lists/status.tsx';

export function ListsPage() {
  const { id } = useAccount();
  const mayChange = useHasRole('member');
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery({ ...listsQuery(id, search), placeholderData: keepPreviousData });
  const overview = useQuery(overviewQuery(id));
  const { page = 1, query: text, status } = search;
  const isSearch = text !== undefined || status !== undefined;
  const show = (part: Readonly<Record<string, string | number | null>>) =>
    void navigate({ search: listsSearch({ ...search, page: null, ...part }), resetScroll: false });
  const last = query.isPlaceholderData ? undefined : query.data?.pagination.total_pages;
  useLastPage(page, last, (page) => void navigate({ search: listsSearch({ ...search, page }), replace: true }));
  const isEmpty = query.data?.lists.length === 0 && page === 1;
  return (
    <Page
      title={t`Lists`}
      about={t`Files of addresses, each verified as one job. Times are ${zoneName(Date.now())}.`}
      action={
        mayChange && (
          <Button variant="filled" renderRoot={(props) => <Link {...props} to="/lists/new" />}>{t`New list`}</Button>
        )
      }
    >
      {overview.data && <FailedLists lists={overview.data.failed_lists} />}
      {!(isEmpty && !isSearch) && (
        <SearchBar
          label={t`Lists`}
          search={{
            label: t`Name`,
            placeholder: t`Name`,
            maxLength: LIST_QUERY_LENGTH.max,
            value: text ?? '',
            onSearch: (query) => show({ query }),
          }}
          count={query.data && plural(query.data.pagination.total_count, { one: '# list', other: '# lists' })}
        >
          <FilterChip
            name={t`State`}
            value={status ?? null}
            options={keysOf(STATUS_LABELS).map((value) => ({ value, label: STATUS_LABELS[value] }))}
            onChange={(status) => show({ status })}
          />
        </SearchBar>
      )}
      <QueryResult query={query}>
        {({ lists, pagination }) =>
          isEmpty ? (
            <NoLists isSearch={isSearch} mayChange={mayChange} />
          ) : (
            <>
              <DataTable label={t`Lists`} columns={columnsFor(search)} rows={lists} rowKey={({ id }) => id} />
              <Pagination
                label={t`Pages of lists`}
                page={page}
                total={pagination.total_pages}
                onTurn={(page) => show({ page })}
              />
            </>
          )
        }
      </QueryResult>
    </Page>
  );
}

const route = getRouteApi('/inside/lists');

function columnsFor({ page: _page, ...search }: ListsSearch): readonly Column<List>[] {
  const by = sortable(LIST_ORDERS, search, ({ sort, order }) => ({
    to: '/lists',
    search: listsSearch({ ...search, sort, order }),
  }));
  return [
    { ...by('name', t`Name`), cell: (list) => <Name of={list} /> },
    { header: t`State`, cell: (list) => <ListStatusTag of={list} />, folds: true },
    { ...by('rows', t`Rows`), cell: ({ rows }) => formatNumber(rows.total), numeric: true },
    { header: t`Verdicts`, cell: (list) => <Verdicts of={list} />, folds: true },
    {
      ...by('spent', t`Credits`),
      cell: ({ credits, status }) => (status === 'ready' ? '–' : formatNumber(credits.used)),
      numeric: true,
    },
    {
      ...by('created', t`Uploaded`),
      cell: ({ created_at }) => <Timestamp at={created_at} />,
      folds: 'first',
    },
  ];
}

const Name = ({ of }: { of: List }) => (
  <>
    <Anchor
      fz="sm"
      fw={560}
      className="anywhere"
      renderRoot={(props) => <Link {...props} to="/lists/$id" params={{ id: of.id }} />}
    >
      {of.name}
    </Anchor>
    <Text size="xs" c="dimmed">
      {of.validation_type}
    </Text>
  </>
);

function Verdicts({ of }: { of: List }) {
  const { status, progress } = of;
  const eta = etaText(of);
  if (status === 'ready') return <span className="dim">{t`None yet`}</span>;
  return (
    <>
      <ListProgress of={of} thin />
      {status === 'running' && (
        <Text size="xs" c="dimmed" className="numbers">
          {progress.percent} %{eta !== null && `, ${eta}`}
        </Text>
      )}
    </>
  );
}

const NoLists = ({ isSearch, mayChange }: { isSearch: boolean; mayChange: boolean }) =>
  isSearch ? (
    <EmptyState
      title={t`No matches`}
      action={
        <Anchor fz="sm" renderRoot={(props) => <Link {...props} to="/lists" search={{}} />}>{t`Show all`}</Anchor>
      }
    >{t`No list matches. Clear a filter, or search for a part of the name.`}</EmptyState>
  ) : (
    <EmptyState
      title={t`No lists yet`}
      action={mayChange && <Anchor component={Link} to="/lists/new">{t`Upload a file`}</Anchor>}
    >
      <Trans>
        Lists come from files that you upload here, from <Code>POST /v1/lists</Code> of the API, and from the command{' '}
        <Code>mailvet lists submit</Code>.
      </Trans>
    </EmptyState>
  );
