import { Anchor, Button, Group, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useCallback, useDeferredValue, useMemo, useState } from 'react';
import { PAGE_SIZE } from '../../../src/kernel/facts/limits.ts';
import { api, unwrap } from '../api/client.ts';
import type { Log } from '../api/schema.ts';
import { useAccount, useHasRole } from '../api/session.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { formatDateTime, pluralize } from '../parts/format.ts';
import { FreshBar } from '../parts/fresh-bar.tsx';
import { LoadMore, useKeysetQuery } from '../parts/load-more.tsx';
import { Page } from '../parts/page.tsx';
import { focusRow } from '../parts/rows.tsx';
import { ViewsMenu } from '../parts/saved-views/views-menu.tsx';
import { useRowShortcuts } from '../parts/use-row-shortcuts.ts';
import { EntryDrawer } from './log/entry-drawer.tsx';
import { Erase } from './log/erase.tsx';
import { ExportMenu } from './log/export-menu.tsx';
import { LogFilters } from './log/filters.tsx';
import { Hours } from './log/hours.tsx';
import css from './log/log.module.css';
import { RejectedDrawer } from './log/rejected-drawer.tsx';
import { rejectedId, rowsOf } from './log/rows.ts';
import { BUILT_IN_VIEWS, type LogSearch, logQuery, viewSearch, viewText } from './log/search.ts';
import { LogTable } from './log/table.tsx';
import { useNewEntries } from './log/use-new-entries.ts';

const route = getRouteApi('/inside/log');

export function LogPage() {
  const { id } = useAccount();
  const isAdmin = useHasRole('admin');
  const search = route.useSearch();
  // The same object, whatever row is open: what depends on it alone is not rendered again with each row.
  const filters = route.useSearch({ select: withoutOpen, structuralSharing: true });
  const navigate = route.useNavigate();
  const client = useQueryClient();
  /** The address to erase, while the dialog is open. */
  const [erasing, setErasing] = useState<string | null>(null);
  const { open } = search;
  const isSearch = Object.keys(filters).length > 0;
  const queryKey = ['account', id, 'log', filters];
  const query = useKeysetQuery(queryKey, (before) => {
    const page = { limit: PAGE_SIZE.default, ...(before === undefined ? {} : { before }) };
    const query = { ...logQuery(filters, Date.now()), ...page };
    return unwrap(api.GET('/dashboard/accounts/{account}/log', { params: { path: { account: id }, query } }));
  });
  const { data } = query;
  const rows = useMemo(() => (data ?? []).flatMap(rowsOf), [data]);
  // A thousand rows follow after what was clicked has been painted.
  const table = useDeferredValue(useMemo(() => ({ rows, search }), [rows, search]));
  const days = data?.[0]?.retention_days;
  const fresh = useNewEntries(id, filters, rows[0]);
  const show = useCallback((next: LogSearch) => void navigate({ search: next, resetScroll: false }), [navigate]);
  const showHours = useCallback(
    (hours: Pick<LogSearch, 'hour' | 'until'>) => show({ ...withoutTime(filters), ...hours }),
    [show, filters],
  );
  const showView = useCallback((text: string) => show(viewSearch(text)), [show]);
  const openEntry = useCallback(
    (open: string) => void navigate({ search: (now: LogSearch) => ({ ...now, open }), resetScroll: false }),
    [navigate],
  );
  const close = () => {
    focusRow(open);
    show(filters);
  };
  const step = (by: -1 | 1) => {
    const at = rows.findIndex((row) => row.id === open);
    const next = rows[at < 0 ? 0 : at + by];
    if (next) openEntry(next.id);
  };
  useRowShortcuts(step);
  const rejected = rejectedId(open ?? '');
  return (
    <Page
      title="Log"
      about={
        <>
          Verifications and rejected requests, newest first.
          {days !== undefined && ` Kept for ${pluralize(days, 'day')}.`} Times are UTC.
        </>
      }
      action={
        <Group gap="xs">
          {isAdmin && <Button onClick={() => setErasing('')}>Erase address</Button>}
          <ViewsMenu page="log" builtIn={BUILT_IN_VIEWS} search={viewText(filters)} onChoose={showView} />
          <ExportMenu search={filters} isSearch={isSearch} />
        </Group>
      }
    >
      <LogFilters search={filters} onSearch={show} />
      <div className={css.panel}>
        <Hours chosen={filters} onChoose={showHours} />
        {fresh !== null && (
          <FreshBar icon="arrow-up" onShow={() => void client.resetQueries({ queryKey })}>
            {`${fresh} new`}
          </FreshBar>
        )}
        {table.rows.length > 0 && <LogTable {...table} onOpen={openEntry} />}
      </div>
      <LoadMore query={query}>
        {(pages) => (
          <>
            {rows.length === 0 && pages.at(-1)?.next === null && <NoEntries isSearch={isSearch} />}
            <SearchProgress pages={pages} found={rows.length} />
          </>
        )}
      </LoadMore>
      {open !== undefined &&
        (rejected === null ? (
          <EntryDrawer id={open} onStep={step} onClose={close} onErase={isAdmin ? setErasing : null} />
        ) : (
          <RejectedDrawer id={rejected} onStep={step} onClose={close} />
        ))}
      <Erase
        opened={erasing !== null}
        initial={erasing ?? ''}
        onClose={() => setErasing(null)}
        onErased={async () => show(filters)}
      />
    </Page>
  );
}

const withoutOpen = ({ open: _open, ...filters }: LogSearch): LogSearch => filters;

function withoutTime({
  range: _range,
  hour: _hour,
  until: _until,
  from: _from,
  to: _to,
  ...filters
}: LogSearch): LogSearch {
  return filters;
}

/** A search reads a limited number of entries per request; this shows how far back it got. */
function SearchProgress({ pages, found }: { pages: readonly Log[]; found: number }) {
  const last = pages.at(-1);
  if (last === undefined || last.next === null || last.searched_to === null) return null;
  if (rowsOf(last).length >= PAGE_SIZE.default) return null;
  return (
    <Text role="status" size="sm" ta="center">
      {found === 0 ? 'No matches yet. ' : ''}Searched back to {formatDateTime(last.searched_to)}; choose “Load more” to
      continue.
    </Text>
  );
}

const NoEntries = ({ isSearch }: { isSearch: boolean }) =>
  isSearch ? (
    <EmptyState
      title="No matches"
      action={
        <Anchor fz="sm" renderRoot={(props) => <Link {...props} to="/log" search={{}} />}>
          Show all
        </Anchor>
      }
    >
      Nothing in the log matches. Clear a filter, or search for a part of the address.
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
