import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Button, Checkbox, Group, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { Column } from './data-table.tsx';
import { formatNumber } from './format.ts';

interface Selection<T> {
  /** Of the rows that are shown. */
  readonly rows: readonly T[];
  /** The first column of the table. */
  readonly column: Column<T>;
  readonly clear: () => void;
}

/** Rows chosen for a bulk action. Those that are no longer shown are not among them. `name`: of a row, for its box. */
export function useSelection<T>(
  shown: readonly T[],
  keyOf: (row: T) => number,
  name: (row: T) => string,
): Selection<T> {
  const [keys, setKeys] = useState<ReadonlySet<number>>(new Set());
  const rows = shown.filter((row) => keys.has(keyOf(row)));
  const toggle = (key: number) =>
    setKeys(keys.has(key) ? new Set([...keys].filter((one) => one !== key)) : new Set([...keys, key]));
  const isAll = rows.length > 0 && rows.length === shown.length;
  return {
    rows,
    clear: () => setKeys(new Set()),
    column: {
      header: t`Select`,
      control: (
        <Checkbox
          size="xs"
          aria-label={t`Select all on this page`}
          checked={isAll}
          indeterminate={rows.length > 0 && !isAll}
          onChange={() => setKeys(new Set(isAll ? [] : shown.map(keyOf)))}
        />
      ),
      cell: (row) => (
        <Checkbox
          size="xs"
          aria-label={t`Select ${name(row)}`}
          checked={keys.has(keyOf(row))}
          onChange={() => toggle(keyOf(row))}
        />
      ),
    },
  };
}

/** What can be done with the rows that are chosen; nothing while there are none. */
export function SelectionBar({
  of,
  children,
}: {
  of: Pick<Selection<unknown>, 'rows' | 'clear'>;
  children: ReactNode;
}) {
  if (of.rows.length === 0) return null;
  return (
    <Group role="group" aria-label={t`Selected rows`} gap="xs">
      <Text size="sm" role="status">
        <Trans>{formatNumber(of.rows.length)} selected</Trans>
      </Text>
      {children}
      <Button variant="subtle" size="xs" onClick={of.clear}>{t`Clear selection`}</Button>
    </Group>
  );
}
