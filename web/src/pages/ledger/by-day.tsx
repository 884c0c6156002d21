import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { LEDGER_DAYS } from '../../../../src/kernel/facts/limits.ts';
import type { LedgerDays } from '../../api/schema.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { formatNumber, formatUtcDate } from '../../parts/format.ts';
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
        <Trans>
          Available: <b>{availableText(found)}</b>.
        </Trans>
      </p>
      {found.grants.length > 0 && (
        <Panel title={t`Grants`} flush="table">
          <GrantsTable grants={found.grants} />
        </Panel>
      )}
      <Panel
        title={t`Days`}
        flush="table"
        note={t`the last ${plural(days, { one: '# day', other: '# days' })}`}
        footer={
          found.more &&
          days < LEDGER_DAYS.max && (
            <Button
              size="xs"
              onClick={() => onDays(Math.min(days * 3, LEDGER_DAYS.max))}
            >{t`Show earlier days`}</Button>
          )
        }
      >
        <DataTable label={t`Charges by day`} columns={daysOf(linked)} rows={found.days} rowKey={({ at }) => at} />
      </Panel>
    </>
  );
}

const GRANTS: readonly Column<Grant>[] = [
  { header: t`Time`, cell: ({ at }) => <Timestamp at={at} /> },
  { header: t`Note`, cell: ({ note }) => <span className="anywhere">{note}</span> },
  { header: t`Credits`, numeric: true, cell: ({ credits }) => formatChange(credits) },
];

const GrantsTable = ({ grants }: { grants: readonly Grant[] }) => (
  <DataTable
    label={t`Grants`}
    columns={GRANTS}
    rows={grants}
    rowKey={(grant) => `${grant.at} ${grant.credits} ${grant.note}`}
  />
);

const daysOf = (linked: boolean): readonly Column<Day>[] => [
  {
    header: t`Day (UTC)`,
    cell: ({ at, verifications }) =>
      verifications === 0 || !linked ? (
        formatUtcDate(at)
      ) : (
        <Link className={css.go} to="/log" search={{ from: at.slice(0, 10), to: at.slice(0, 10) }}>
          {formatUtcDate(at)}
        </Link>
      ),
  },
  { header: t`Verifications`, numeric: true, cell: ({ verifications }) => formatNumber(verifications) },
  { header: t`Charged`, numeric: true, cell: ({ charged }) => formatChange(-charged) },
  {
    header: t`Granted`,
    numeric: true,
    folds: true,
    cell: ({ granted }) => (granted === 0 ? '–' : formatChange(granted)),
  },
  { header: t`With held ones`, numeric: true, cell: ({ balance }) => formatNumber(balance) },
];

/** `28,150 credits, 40 more are held` */
const availableText = ({ total, held }: LedgerDays): string =>
  `${plural(total - held, { one: '# credit', other: '# credits' })}${held === 0 ? '' : t`, ${formatNumber(held)} more are held`}`;
