import { Text } from '@mantine/core';
import type { UncertainReply } from '../../api/schema.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { formatNumber } from '../../parts/format.ts';
import { Timestamp } from '../../parts/timestamp.tsx';

const COLUMNS: readonly Column<UncertainReply>[] = [
  { header: 'Reply', cell: (reply) => <Reply of={reply} /> },
  { header: 'Operator', cell: ({ operator }) => operator, wideOnly: true },
  {
    header: 'Read as',
    cell: ({ finding, rule }) => (
      <>
        <Text size="sm">{finding}</Text>
        <Text size="xs" c="dimmed">
          {rule}
        </Text>
      </>
    ),
  },
  { header: 'Count', numeric: true, cell: ({ count }) => formatNumber(count) },
  { header: 'First seen', cell: ({ first_seen }) => <Timestamp at={first_seen} />, wideOnly: true },
  { header: 'Last seen', cell: ({ last_seen }) => <Timestamp at={last_seen} />, wideOnly: true },
];

const Reply = ({ of: { code, enhanced_code, template } }: { of: UncertainReply }) => (
  <span className="anywhere">{[code, enhanced_code, template].filter((part) => part !== null).join(' ')}</span>
);

export const UncertainRepliesTable = ({ replies }: { replies: readonly UncertainReply[] }) => (
  <DataTable
    label="Uncertain replies"
    columns={COLUMNS}
    rows={replies}
    rowKey={({ operator, fingerprint }) => `${operator} ${fingerprint}`}
  />
);
