import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Ledger } from '../../api/schema.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { formatDateTime, formatNumber, pluralize } from '../../parts/format.ts';
import { Timestamp } from '../../parts/timestamp.tsx';

type Row = Ledger['rows'][number];

const COLUMNS: readonly Column<Row>[] = [
  { header: 'Time', folds: true, cell: timeOf },
  { header: 'Transaction', cell: describeRow },
  { header: 'Change', numeric: true, cell: ({ amount }) => formatChange(amount) },
  {
    header: 'Charged',
    numeric: true,
    cell: ({ charged }) => (charged === 0 ? '' : formatNumber(charged)),
    folds: true,
  },
  { header: 'Note', cell: ({ note }) => <span className="anywhere">{note}</span>, folds: true },
];
const VERIFICATION: Column<Row> = {
  header: 'Verification',
  cell: ({ verification_id, created_at }) =>
    verification_id !== null && (
      <Anchor
        size="sm"
        renderRoot={(props) => (
          <Link
            {...props}
            to="/log/$id"
            params={{ id: verification_id }}
            aria-label={`View verification ${verification_id}, ${formatDateTime(created_at)}`}
          />
        )}
      >
        View
      </Anchor>
    ),
};

/** `linked`: with links to the verifications, which operators may not view. */
export const LedgerTable = ({ rows, linked = false }: { rows: readonly Row[]; linked?: boolean }) => (
  <DataTable
    label="Credit ledger"
    columns={linked ? [...COLUMNS, VERIFICATION] : COLUMNS}
    rows={rows}
    rowKey={({ id }) => id}
  />
);

/** With a minus sign (U+2212), which is as wide as the plus sign. */
export const formatChange = (n: number): string =>
  n > 0 ? `+${formatNumber(n)}` : n < 0 ? `−${formatNumber(-n)}` : '0';

/** Days are days of UTC. */
function timeOf({ kind, created_at }: Row) {
  return kind === 'day' ? created_at.slice(0, 10) : <Timestamp at={created_at} />;
}

function describeRow({ kind, amount, charged, verifications }: Row): string {
  switch (kind) {
    case 'grant':
      return amount < 0 ? 'Deducted' : 'Granted';
    case 'allowance':
      return amount < 0 ? 'Allowance, taken back' : 'Allowance';
    case 'hold':
      return 'Held for a verification';
    case 'settlement':
      if (amount > 0) return charged === 0 ? 'Not charged, hold released' : 'Charged, rest of the hold released';
      return amount === 0 ? 'Hold charged' : 'Charged';
    case 'release':
      return 'Hold released, no result';
    case 'day':
      return `${pluralize(verifications ?? 0, 'verification')} that day (UTC)`;
  }
}
