import { Link } from '@tanstack/react-router';
import type { LedgerDays } from '../../api/schema.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { formatDate, formatNumber, pluralize } from '../../parts/format.ts';
import { Timestamp } from '../../parts/timestamp.tsx';
import css from '../overview/overview.module.css';
import { formatChange } from './table.tsx';

type Grant = LedgerDays['grants'][number];
type Day = LedgerDays['days'][number];

const GRANTS: readonly Column<Grant>[] = [
  { header: 'Time (UTC)', cell: ({ at }) => <Timestamp at={at} /> },
  { header: 'Note', cell: ({ note }) => <span className="anywhere">{note}</span> },
  { header: 'Credits', numeric: true, cell: ({ credits }) => formatChange(credits) },
];

export const GrantsTable = ({ grants }: { grants: readonly Grant[] }) => (
  <DataTable
    label="Grants"
    columns={GRANTS}
    rows={grants}
    rowKey={(grant) => `${grant.at} ${grant.credits} ${grant.note}`}
  />
);

const DAYS: readonly Column<Day>[] = [
  {
    header: 'Day (UTC)',
    cell: ({ at, verifications }) =>
      verifications === 0 ? (
        formatDate(at)
      ) : (
        <Link className={css.go} to="/log" search={{ from: at.slice(0, 10), to: at.slice(0, 10) }}>
          {formatDate(at)}
        </Link>
      ),
  },
  { header: 'Verifications', numeric: true, cell: ({ verifications }) => formatNumber(verifications) },
  { header: 'Charged', numeric: true, cell: ({ charged }) => formatChange(-charged) },
  { header: 'Granted', numeric: true, wideOnly: true, cell: ({ granted }) => formatChange(granted) },
  { header: 'Balance', numeric: true, cell: ({ balance }) => formatNumber(balance) },
];

/** Each day is one row; it opens the log of that day. */
export const DaysTable = ({ days }: { days: readonly Day[] }) => (
  <DataTable label="Charges by day" columns={DAYS} rows={days} rowKey={({ at }) => at} />
);

/** `28,190 credits, 40 of them held`. */
export const totalText = ({ total, held }: LedgerDays): string =>
  held === 0 ? pluralize(total, 'credit') : `${pluralize(total, 'credit')}, ${formatNumber(held)} of them held`;
