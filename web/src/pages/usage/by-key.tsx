import { Link } from '@tanstack/react-router';
import type { UsageChart } from '../../api/schema.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { formatShare, shareOf } from '../../parts/delta.ts';
import { formatNumber } from '../../parts/format.ts';
import type { LogSearch } from '../log/search.ts';
import css from '../overview/overview.module.css';

type Row = UsageChart['by_key'][number];

/** Verifications by key, largest first; `rows`: the log of the period. */
export function ByKey({ chart, rows }: { chart: UsageChart; rows: LogSearch }) {
  const columns: Column<Row>[] = [
    {
      header: 'Key',
      cell: ({ key_id, name }) => (
        <Link className={`${css.go} anywhere`} to="/log" search={{ ...rows, key: key_id }}>
          {name}
        </Link>
      ),
    },
    { header: 'Requests', numeric: true, cell: ({ requests }) => formatNumber(requests) },
    { header: 'Credits', numeric: true, cell: ({ credits }) => formatNumber(credits) },
    {
      header: 'Share',
      numeric: true,
      cell: ({ requests }) => formatShare(shareOf(requests, chart.totals.requests)),
    },
  ];
  return <DataTable label="By key" columns={columns} rows={chart.by_key} rowKey={({ key_id }) => key_id} />;
}
