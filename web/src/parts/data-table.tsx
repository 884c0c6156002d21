import { Table, VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';

export interface Column<T> {
  /** Also its React key; unique in the table. */
  readonly header: string;
  readonly cell: (row: T) => ReactNode;
  /** Right-aligned. */
  readonly numeric?: boolean;
  /** The header is for screen readers only, as in columns of buttons. */
  readonly quietHeader?: boolean;
  /** Hidden on narrow screens. */
  readonly wideOnly?: boolean;
}

/** Rows keep the order of the server. On narrow screens the table scrolls horizontally in a focusable container. */
export function DataTable<T>(props: {
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowKey: (row: T) => string | number;
}) {
  const { label, columns, rows, rowKey } = props;
  const side = (column: Column<T>) => (column.numeric ? 'right' : 'left');
  return (
    <Table.ScrollContainer minWidth={0} type="native" tabIndex={0} role="region" aria-label={label}>
      <Table highlightOnHover aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => (
              <Table.Th key={column.header} scope="col" ta={side(column)} {...visibility(column)}>
                {column.quietHeader ? <VisuallyHidden>{column.header}</VisuallyHidden> : column.header}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={rowKey(row)}>
              {columns.map((column) => (
                <Table.Td
                  key={column.header}
                  ta={side(column)}
                  className={column.numeric ? 'numbers' : ''}
                  {...visibility(column)}
                >
                  {column.cell(row)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

const visibility = <T,>(column: Column<T>) => (column.wideOnly ? { visibleFrom: 'sm' as const } : {});
