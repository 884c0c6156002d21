import { Badge, Button, Group } from '@mantine/core';
import type { Sessions } from '../../api/schema.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Timestamp } from '../../parts/timestamp.tsx';

type Session = Sessions['sessions'][number];

export function SessionTable({ sessions, onEnd }: { sessions: Session[]; onEnd: (session: Session) => void }) {
  return (
    <DataTable
      label="Your sessions"
      rows={sessions}
      rowKey={(row) => row.id}
      columns={[
        {
          header: 'Device',
          cell: (row) => (
            <Group gap="xs">
              {row.device}
              {row.current && (
                <Badge variant="outline" size="sm" tt="none">
                  This device
                </Badge>
              )}
            </Group>
          ),
        },
        { header: 'IP address', cell: (row) => <span className="anywhere">{row.ip ?? 'Unknown'}</span> },
        { header: 'Signed in', wideOnly: true, cell: (row) => <Timestamp at={row.signed_in_at} /> },
        { header: 'Last seen', cell: (row) => <Timestamp at={row.last_seen_at} /> },
        {
          header: 'Actions',
          quietHeader: true,
          cell: (row) =>
            !row.current && (
              <Group justify="flex-end">
                <Button
                  size="compact-sm"
                  onClick={() => onEnd(row)}
                  aria-label={`Sign out ${row.device}, ${row.ip ?? 'unknown address'}`}
                >
                  Sign out
                </Button>
              </Group>
            ),
        },
      ]}
    />
  );
}
