import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Button, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useDeferredValue, useEffect, useMemo, useState } from 'react';
import { given } from '../../../../src/kernel/facts/given.ts';
import { LIST_QUERY_LENGTH, PAGE_SIZE } from '../../../../src/kernel/facts/limits.ts';
import { ApiError, api, unreachable, unwrap } from '../../api/client.ts';
import type { ListHere, ListRowsHere } from '../../api/schema.ts';
import { useAccount, useHasRole } from '../../api/session.ts';
import { DescriptionItem, DescriptionList } from '../../parts/description-list.tsx';
import { ErrorAlert } from '../../parts/error-alert.tsx';
import { formatNumber } from '../../parts/format.ts';
import { FreshBar } from '../../parts/fresh-bar.tsx';
import { Icon } from '../../parts/icon.tsx';
import { LoadMore } from '../../parts/load-more.tsx';
import { notify } from '../../parts/notify.tsx';
import { Panel } from '../../parts/panel.tsx';
import { focusRow } from '../../parts/rows.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { useAsyncAction } from '../../parts/use-async-action.ts';
import { useRowShortcuts } from '../../parts/use-row-shortcuts.ts';
import { escapeInvisible } from '../../parts/verdict/escape-invisible.ts';
import { EntryDrawer } from '../log/entry-drawer.tsx';
import { Erase } from '../log/erase.tsx';
import css from './list.module.css';
import { listsKey } from './queries.ts';
import { RowTable } from './row-table.tsx';
import type { ListSearch } from './search.ts';
import { countOf, resultsHref, shownFilter, titleOf } from './shown-rows.ts';

type Row = ListRowsHere['rows'][number];

/** A search goes on by itself through so many pages without a match. */
const EMPTY_PAGES = 10;
/** So many are filled in as results arrive; more would take too many requests. */
const PAGES_IN_PLACE = 2;

/**
 * Rows in the order of the file. They never move by themselves: those of a verdict are announced, and shown on request.
 */
export function Rows(props: { of: ListHere; search: ListSearch; onSearch: (search: ListSearch) => void }) {
  const { of, search, onSearch } = props;
  const isAdmin = useHasRole('admin');
  const client = useQueryClient();
  const [erasing, setErasing] = useState<string | null>(null);
  const { open, verdict, reason, query: text } = search;
  const { query, queryKey, pages, rows } = useRows(of, search);
  // A thousand rows follow after what was clicked has been painted.
  const table = useDeferredValue(useMemo(() => ({ rows, search }), [rows, search]));
  const fresh = useFresh(countOf(of, search), `${query.dataUpdatedAt} ${JSON.stringify(queryKey)}`);
  // Verdicts that appear in rows in the order of the file move none of them.
  const isInPlace = verdict === undefined && reason === undefined && pages.length <= PAGES_IN_PLACE;
  useRefill(query, isInPlace && fresh > 0);
  const opened = rows.filter(({ verification_id }) => verification_id !== null);
  const step = (by: -1 | 1) => {
    const at = opened.findIndex(({ verification_id }) => verification_id === open);
    const next = opened[at < 0 ? 0 : at + by]?.verification_id;
    if (next != null) onSearch({ ...search, open: next });
  };
  useRowShortcuts(step);
  const close = () => {
    const { open: _open, ...rest } = search;
    focusRow(open);
    onSearch(rest);
  };
  return (
    <div className={css.rows}>
      <Panel
        title={titleOf(search)}
        note={t`in the order of the file`}
        flush
        actions={
          <div className={css.tools}>
            <SearchBox
              label={t`Part of an address`}
              placeholder={t`Address, domain`}
              maxLength={LIST_QUERY_LENGTH.max}
              value={text ?? ''}
              onSearch={(query) => onSearch({ ...withoutQuery(search), ...(query === '' ? {} : { query }) })}
            />
            <CopyAddresses rows={rows} all={query.hasNextPage ? { of, search } : null} />
          </div>
        }
      >
        {fresh > 0 && !isInPlace && (
          <FreshBar icon="refresh" onShow={() => void client.resetQueries({ queryKey })}>
            {plural(fresh, { one: '# new result', other: '# new results' })}
          </FreshBar>
        )}
        {table.rows.length > 0 && <RowTable list={of.id} isOver={of.finished_at !== null} {...table} />}
        <div className={css.more}>
          <LoadMore query={query}>
            {(pages) => <Reach pages={pages} found={rows.length} total={of.rows.total} />}
          </LoadMore>
        </div>
        {open !== undefined && (
          <EntryDrawer id={open} onStep={step} onClose={close} onErase={isAdmin ? setErasing : null}>
            <RowData of={of} row={rows.find((row) => row.verification_id === open)?.row} />
          </EntryDrawer>
        )}
        <Erase
          opened={erasing !== null}
          initial={erasing ?? ''}
          onClose={() => setErasing(null)}
          onErased={async () => {
            close();
            await client.resetQueries({ queryKey });
          }}
        />
      </Panel>
    </div>
  );
}

