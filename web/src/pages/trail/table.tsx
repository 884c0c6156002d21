import { Text } from '@mantine/core';
import type { Trail } from '../../api/schema.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { When } from '../../parts/when.tsx';
import { actor, deed } from './deeds.ts';

type Entry = Trail['entries'][number];

const COLUMNS: readonly Column<Entry>[] = [
  { header: 'When', cell: ({ at }) => <When at={at} /> },
  { header: 'Who', cell: (entry) => <span className="anywhere">{actor(entry)}</span> },
  {
    header: 'What',
    cell: (entry) => {
      const { what, more } = deed(entry);
      return (
        <>
          {what}
          {more !== null && (
            <Text size="xs" c="dimmed" className="anywhere">
              {more}
            </Text>
          )}
        </>
      );
    },
  },
  { header: 'To what', cell: ({ target }) => <span className="anywhere">{target}</span> },
  { header: 'From', cell: ({ ip }) => <span className="anywhere">{ip ?? '—'}</span>, wideOnly: true },
];

export const TrailTable = ({ entries }: { entries: readonly Entry[] }) => (
  <DataTable label="Audit log" columns={COLUMNS} rows={entries} rowKey={({ id }) => id} />
);
