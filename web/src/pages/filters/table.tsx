import { Button, Text } from '@mantine/core';
import type { Filter } from '../../api/schema.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Timestamp } from '../../parts/timestamp.tsx';
import { FILTER_TYPE_LABELS } from './types.ts';

/** One page of filters. */
export function FiltersTable(props: {
  filters: readonly Filter[];
  /** Id of the filter that is being removed. */
  busy: number | null;
  /** `next`: the element to focus once the row is gone. */
  onRemove: (filter: Filter, next: HTMLElement | null) => void;
}) {
  const { filters, busy, onRemove } = props;
  const columns: readonly Column<Filter>[] = [
    {
      header: 'Value',
      cell: ({ value, reason }) => (
        <>
          <span className="anywhere">{value}</span>
          <Text size="xs" c="dimmed" className="anywhere" hiddenFrom="sm">
            {reason}
          </Text>
        </>
      ),
    },
    { header: 'Type', cell: ({ filter_type }) => FILTER_TYPE_LABELS[filter_type].one },
    { header: 'Reason', cell: ({ reason }) => <span className="anywhere">{reason}</span>, wideOnly: true },
    { header: 'Added', cell: ({ created_at }) => <Timestamp at={created_at} />, wideOnly: true },
    {
      header: 'Remove',
      quietHeader: true,
      numeric: true,
      cell: (filter) => (
        <Button
          size="xs"
          aria-label={`Remove ${filter.value}`}
          loading={busy === filter.id}
          onClick={({ currentTarget }) => onRemove(filter, neighbour(currentTarget))}
        >
          Remove
        </Button>
      ),
    },
  ];
  return <DataTable label="Filters" columns={columns} rows={filters} rowKey={({ id }) => id} />;
}

/** The button of the next row, or of the previous one for the last row. */
function neighbour(button: HTMLElement): HTMLElement | null {
  const row = button.closest('tr');
  return (row?.nextElementSibling ?? row?.previousElementSibling)?.querySelector('button') ?? null;
}
