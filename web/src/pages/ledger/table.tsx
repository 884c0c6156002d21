import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Ledger } from '../../api/schema.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { When } from '../../parts/when.tsx';
import { atTime, count } from '../../parts/words.ts';

type Row = Ledger['rows'][number];

const COLUMNS: readonly Column<Row>[] = [
  { header: 'When', cell: ({ created_at }) => <When at={created_at} exact /> },
  { header: 'What', cell: inWords },
  { header: 'Change', numeric: true, cell: ({ amount }) => signed(amount) },
  { header: 'Charged', numeric: true, cell: ({ charged }) => (charged === 0 ? '' : count(charged)), wideOnly: true },
  { header: 'Note', cell: ({ note }) => <span className="anywhere">{note}</span>, wideOnly: true },
];
const VERIFICATION: Column<Row> = {
  header: 'Verification',
  cell: ({ id, verification_id, created_at }) =>
    verification_id !== null && (
      <Anchor
        size="sm"
        renderRoot={(props) => (
          <Link
            {...props}
            to="/log/$id"
            params={{ id: verification_id }}
            aria-label={`Open the verification of row ${id}, ${atTime(created_at)}`}
          />
        )}
      >
        Open
      </Anchor>
    ),
};

/** Every change of a balance. `linked`: its verifications can be opened from here. */
export const LedgerTable = ({ rows, linked = false }: { rows: readonly Row[]; linked?: boolean }) => (
  <DataTable
    label="Credit ledger"
    columns={linked ? [...COLUMNS, VERIFICATION] : COLUMNS}
    rows={rows}
    rowKey={({ id }) => id}
  />
);

/** With a true minus, as wide as the plus. */
const signed = (n: number): string => (n > 0 ? `+${count(n)}` : n < 0 ? `−${count(-n)}` : '0');

function inWords({ kind, amount, charged }: Row): string {
  switch (kind) {
    case 'grant':
      return amount < 0 ? 'Taken back' : 'Granted';
    case 'hold':
      return 'Held for a check';
    case 'settlement':
      if (amount > 0)
        return charged === 0 ? 'Nothing charged, the hold given back' : 'Charged, the rest of the hold given back';
      return amount === 0 ? 'Charged what was held' : 'Charged';
    case 'release':
      return 'Hold given back: no answer';
  }
}
