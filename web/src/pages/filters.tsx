import { Anchor, Button, Group, NativeSelect, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { FILTER_TYPES } from '../../../src/kernel/facts/filter-types.ts';
import { FILTER_QUERY_LENGTH } from '../../../src/kernel/facts/limits.ts';
import type { Filter } from '../api/schema.ts';
import { useAccount } from '../api/session.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { ErrorAlert } from '../parts/error-alert.tsx';
import { focusContent } from '../parts/focus.ts';
import { pluralize } from '../parts/format.ts';
import { notify } from '../parts/notify.tsx';
import { Page } from '../parts/page.tsx';
import { Pagination } from '../parts/pagination.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { SearchBox } from '../parts/search-box.tsx';
import { useLastPage } from '../parts/use-last-page.ts';
import { useSearchOnce } from '../parts/use-search-once.ts';
import { AddDialog } from './filters/add-dialog.tsx';
import { ImportDialog } from './filters/import/import-dialog.tsx';
import { addFilter, filtersKey, filtersQuery, removeFilter } from './filters/queries.ts';
import { type FiltersSearch, filtersSearch } from './filters/search.ts';
import { FiltersTable } from './filters/table.tsx';
import { FILTER_TYPE_LABELS } from './filters/types.ts';

const route = getRouteApi('/inside/filters');
const TYPES = [
  { value: '', label: 'All types' },
  ...FILTER_TYPES.map((type) => ({ value: type, label: FILTER_TYPE_LABELS[type].many })),
];

export function FiltersPage() {
  const { id } = useAccount();
  const { add, ...search } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(filtersQuery(id, search));
  /** The value that the dialog begins with, while it is open. */
  const [adding, setAdding] = useState<string | null>(null);
  useSearchOnce('add', add, setAdding);
  const [importing, importDialog] = useDisclosure();
  const remove = useRemove(id);
  const removeMany = useRemoveMany(id);
  const go = (change: Partial<Record<keyof FiltersSearch, unknown>>) =>
    void navigate({ search: filtersSearch({ ...search, page: undefined, ...change }), replace: true });
  const last = query.isPlaceholderData ? undefined : query.data?.pagination.total_pages;
  useLastPage(search.page ?? 1, last, (page) => go({ page }));
  const isSearch = search.query !== undefined || search.type !== undefined;

  return (
    <Page
      title="Filters"
      about="An address that matches a filter is reported as bad immediately, at no charge."
      action={
        <Group gap="xs">
          <Button component="a" href={`/dashboard/accounts/${encodeURIComponent(id)}/filters.csv`} download>
            Download CSV
          </Button>
          <Button onClick={importDialog.open}>Import</Button>
          <Button variant="filled" onClick={() => setAdding('')}>
            Add filter
          </Button>
        </Group>
      }
    >
      <Group align="flex-end" role="search" aria-label="Filters">
        <SearchBox
          label="Search"
          placeholder="Value or reason"
          value={search.query ?? ''}
          maxLength={FILTER_QUERY_LENGTH.max}
          onSearch={(text) => go({ query: text })}
        />
        <NativeSelect
          label="Type"
          data={TYPES}
          value={search.type ?? ''}
          onChange={(event) => go({ type: event.currentTarget.value })}
        />
      </Group>
      {remove.error && <ErrorAlert error={remove.error} />}
      {removeMany.error && <ErrorAlert error={removeMany.error} />}
      <QueryResult query={query}>
        {({ filters, pagination }) =>
          filters.length > 0 ? (
            <Stack aria-busy={query.isPlaceholderData}>
              <FiltersTable
                filters={filters}
                search={search}
                busy={remove.isPending ? remove.variables.filter.id : null}
                onRemove={(filter, next) => remove.mutate({ filter, next })}
                many={{ busy: removeMany.isPending, onRemove: removeMany.mutate }}
              />
              <Pagination
                label="Pages of filters"
                page={pagination.current_page}
                total={pagination.total_pages}
                onTurn={(page) => go({ page })}
              />
            </Stack>
          ) : isSearch ? (
            <EmptyState title="No matching filters">Try a shorter search term or all types.</EmptyState>
          ) : (
            <EmptyState
              title="No filters yet"
              action={
                <Anchor component="button" type="button" onClick={importDialog.open}>
                  Paste a list or choose a CSV file
                </Anchor>
              }
            >
              A filter blocks an email address, a domain or an IP network: for example a disposable domain that is not
              on the lists yet, or a user who keeps signing up. Filters apply to all API keys of the account.
            </EmptyState>
          )
        }
      </QueryResult>
      <AddDialog value={adding} onClose={() => setAdding(null)} />
      <ImportDialog opened={importing} onClose={importDialog.close} />
    </Page>
  );
}

/** Removes a filter and offers an undo. */
function useRemove(account: string) {
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: filtersKey(account) });
  return useMutation({
    mutationFn: ({ filter }: { filter: Filter; next: HTMLElement | null }) => removeFilter(account, filter.id),
    onSuccess: (_done, { filter: { value, reason, filter_type }, next }) => {
      next?.focus();
      void notify(`Removed ${value}.`, async () => {
        await addFilter(account, { value, reason, filter_type });
        await refresh();
      });
    },
    onSettled: refresh,
  });
}

/** Removes those of a page, one after the other, and offers an undo. */
function useRemoveMany(account: string) {
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: filtersKey(account) });
  const offerUndo = (removed: readonly Filter[]) =>
    void notify(`Removed ${pluralize(removed.length, 'filter')}.`, async () => {
      // The oldest first, so that they stand in their order again.
      for (const { value, reason, filter_type } of removed.toReversed())
        await addFilter(account, { value, reason, filter_type });
      await refresh();
    });
  return useMutation({
    mutationFn: async (filters: readonly Filter[]) => {
      const removed: Filter[] = [];
      try {
        for (const filter of filters) {
          await removeFilter(account, filter.id);
          removed.push(filter);
        }
      } finally {
        // Also where one of them failed: those before it are gone.
        if (removed.length > 0) offerUndo(removed);
      }
    },
    // The button that was pressed is gone.
    onSuccess: () => focusContent(),
    onSettled: refresh,
  });
}
