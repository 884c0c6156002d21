import { plural, t } from '@lingui/core/macro';
import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Ledger } from '../../api/schema.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { formatDateTime, formatNumber } from '../../parts/format.ts';
import { Timestamp } from '../../parts/timestamp.tsx';

type Row = Ledger['rows'][number];

const COLUMNS: readonly Column<Row>[] = [
  { header: t`Time`, folds: true, cell: timeOf },
  { header: t`Transaction`, cell: describeRow },
  { header: t`Change`, numeric: true, cell: ({ amount }) => formatChange(amount) },
  {
    header: t`Charged`,
    numeric: true,
    cell: ({ charged }) => (charged === 0 ? '' : formatNumber(charged)),
    folds: true,
  },
  { header: t`Note`, cell: ({ note }) => <span className="anywhere">{note}</span>, folds: true },
];
const VERIFICATION: Column<Row> = {
  header: t`Verification`,
  cell: ({ verification_id, created_at }) =>
    verification_id !== null && (
      <Anchor
        size="sm"
        renderRoot={(props) => (
          <Link
            {...props}
            to="/log/$id"
            params={{ id: verification_id }}
            aria-label={t`View verification ${verification_id}, ${formatDateTime(created_at)}`}
          />
        )}
      >{t`View`}</Anchor>
    ),
};

/** `linked`: with links to the verifications, which operators may not view. */
export const LedgerTable = ({ rows, linked = false }: { rows: readonly Row[]; linked?: boolean }) => (
  <DataTable
    label={t`Credit ledger`}
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
      return amount < 0 ? t`Deducted` : t`Granted`;
    case 'allowance':
      return amount < 0 ? t`Allowance, taken back` : t`Allowance`;
    case 'hold':
      return t`Held for a verification`;
    case 'settlement':
      if (amount > 0) return charged === 0 ? t`Not charged, hold released` : t`Charged, rest of the hold released`;
      return amount === 0 ? t`Hold charged` : t`Charged`;
    case 'release':
      return t`Hold released, no result`;
    case 'day':
      return t`${plural(verifications ?? 0, { one: '# verification', other: '# verifications' })} that day (UTC)`;
  }
}
