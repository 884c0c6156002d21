import { Button, Text } from '@mantine/core';
import { FILTER_ORDERS } from '../../../../src/kernel/facts/sort-orders.ts';
import type { Filter } from '../../api/schema.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { pluralize } from '../../parts/format.ts';
import { SelectionBar, useSelection } from '../../parts/selection.tsx';
import { sortable } from '../../parts/sorting.tsx';
import { Timestamp } from '../../parts/timestamp.tsx';
import { type FiltersSearch, filtersSearch } from './search.ts';
import { FILTER_TYPE_LABELS } from './types.ts';

/** One page of filters. */
export function FiltersTable(props: {
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
