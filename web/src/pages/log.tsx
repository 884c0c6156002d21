import { Anchor, Button, Text } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, unwrap } from '../api/client.ts';
import { PAGE_SIZE } from '../api/limits.ts';
import type { Log } from '../api/schema.ts';
import { useAccount, useHasRole } from '../api/session.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { formatDateTime, pluralize } from '../parts/format.ts';
import { LoadMore, useKeysetQuery } from '../parts/load-more.tsx';
import { Page } from '../parts/page.tsx';
import { Erase } from './log/erase.tsx';
import { SearchForm } from './log/search-form.tsx';
import { LogTable } from './log/table.tsx';

const route = getRouteApi('/inside/log');

export function LogPage() {
  const { id } = useAccount();
  const isAdmin = useHasRole('admin');
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [erasing, setErasing] = useState(false);
  const isSearch = Object.keys(search).length > 0;
  const query = useKeysetQuery(['account', id, 'log', search], (before) => {
    const params = { ...search, limit: PAGE_SIZE.default, ...(before === undefined ? {} : { before: Number(before) }) };
    return unwrap(api.GET('/dashboard/accounts/{account}/log', { params: { path: { account: id }, query: params } }));
  });
  const days = query.data?.[0]?.retention_days;
  return (
    <Page
      title="Log"
      about={<>All verifications, newest first.{days !== undefined && ` Kept for ${pluralize(days, 'day')}.`}</>}
      action={isAdmin && <Button onClick={() => setErasing(true)}>Erase address</Button>}
    >
      <SearchForm key={JSON.stringify(search)} search={search} onSearch={(search) => void navigate({ search })} />
      <LoadMore query={query}>
        {(pages) => {
          const entries = pages.flatMap((page) => page.entries);
          return (
            <>
              {entries.length > 0 && <LogTable entries={entries} />}
              <SearchProgress pages={pages} found={entries.length} />
              {entries.length === 0 && pages.at(-1)?.next === null && <NoEntries isSearch={isSearch} />}
            </>
          );
        }}
      </LoadMore>
      <Erase opened={erasing} initial={search.email ?? ''} onClose={() => setErasing(false)} />
    </Page>
  );
}

/** A search reads a limited number of entries per request; this shows how far back it got. */
function SearchProgress({ pages, found }: { pages: readonly Log[]; found: number }) {
  const { entries = [], next, searched_to } = pages.at(-1) ?? {};
  if (next == null || searched_to == null || entries.length >= PAGE_SIZE.default) return null;
  return (
    <Text role="status" size="sm" ta="center">
      {found === 0 ? 'No matches yet. ' : ''}Searched back to {formatDateTime(searched_to)}; choose “Load more” to
      continue.
    </Text>
  );
}

const NoEntries = ({ isSearch }: { isSearch: boolean }) =>
  isSearch ? (
    <EmptyState
      title="No matches"
      action={
        <Anchor component={Link} to="/log">
          Show all
        </Anchor>
      }
    >
      No verification in the log matches. Try a broader search: the start of an address is enough.
    </EmptyState>
  ) : (
    <EmptyState
      title="No verifications yet"
      action={
        <Anchor component={Link} to="/verify">
          Verify an address
        </Anchor>
      }
    >
      Verifications by the API and the dashboard are listed here.
    </EmptyState>
  );
