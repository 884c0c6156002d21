import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, unwrap } from '../../api/client.ts';
import type { OperatorsAsked } from '../../api/schema.ts';
import { useAccount } from '../../api/session.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { formatShare } from '../../parts/delta.ts';
import { formatMs, formatNumber, pluralize } from '../../parts/format.ts';
import { operatorName } from '../../parts/operator-name.ts';
import { Panel } from '../../parts/panel.tsx';
import { QueryResult } from '../../parts/query-result.tsx';
import css from './overview.module.css';

type Row = OperatorsAsked['operators'][number];

const COLUMNS: readonly Column<Row>[] = [
  {
    header: 'Operator',
    cell: ({ operator }) => (
      <Link className={css.go} to="/log" search={{ operator }}>
        {operatorName(operator)}
      </Link>
    ),
  },
  { header: 'Checks', numeric: true, cell: ({ checks }) => formatNumber(checks) },
  {
    header: 'Deliverable',
    numeric: true,
    cell: ({ deliverable_share }) => (deliverable_share === null ? 'not disclosed' : formatShare(deliverable_share)),
  },
  { header: 'Median time', numeric: true, wideOnly: true, cell: ({ median_ms }) => formatMs(median_ms) },
];

/** What mail operators answered lately. */
export function MailOperators() {
  const { id } = useAccount();
  const query = useQuery({
    queryKey: ['account', id, 'operators'],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/dashboard/accounts/{account}/operators', { params: { path: { account: id } }, signal })),
    refetchInterval: 60_000,
  });
  const checks = query.data?.checks ?? 0;
  return (
    <Panel
      title="Mail operators"
      flush="table"
      note={checks > 0 && `of the latest ${pluralize(checks, 'mailbox check')}`}
    >
      <QueryResult query={query}>
        {({ operators }) =>
          operators.length === 0 ? (
            <p className={css.none}>No mailbox was checked lately. Verifications at the smtp level are counted here.</p>
          ) : (
            <DataTable label="Mail operators" columns={COLUMNS} rows={operators} rowKey={({ operator }) => operator} />
          )
        }
      </QueryResult>
    </Panel>
  );
}
