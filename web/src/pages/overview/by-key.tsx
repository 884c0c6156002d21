import { t } from '@lingui/core/macro';
import { Link } from '@tanstack/react-router';
import type { UsageChart } from '../../api/schema.ts';
import { SEGMENT_LABELS, SEGMENTS } from '../../parts/chart/bars.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { compareTexts, formatNumber, inSentence } from '../../parts/format.ts';
import { type SortSearch, sortable, sortedBy } from '../../parts/sorting.tsx';
import type { LogSearch } from '../log/search.ts';
import { BY_KEY_ORDERS, type BySort, type UsageSearch } from '../usage/search.ts';
import css from './overview.module.css';
import { changeText } from './reasons.tsx';

type Row = UsageChart['by_key'][number];

const VALUES: Readonly<Record<BySort, (row: Row) => number | string>> = {
  requests: ({ requests }) => requests,
  name: ({ name }) => name,
  unknown: ({ outcomes }) => outcomes.unknown,
  rejected: ({ rejected }) => rejected,
  credits: ({ credits }) => credits,
};

function sorted(rows: readonly Row[], search: SortSearch<BySort>): readonly Row[] {
  const { by, order } = sortedBy(BY_KEY_ORDERS, search);
  const sign = order === 'asc' ? 1 : -1;
  const compare = (a: number | string, b: number | string): number =>
    typeof a === 'number' && typeof b === 'number' ? a - b : compareTexts(String(a), String(b));
  return rows.toSorted((a, b) => sign * compare(VALUES[by](a), VALUES[by](b)));
}

/** What was found with a key, as one bar; the numbers are its title. */
function Verdicts({ of: { outcomes, requests } }: { of: Row }) {
  const found = SEGMENTS.filter((segment) => outcomes[segment] > 0);
  const text = found.map((segment) => `${formatNumber(outcomes[segment])} ${inSentence(SEGMENT_LABELS[segment])}`);
  return (
    <span className={css.verdicts} role="img" aria-label={text.join(', ')} title={text.join(', ')}>
      {found.map((segment) => (
        <span
          key={segment}
          className={css.bar}
          data-outcome={segment}
          style={{ width: `${(outcomes[segment] / requests) * 100}%` }}
        />
      ))}
    </span>
  );
}

/** Verdicts by key; `rows`: the log of the period; `search` and `to`: of the page that the table stands on. */
export function ByKey(props: {
  chart: UsageChart;
  before: UsageChart | null;
  rows: LogSearch;
  to: '/' | '/usage';
  search: UsageSearch;
}) {
  const { chart, before, rows, to, search } = props;
  const by = sortable(BY_KEY_ORDERS, search, (next) => {
    const { sort: _sort, order: _order, ...others } = search;
    return { to, search: { ...others, ...next } };
  });
  const count = (of: Row, value: number, more: LogSearch) =>
    value === 0 ? (
      <span className="dim">0</span>
    ) : (
      <Link className={css.go} to="/log" search={{ ...rows, key: of.key_id, ...more }}>
        {formatNumber(value)}
      </Link>
    );
  const then = new Map(before?.by_key.map((row) => [row.key_id, row.requests]));
  const columns: Column<Row>[] = [
    {
      ...by('name', t`Key`),
      cell: ({ key_id, name }) => (
        <Link className={`${css.go} anywhere`} to="/log" search={{ ...rows, key: key_id }}>
          {name}
        </Link>
      ),
    },
    { ...by('requests', t`Verified`), numeric: true, cell: ({ requests }) => formatNumber(requests) },
    { header: t`Verdicts`, leaves: true, cell: (row) => row.requests > 0 && <Verdicts of={row} /> },
    {
      ...by('unknown', t`Unknown`),
      numeric: true,
      cell: (row) => count(row, row.outcomes.unknown, { deliverability: 'unknown' }),
    },
    { ...by('credits', t`Credits`), numeric: true, folds: true, cell: ({ credits }) => formatNumber(credits) },
    ...(before === null
      ? []
      : [
          {
            header: t`Change`,
            numeric: true,
            folds: true,
            cell: ({ key_id, requests }: Row) => changeText(requests, then.get(key_id) ?? 0),
          } satisfies Column<Row>,
        ]),
    {
      ...by('rejected', t`Rejected`),
      numeric: true,
      cell: (row) => count(row, row.rejected, { status: 'rejected' }),
    },
  ];
  if (chart.by_key.length === 0) return <p className={css.none}>{t`No key was used in this period.`}</p>;
  return (
    <DataTable
      label={t`By key`}
      columns={columns}
      rows={sorted(chart.by_key, search)}
      rowKey={({ key_id }) => key_id}
    />
  );
}
