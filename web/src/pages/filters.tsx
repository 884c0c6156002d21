import { Anchor, Button, Group, Modal, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { FILTER_TYPES } from '../../../src/kernel/facts/filter-types.ts';
import { FILTER_QUERY_LENGTH, FILTER_REASON_LENGTH, FILTER_VALUE_LENGTH } from '../../../src/kernel/facts/limits.ts';
import { FILTER_ORDERS } from '../../../src/kernel/facts/sort-orders.ts';
import { ApiError } from '../api/client.ts';
import type { Filter } from '../api/schema.ts';
import { useAccount } from '../api/session.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { ErrorAlert } from '../parts/error-alert.tsx';
import { focusContent } from '../parts/focus.ts';
import { Form } from '../parts/form.tsx';
import { pluralize } from '../parts/format.ts';
import { notify } from '../parts/notify.tsx';
import { Page } from '../parts/page.tsx';
import { Pagination } from '../parts/pagination.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { SearchBox } from '../parts/search-box.tsx';
import { SelectionBar, useSelection } from '../parts/selection.tsx';
import { sortable } from '../parts/sorting.tsx';
import { Timestamp } from '../parts/timestamp.tsx';
import { useLastPage } from '../parts/use-last-page.ts';
import { useSearchOnce } from '../parts/use-search-once.ts';
import { useSubmit } from '../parts/use-submit.ts';
import { ImportDialog } from './filters/import/import-dialog.tsx';
import { addFilter, filtersKey, filtersQuery, removeFilter } from './filters/queries.ts';
import { type FiltersSearch, filtersSearch } from './filters/search.ts';
import { FILTER_TYPE_LABELS } from './filters/types.ts';

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

/** Adds one filter; the server detects its type. `value`: what it begins with; null: closed. */
function AddDialog({ value, onClose }: { value: string | null; onClose: () => void }) {
  return (
    <Modal opened={value !== null} onClose={onClose} title="Add filter">
      <AddForm initial={value ?? ''} onClose={onClose} />
    </Modal>
  );
}

function AddForm({ initial, onClose }: { initial: string; onClose: () => void }) {
  const { id } = useAccount();
  const client = useQueryClient();
  const submit = useSubmit(async ({ value = '', reason = '' }) => {
    const added = await addFilter(id, { value, reason: reason.trim() === '' ? null : reason.trim() }).catch(
      rethrowReadable,
    );
    onClose();
    const { one, blocks } = FILTER_TYPE_LABELS[added.filter_type];
    void notify(`${one} ${added.value} added. This blocks ${blocks}.`);
    await client.invalidateQueries({ queryKey: filtersKey(id) });
  });
  return (
    <Form submit={submit} action="Add" main onCancel={onClose}>
      <TextInput
        {...submit.field('value')}
        defaultValue={initial}
        label="Value"
        description="An email address, a domain (including its subdomains), an IP address or a CIDR block."
        placeholder="spam.example.com"
        maxLength={FILTER_VALUE_LENGTH.max}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
      />
      <TextInput
        {...submit.field('reason')}
        required={false}
        label="Reason"
        description="Optional note for your team."
        maxLength={FILTER_REASON_LENGTH.max}
        autoComplete="off"
      />
    </Form>
  );
}

/** The server's message for this error is written for API clients. */
function rethrowReadable(error: unknown): never {
  if (!(error instanceof ApiError) || error.code !== 'filter_exists') throw error;
  throw new ApiError(error.status, { error: 'This filter already exists.', code: error.code, field: error.field });
}

/** One page of filters. */
function FiltersTable(props: {
  filters: readonly Filter[];
  search: FiltersSearch;
  /** Id of the filter that is being removed. */
  busy: number | null;
  /** `next`: the element to focus once the row is gone. */
  onRemove: (filter: Filter, next: HTMLElement | null) => void;
  /** Removes several at once; `busy` while that runs. */
  many: { readonly busy: boolean; readonly onRemove: (filters: readonly Filter[]) => void };
}) {
  const { filters, search, busy, onRemove, many } = props;
  const selection = useSelection(
    filters,
    ({ id }) => id,
    ({ value }) => value,
  );
  const by = sortable(FILTER_ORDERS, search, ({ sort, order }) => ({
    to: '/filters',
    search: filtersSearch({ ...search, page: null, sort, order }),
  }));
  const columns: readonly Column<Filter>[] = [
    selection.column,
    {
      ...by('value', 'Value'),
      cell: ({ value, reason }) => (
        <>
          <span className="anywhere">{value}</span>
          <Text size="xs" c="dimmed" className="anywhere" hiddenFrom="sm">
            {reason}
          </Text>
        </>
      ),
    },
    { ...by('type', 'Type'), cell: ({ filter_type }) => FILTER_TYPE_LABELS[filter_type].one },
    { ...by('reason', 'Reason'), cell: ({ reason }) => <span className="anywhere">{reason}</span>, wideOnly: true },
    { ...by('added', 'Added'), cell: ({ created_at }) => <Timestamp at={created_at} />, wideOnly: true },
    {
      header: 'Remove',
      quietHeader: true,
      numeric: true,
      cell: (filter) => (
        <Button
          size="xs"
          aria-label={`Remove ${filter.value}`}
          loading={busy === filter.id}
          onClick={({ currentTarget }) => onRemove(filter, neighbor(currentTarget))}
        >
          Remove
        </Button>
      ),
    },
  ];
  return (
    <>
      <SelectionBar of={selection}>
        <Button size="xs" color="red" loading={many.busy} onClick={() => many.onRemove(selection.rows)}>
          Remove {pluralize(selection.rows.length, 'filter')}
        </Button>
      </SelectionBar>
      <DataTable label="Filters" columns={columns} rows={filters} rowKey={({ id }) => id} />
    </>
  );
}

/** The button of the next row, or of the previous one for the last row. */
function neighbor(button: HTMLElement): HTMLElement | null {
  const row = button.closest('tr');
  return (row?.nextElementSibling ?? row?.previousElementSibling)?.querySelector('button') ?? null;
}

const route = getRouteApi('/inside/filters');
const TYPES = [
  { value: '', label: 'All types' },
  ...FILTER_TYPES.map((type) => ({ value: type, label: FILTER_TYPE_LABELS[type].many })),
];

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
