import { Link } from '@tanstack/react-router';
import type { UsageChart } from '../../api/schema.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { formatClock, formatDate, formatNumber } from '../../parts/format.ts';
import { Glyph } from '../../parts/glyph.tsx';
import { Panel } from '../../parts/panel.tsx';
import css from './overview.module.css';

type Row = UsageChart['rejections'][number];

/** Status codes of RFC 9110 and what they mean in this API. */
const MEANINGS: Readonly<Record<number, string>> = {
  400: 'Invalid request',
  401: 'API key not valid',
  402: 'Not enough credits',
  403: 'Not allowed for this key',
  404: 'Not found',
  405: 'Method not allowed',
  408: 'Request not complete in time',
  409: 'Conflict with another request',
  413: 'Body too large',
  415: 'Media type not supported',
  422: 'Cannot be processed',
  429: 'Rate limit exceeded',
};

const hourOf = (at: string): string => `${formatDate(at)}, ${formatClock(at).slice(0, 5)}`;

const COLUMNS: readonly Column<Row>[] = [
  {
    header: 'Hour (UTC)',
    cell: ({ at }) => (
      <Link className={css.go} to="/log" search={{ hour: at, status: 'rejected' }}>
        {hourOf(at)}
      </Link>
    ),
  },
  {
    header: 'Rejected because',
    cell: ({ status }) => (
      <span className={css.go}>
        <Glyph of="rejected" />
        <span>
          <span className={css.code}>{status}</span>
          {MEANINGS[status] ?? 'Rejected'}
        </span>
      </span>
    ),
  },
  { header: 'Requests', numeric: true, cell: ({ requests }) => formatNumber(requests) },
];

/** The latest hours in which requests were rejected. */
export const Rejections = ({ rows }: { rows: readonly Row[] }) => (
  <Panel title="Latest rejections" note="nothing was charged for them" flush="table">
    {rows.length === 0 ? (
      <p className={css.none}>No request was rejected in this period.</p>
    ) : (
      <DataTable
        label="Latest rejections"
        columns={COLUMNS}
        rows={rows}
        rowKey={({ at, status }) => `${at} ${status}`}
      />
    )}
  </Panel>
);
