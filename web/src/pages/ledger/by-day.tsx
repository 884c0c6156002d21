import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { LEDGER_DAYS } from '../../../../src/kernel/facts/limits.ts';
import type { LedgerDays } from '../../api/schema.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { formatDate, formatNumber, pluralize } from '../../parts/format.ts';
import { Panel } from '../../parts/panel.tsx';
import { Timestamp } from '../../parts/timestamp.tsx';
import css from '../overview/overview.module.css';
import { formatChange } from './table.tsx';

type Grant = LedgerDays['grants'][number];
type Day = LedgerDays['days'][number];

/** What an account has, its grants, and its days. `linked`: with links to the log, which operators may not view. */
export function LedgerByDay(props: {
  found: LedgerDays;
  days: number;
  onDays: (days: number) => void;
  linked?: boolean;
}) {
  const { found, days, onDays, linked = false } = props;
  return (
    <>
      <p>
        Available: <b>{availableText(found)}</b>.
      </p>
      {found.grants.length > 0 && (
        <Panel title="Grants" flush="table">
          <GrantsTable grants={found.grants} />
        </Panel>
      )}
      <Panel
        title="Days"
        flush="table"
        note={`the last ${pluralize(days, 'day')}`}
        footer={
          found.more &&
          days < LEDGER_DAYS.max && (
            <Button size="xs" onClick={() => onDays(Math.min(days * 3, LEDGER_DAYS.max))}>
              Show earlier days
            </Button>
          )
        }
      >
        <DataTable label="Charges by day" columns={daysOf(linked)} rows={found.days} rowKey={({ at }) => at} />
      </Panel>
    </>
  );
}

const GRANTS: readonly Column<Grant>[] = [
  { header: 'Time (UTC)', cell: ({ at }) => <Timestamp at={at} /> },
  { header: 'Note', cell: ({ note }) => <span className="anywhere">{note}</span> },
  { header: 'Credits', numeric: true, cell: ({ credits }) => formatChange(credits) },
];

const GrantsTable = ({ grants }: { grants: readonly Grant[] }) => (
  <DataTable
    label="Grants"
    columns={GRANTS}
    rows={grants}
    rowKey={(grant) => `${grant.at} ${grant.credits} ${grant.note}`}
  />
);

const daysOf = (linked: boolean): readonly Column<Day>[] => [
  {
    header: 'Day (UTC)',
    cell: ({ at, verifications }) =>
      verifications === 0 || !linked ? (
        formatDate(at)
      ) : (
        <Link className={css.go} to="/log" search={{ from: at.slice(0, 10), to: at.slice(0, 10) }}>
          {formatDate(at)}
        </Link>
      ),
  },
  { header: 'Verifications', numeric: true, cell: ({ verifications }) => formatNumber(verifications) },
  { header: 'Charged', numeric: true, cell: ({ charged }) => formatChange(-charged) },
  {
    header: 'Granted',
    numeric: true,
    folds: true,
    cell: ({ granted }) => (granted === 0 ? '–' : formatChange(granted)),
  },
  { header: 'With held ones', numeric: true, cell: ({ balance }) => formatNumber(balance) },
];

/** `28,150 credits, 40 more are held` */
const availableText = ({ total, held }: LedgerDays): string =>
  `${pluralize(total - held, 'credit')}${held === 0 ? '' : `, ${formatNumber(held)} more are held`}`;