/** The rows of a list that a search finds, as far as they are loaded. */
function useRows(of: ListHere, { verdict, reason, kind, query: text }: ListSearch) {
  const { id: account } = useAccount();
  const filters = { deliverability: verdict, reason, kind, query: text };
  const queryKey = [...listsKey(account), 'rows', of.id, filters];
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam: after, signal }) => {
      const query = { ...given(filters), after, limit: PAGE_SIZE.default };
      const params = { path: { account, id: of.id }, query };
      return unwrap(api.GET('/dashboard/accounts/{account}/lists/{id}/rows', { params, signal }));
    },
    initialPageParam: 0,
    getNextPageParam: ({ next }) => next,
    select: ({ pages }): readonly ListRowsHere[] => pages,
    // Rows stay as they are while they are looked at.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const { data } = query;
  const pages = data ?? [];
  const rows = useMemo(() => (data ?? []).flatMap((page) => page.rows), [data]);
  useSearchOn(query, rows.length === 0 && pages.length > 0 && pages.length < EMPTY_PAGES);
  return { query, queryKey, pages, rows };
}

function withoutQuery({ query: _query, open: _open, ...rest }: ListSearch): ListSearch {
  return rest;
}

/** Loads pages until one has a row. */
function useSearchOn(
  query: { hasNextPage: boolean; isFetching: boolean; fetchNextPage: () => Promise<unknown> },
  isEmpty: boolean,
): void {
  const { hasNextPage, isFetching, fetchNextPage } = query;
  useEffect(() => {
    if (isEmpty && hasNextPage && !isFetching) void fetchNextPage();
  }, [isEmpty, hasNextPage, isFetching, fetchNextPage]);
}

/** Loads the same pages again while there is more to show. */
function useRefill(query: { isFetching: boolean; refetch: () => Promise<unknown> }, isWanted: boolean): void {
  const { isFetching, refetch } = query;
  useEffect(() => {
    if (isWanted && !isFetching) void refetch();
  }, [isWanted, isFetching, refetch]);
}

/** By how much a count has grown since `loaded` changed. */
function useFresh(count: number, loaded: string): number {
  const [base, setBase] = useState({ loaded, count });
  if (base.loaded === loaded) return count - base.count;
  setBase({ loaded, count });
  return 0;
}

/** How far the rows shown reach, or a search without matches has got. */
function Reach({ pages, found, total }: { pages: readonly ListRowsHere[]; found: number; total: number }) {
  const next = pages.at(-1)?.next ?? null;
  if (found === 0 && next === null) return <Text size="sm">{t`No rows match.`}</Text>;
  if (next === null) return null;
  return (
    <Text role="status" size="sm" c="dimmed">
      <Trans>
        {found === 0 && t`No matches yet. `}Up to row {formatNumber(next)} of {formatNumber(total)}.
      </Trans>
    </Text>
  );
}

/** The addresses of all rows that the search finds, also of those that are not loaded yet. `all`: null: all are. */
function CopyAddresses({ rows, all }: { rows: readonly Row[]; all: { of: ListHere; search: ListSearch } | null }) {
  const { id: account } = useAccount();
  const loaded = [...new Set(rows.flatMap(({ email }) => email ?? []))];
  // The rows of a kind are no part of the results.
  const search = all === null || all.search.kind !== undefined ? null : all.search;
  const { run, busy, error } = useAsyncAction(async () => {
    const addresses =
      search === null || all === null ? loaded : await allAddresses(account, all.of.id, shownFilter(search) ?? {});
    await navigator.clipboard.writeText(addresses.join('\n'));
    void notify(t`Copied ${plural(addresses.length, { one: '# address', other: '# addresses' })}.`);
  });
  const count = search === null || all === null || search.query !== undefined ? loaded.length : countOf(all.of, search);
  return (
    <>
      <Button
        size="xs"
        leftSection={<Icon name="copy" size={14} />}
        onClick={run}
        loading={busy}
        disabled={loaded.length === 0}
      >
        {search?.query === undefined
          ? t`Copy ${plural(count, { one: '# address', other: '# addresses' })}`
          : t`Copy all addresses`}
      </Button>
      {error && <ErrorAlert error={error} />}
    </>
  );
}

async function allAddresses(account: string, list: string, filter: Readonly<Record<string, string>>) {
  const reply = await fetch(resultsHref(account, list, { format: 'jsonl', ...filter })).catch(() => {
    throw unreachable();
  });
  if (!reply.ok) throw new ApiError(reply.status, await reply.json().catch(() => null));
  const lines = (await reply.text()).split('\n').filter((line) => line !== '');
  return [...new Set(lines.flatMap((line) => JSON.parse(line).email ?? []))];
}

/** What the file has in the row beside the address. */
function RowData({ of, row }: { of: ListHere; row: number | undefined }) {
  const { id: account } = useAccount();
  const query = useQuery({
    queryKey: [...listsKey(account), 'row', of.id, row],
    queryFn: ({ signal }) => {
      const params = { path: { account, id: of.id }, query: { after: row! - 1, limit: 1, cells: 'true' as const } };
      return unwrap(api.GET('/dashboard/accounts/{account}/lists/{id}/rows', { params, signal }));
    },
    enabled: row !== undefined,
  });
  const cells = query.data?.rows[0]?.cells ?? [];
  const shown = cells.flatMap((cell, i) => (cell === '' ? [] : [{ name: of.columns[i] ?? t`Column ${i + 1}`, cell }]));
  if (row === undefined || shown.length === 0) return null;
  return (
    <section aria-label={t`Row ${formatNumber(row)} of the file`}>
      <Text fw={560} size="sm" mb={4}>
        <Trans>Row {formatNumber(row)} of the file</Trans>
      </Text>
      <DescriptionList>
        {shown.map(({ name, cell }, i) => (
          <DescriptionItem key={`${i} ${name}`} term={escapeInvisible(name)}>
            <span className="anywhere">{escapeInvisible(cell)}</span>
          </DescriptionItem>
        ))}
      </DescriptionList>
    </section>
  );
}
