import { Anchor, Button, Text } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, unwrap } from '../api/client.ts';
import type { Log } from '../api/schema.ts';
import { useAccount, useMay } from '../api/session.ts';
import { Empty } from '../parts/empty.tsx';
import { Older, useKeyset } from '../parts/older.tsx';
import { Page } from '../parts/page.tsx';
import { atTime, counted } from '../parts/words.ts';
import { Erase } from './log/erase.tsx';
import { SearchForm } from './log/search-form.tsx';
import { LogTable } from './log/table.tsx';

const route = getRouteApi('/inside/log');
const PER_PAGE = 50;

export function LogPage() {
  const { id } = useAccount();
  const mayAdmin = useMay('admin');
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [erasing, setErasing] = useState(false);
  const isSearch = Object.keys(search).length > 0;
  const query = useKeyset(['account', id, 'log', search], (before) => {
    const asked = { ...search, limit: PER_PAGE, ...(before === undefined ? {} : { before }) };
    return unwrap(api.GET('/dashboard/accounts/{account}/log', { params: { path: { account: id }, query: asked } }));
  });
  const days = query.data?.[0]?.retention_days;
  return (
    <Page
      title="Log"
      about={<>Every verification, newest first{days !== undefined && `; kept for ${counted(days, 'day')}`}.</>}
      action={mayAdmin && <Button onClick={() => setErasing(true)}>Erase an address</Button>}
    >
      <SearchForm key={JSON.stringify(search)} search={search} onSearch={(search) => void navigate({ search })} />
      <Older query={query}>
        {(pages) => {
          const entries = pages.flatMap((page) => page.entries);
          return (
            <>
              {entries.length > 0 && <LogTable entries={entries} />}
              <HowFar pages={pages} found={entries.length} />
              {entries.length === 0 && pages.at(-1)?.next === null && <Nothing isSearch={isSearch} />}
            </>
          );
        }}
      </Older>
      <Erase opened={erasing} initial={search.email ?? ''} onClose={() => setErasing(false)} />
    </Page>
  );
}

/** A search looks through a bounded number of entries at a time; where it stopped before it had found enough, it says so. */
function HowFar({ pages, found }: { pages: readonly Log[]; found: number }) {
  const { entries = [], next, searched_to } = pages.at(-1) ?? {};
  if (next == null || searched_to == null || entries.length >= PER_PAGE) return null;
  return (
    <Text role="status" size="sm" ta="center">
      {found === 0 ? 'Nothing found yet. ' : ''}Searched back to {atTime(searched_to)}; “Older” goes on from there.
    </Text>
  );
}

const Nothing = ({ isSearch }: { isSearch: boolean }) =>
  isSearch ? (
    <Empty
      title="Nothing found"
      action={
        <Anchor component={Link} to="/log">
          Show everything
        </Anchor>
      }
    >
      No verification that is still kept is like that. Search for less: the beginning of an address is enough.
    </Empty>
  ) : (
    <Empty
      title="Nothing was verified yet"
      action={
        <Anchor component={Link} to="/verify">
          Verify an address
        </Anchor>
      }
    >
      What the API and the dashboard answer stands here.
    </Empty>
  );
