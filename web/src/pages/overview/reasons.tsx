import { t } from '@lingui/core/macro';
import { Link } from '@tanstack/react-router';
import type { UsageChart } from '../../api/schema.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { formatNumber, formatSigned } from '../../parts/format.ts';
import { Glyph } from '../../parts/glyph.tsx';
import { reasonName } from '../../parts/verdict/outcome.ts';
import type { LogSearch } from '../log/search.ts';
import css from './overview.module.css';

type Row = UsageChart['by_reason'][number];
const SHOWN = 7;

const rowsOf = ({ by_reason }: UsageChart): readonly Row[] => by_reason.filter(({ reason }) => reason !== 'none');
const same = (a: Row) => (b: Row) => a.reason === b.reason && a.outcome === b.outcome;

function changeOf(row: Row, before: UsageChart): string {
  return changeText(row.requests, rowsOf(before).find(same(row))?.requests ?? 0);
}

/** `+38 %`; `new` where there was nothing before. */
export const changeText = (now: number, then: number): string =>
  then === 0 ? t`new` : `${formatSigned((now / then - 1) * 100)} %`;

/** The most frequent reasons, with their change. `rows`: the log of the period. */
export function TopReasons(props: { chart: UsageChart; before: UsageChart | null; rows: LogSearch; all?: boolean }) {
  const { chart, before, rows: period, all = false } = props;
  const rows = rowsOf(chart).slice(0, all ? undefined : SHOWN);
  const most = Math.max(1, ...rows.map(({ requests }) => requests));
  const columns: Column<Row>[] = [
    {
      header: t`Reason`,
      cell: ({ reason, outcome }) => (
        <Link className={css.go} to="/log" search={{ ...period, reason, deliverability: outcome }}>
          <Glyph of={outcome} /> <span>{reasonName(reason)}</span>
        </Link>
      ),
    },
    { header: t`Rows`, numeric: true, cell: ({ requests }) => formatNumber(requests) },
    {
      header: t`Share of the most frequent`,
      quietHeader: true,
      leaves: true,
      cell: ({ requests, outcome }) => (
        <span className={css.track}>
          <span className={css.bar} data-outcome={outcome} style={{ width: `${(requests / most) * 100}%` }} />
        </span>
      ),
    },
    ...(before === null
      ? []
      : [{ header: t`Change`, numeric: true, cell: (row: Row) => changeOf(row, before) } satisfies Column<Row>]),
  ];
  if (rows.length === 0) return <p className={css.none}>{t`No verification in this period has a reason.`}</p>;
  return (
    <DataTable
      label={all ? t`By reason` : t`Top reasons`}
      columns={columns}
      rows={rows}
      rowKey={({ reason, outcome }) => `${reason} ${outcome}`}
    />
  );
}
