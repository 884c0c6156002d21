import { Text } from '@mantine/core';
import type { Trail } from '../../api/schema.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { When } from '../../parts/when.tsx';
import { actor, deed } from './deeds.ts';

type Entry = Trail['entries'][number];

const COLUMNS: readonly Column<Entry>[] = [
  { header: 'When', cell: ({ at }) => <When at={at} exact /> },
  {
    header: 'Who, and from where',
    cell: (entry) => (
      <>
        <span className="anywhere">{actor(entry)}</span>
        <Small>{entry.ip}</Small>
      </>
    ),
  },
  {
    header: 'What',
    cell: (entry) => {
      const { what, more } = deed(entry);
      return (
        <>
          {what}
          <Text size="sm" className="anywhere" hiddenFrom="sm">
            {entry.target}
          </Text>
          <Small>{more}</Small>
        </>
      );
    },
  },
  { header: 'To what', cell: ({ target }) => <span className="anywhere">{target}</span>, wideOnly: true },
];

function Small({ children }: { children: string | null }) {
  if (children === null) return null;
  return (
    <Text size="xs" c="dimmed" className="anywhere">
      {children}
    </Text>
  );
}

export const TrailTable = ({ entries }: { entries: readonly Entry[] }) => (
  <DataTable label="Audit log" columns={COLUMNS} rows={entries} rowKey={({ id }) => id} />
);
