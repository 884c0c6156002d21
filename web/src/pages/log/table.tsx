import { Anchor, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { LogEntry } from '../../api/schema.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Timestamp } from '../../parts/timestamp.tsx';
import { escapeInvisible } from '../../parts/verdict/escape-invisible.ts';
import { reasonName } from '../../parts/verdict/reasons.ts';
import { STATUS_LABELS } from '../../parts/verdict/status.ts';

const COLUMNS: readonly Column<LogEntry>[] = [
  {
    header: 'Address',
    cell: ({ id, email }) => (
      <Anchor size="sm" className="anywhere" renderRoot={(props) => <Link {...props} to="/log/$id" params={{ id }} />}>
        {escapeInvisible(email)}
      </Anchor>
    ),
  },
  {
    header: 'Verdict',
    cell: ({ status, deliverability, reason }) => (
      <>
        {STATUS_LABELS[status]}, {deliverability}
        {reason !== null && (
          <Text size="xs" c="dimmed">
            {reasonName(reason)}
          </Text>
        )}
      </>
    ),
  },
  { header: 'Level', wideOnly: true, cell: ({ validation_type }) => validation_type },
  { header: 'Credits', wideOnly: true, numeric: true, cell: ({ credits_used }) => credits_used },
  {
    header: 'Key',
    wideOnly: true,
    cell: ({ key }) => <span className="anywhere">{key === null ? 'Dashboard' : key.name}</span>,
  },
  {
    header: 'Time',
    cell: ({ created_at }) => (
      <Text size="sm" style={{ whiteSpace: 'nowrap' }}>
        <Timestamp at={created_at} />
      </Text>
    ),
  },
];

export const LogTable = ({ entries }: { entries: readonly LogEntry[] }) => (
  <DataTable label="Verifications" columns={COLUMNS} rows={entries} rowKey={({ id }) => id} />
);
