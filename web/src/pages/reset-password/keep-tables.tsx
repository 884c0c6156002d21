import { Checkbox, Stack, Text, Title } from '@mantine/core';
import type { ResetLookup } from '../../api/schema.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Timestamp } from '../../parts/timestamp.tsx';

type Passkey = ResetLookup['passkeys'][number];
type Session = ResetLookup['sessions'][number];

/** IDs of what the user chose to keep. */
interface Kept {
  readonly passkeys: string[];
  readonly sessions: string[];
}
export const NOTHING_KEPT: Kept = { passkeys: [], sessions: [] };

interface Props {
  readonly found: ResetLookup;
  readonly kept: Kept;
  readonly onChange: (kept: Kept) => void;
}

/** What a new password ends and removes, each with a box to keep it. */
export function KeepTables({ found, kept, onChange }: Props) {
  const { passkeys, sessions } = found;
  return (
    <>
      {passkeys.length > 0 && (
        <Stack gap="xs">
          <Title order={2}>Passkeys</Title>
          <Text size="sm">Keep only those that you know. All others are removed.</Text>
          <DataTable
            label="Passkeys"
            rows={passkeys}
            rowKey={(row) => row.id}
            columns={[
              keepColumn(
                (row: Passkey) => row.name,
                kept.passkeys,
                (passkeys) => onChange({ ...kept, passkeys }),
              ),
              { header: 'Name', cell: (row) => <span className="anywhere">{row.name}</span> },
              { header: 'Added', wideOnly: true, cell: (row) => <Timestamp at={row.created_at} /> },
              {
                header: 'Last used',
                cell: (row) => (row.last_used_at === null ? 'Not yet' : <Timestamp at={row.last_used_at} />),
              },
            ]}
          />
        </Stack>
      )}
      {sessions.length > 0 && (
        <Stack gap="xs">
          <Title order={2}>Sessions</Title>
          <Text size="sm">Keep only browsers that you know. All others are signed out.</Text>
          <DataTable
            label="Sessions"
            rows={sessions}
            rowKey={(row) => row.id}
            columns={[
              keepColumn(
                (row: Session) => `${row.device}, ${row.ip ?? 'unknown address'}`,
                kept.sessions,
                (sessions) => onChange({ ...kept, sessions }),
              ),
              { header: 'Device', cell: (row) => row.device },
              { header: 'IP address', cell: (row) => <span className="anywhere">{row.ip ?? 'Unknown'}</span> },
              { header: 'Last seen', cell: (row) => <Timestamp at={row.last_seen_at} /> },
            ]}
          />
        </Stack>
      )}
    </>
  );
}

function keepColumn<Row extends { readonly id: string }>(
  nameOf: (row: Row) => string,
  kept: readonly string[],
  onChange: (ids: string[]) => void,
): Column<Row> {
  return {
    header: 'Keep',
    cell: (row) => (
      <Checkbox
        aria-label={`Keep ${nameOf(row)}`}
        checked={kept.includes(row.id)}
        onChange={({ currentTarget: { checked } }) =>
          onChange(checked ? [...kept, row.id] : kept.filter((id) => id !== row.id))
        }
      />
    ),
  };
}
