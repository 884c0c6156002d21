import { Button, Text } from '@mantine/core';
import type { Filter } from '../../api/schema.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { When } from '../../parts/when.tsx';
import { TYPE_WORDS } from './type-words.ts';

/** One page of filters, each with the button that removes it. */
export function FiltersTable(props: {
  filters: readonly Filter[];
  /** Id of the one that is being removed. */
  busy: number | null;
  /** `next`: where the keyboard goes on. */
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
    { header: 'Type', cell: ({ filter_type }) => TYPE_WORDS[filter_type].one },
    { header: 'Reason', cell: ({ reason }) => <span className="anywhere">{reason}</span>, wideOnly: true },
    { header: 'Added', cell: ({ created_at }) => <When at={created_at} />, wideOnly: true },
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

/** The button of the row after this one, or of the row before the last. */
function neighbour(button: HTMLElement): HTMLElement | null {
  const row = button.closest('tr');
  return (row?.nextElementSibling ?? row?.previousElementSibling)?.querySelector('button') ?? null;
}
