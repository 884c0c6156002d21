import { Anchor, Button, Group, NativeSelect, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { Filter } from '../api/schema.ts';
import { useAccount } from '../api/session.ts';
import { Empty } from '../parts/empty.tsx';
import { Failure } from '../parts/failure.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { notify } from '../parts/notify.tsx';
import { Page } from '../parts/page.tsx';
import { Pages } from '../parts/pages.tsx';
import { SearchBox } from '../parts/search-box.tsx';
import { AddDialog } from './filters/add-dialog.tsx';
import { ImportDialog } from './filters/import/import-dialog.tsx';
import { addFilter, filtersKey, filtersQuery, removeFilter } from './filters/queries.ts';
import { FILTER_TYPES, type FiltersSearch, filtersSearch } from './filters/search.ts';
import { FiltersTable } from './filters/table.tsx';
import { TYPE_WORDS } from './filters/type-words.ts';

const route = getRouteApi('/inside/filters');
const TYPES = [
  { value: '', label: 'All types' },
  ...FILTER_TYPES.map((type) => ({ value: type, label: TYPE_WORDS[type].many })),
];

export function FiltersPage() {
  const { id } = useAccount();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(filtersQuery(id, search));
  const [adding, add] = useDisclosure();
  const [importing, many] = useDisclosure();
  const remove = useRemove(id);
  const go = (change: Partial<Record<keyof FiltersSearch, unknown>>) =>
    void navigate({ search: filtersSearch({ ...search, page: undefined, ...change }), replace: true });
  const last = query.isPlaceholderData ? undefined : query.data?.pagination.total_pages;
  const beyond = last !== undefined && (search.page ?? 1) > last;
  // The last of its page was removed, or the address is an old one.
  useEffect(() => {
    if (beyond) void navigate({ search: (now) => filtersSearch({ ...now, page: last }), replace: true });
  }, [beyond, last, navigate]);
  const asked = search.query !== undefined || search.type !== undefined;

  return (
    <Page
      title="Filters"
      about="What you do not want: an address that matches is bad at once, and costs nothing."
      action={
        <Group gap="xs">
          <Button component="a" href={`/dashboard/accounts/${encodeURIComponent(id)}/filters.csv`} download>
            Download CSV
          </Button>
          <Button onClick={many.open}>Add many</Button>
          <Button variant="filled" onClick={add.open}>
            Add a filter
          </Button>
        </Group>
      }
    >
      <Group align="flex-end" role="search" aria-label="Filters">
        <SearchBox
          label="Search"
          placeholder="In value and reason"
          value={search.query ?? ''}
          onSearch={(text) => go({ query: text })}
        />
        <NativeSelect
          label="Type"
          data={TYPES}
          value={search.type ?? ''}
          onChange={(event) => go({ type: event.currentTarget.value })}
        />
      </Group>
      {remove.error && <Failure error={remove.error} />}
      <Loaded query={query}>
        {({ filters, pagination }) =>
          filters.length > 0 ? (
            <Stack aria-busy={query.isPlaceholderData}>
              <FiltersTable
                filters={filters}
                busy={remove.isPending ? remove.variables.filter.id : null}
                onRemove={(filter, next) => remove.mutate({ filter, next })}
              />
              <Pages
                label="Pages of filters"
                page={pagination.current_page}
                total={pagination.total_pages}
                onTurn={(page) => go({ page })}
              />
            </Stack>
          ) : asked ? (
            <Empty title="Nothing matches">Try a shorter word, or all types.</Empty>
          ) : (
            <Empty
              title="No filters yet"
              action={
                <Anchor component="button" type="button" onClick={many.open}>
                  Paste a list, or choose a CSV file
                </Anchor>
              }
            >
              A filter is an address, a domain or a network whose requests you want refused: throw-away domains of your
              own finding, somebody who signs up again and again. All keys of the account share them.
            </Empty>
          )
        }
      </Loaded>
      <AddDialog opened={adding} onClose={add.close} />
      <ImportDialog opened={importing} onClose={many.close} />
    </Page>
  );
}

/** Removes at once; for a while it can be taken back. */
function useRemove(account: string) {
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: filtersKey(account) });
  return useMutation({
    mutationFn: ({ filter }: { filter: Filter; next: HTMLElement | null }) => removeFilter(account, filter.id),
    onSuccess: (_done, { filter: { value, reason, filter_type }, next }) => {
      next?.focus();
      void notify(`${value} was removed.`, async () => {
        await addFilter(account, { value, reason, filter_type });
        await refresh();
      });
    },
    onSettled: refresh,
  });
}
