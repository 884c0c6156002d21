import { t } from '@lingui/core/macro';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, unwrap } from '../../api/client.ts';
import type { RejectedRequest } from '../../api/schema.ts';
import { useAccount } from '../../api/session.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { formatDateTime, formatNumber } from '../../parts/format.ts';
import { Glyph } from '../../parts/glyph.tsx';
import { Panel } from '../../parts/panel.tsx';
import { QueryResult } from '../../parts/query-result.tsx';
import type { TimeSearch } from '../../parts/time.ts';
import css from '../overview/overview.module.css';
import { rejectionName } from './rejections.ts';
import { rejectedRowId } from './rows.ts';
import { type LogSearch, logQuery } from './search.ts';

const SHOWN = 8;
/** Several that are alike are one row. */
const ASKED = 4 * SHOWN;
const EVERY_MS = 30_000;

/** The latest rejected requests, of one key or of all; each opens in the log, among its like. */
export function LatestRejected({ of, time }: { of?: { readonly key: string }; time: TimeSearch }) {
  const { id: account } = useAccount();
  const search: LogSearch = { ...time, ...of, status: 'rejected' };
  const query = useQuery({
    queryKey: ['account', account, 'log', 'latest-rejected', search],
    queryFn: ({ signal }) => {
      const params = { path: { account }, query: { ...logQuery(search, Date.now()), limit: ASKED } };
      return unwrap(api.GET('/dashboard/accounts/{account}/log', { params, signal }));
    },
    refetchInterval: EVERY_MS,
  });
  return (
    <Panel
      title={t`Latest rejections`}
      note={t`nothing was charged for them`}
      flush="table"
      actions={<Link to="/log" search={search}>{t`All rejections`}</Link>}
    >
      <QueryResult query={query}>
        {({ rejected }) =>
          rejected.length === 0 ? (
            <p className={css.none}>{t`No request was rejected in this time.`}</p>
          ) : (
            <DataTable
              label={t`Latest rejections`}
              columns={columnsFor(search)}
              rows={grouped(rejected).slice(0, SHOWN)}
              rowKey={({ id }) => id}
            />
          )
        }
      </QueryResult>
    </Panel>
  );
}

/** The latest of those in a row that were rejected for the same reason, with the same key and from the same address. */
type Group = RejectedRequest & { readonly times: number };

const likeness = (row: RejectedRequest): string =>
  JSON.stringify([row.request_id === null, rejectionName(row), row.key?.id, row.client_ip]);

function grouped(rows: readonly RejectedRequest[]): readonly Group[] {
  const groups: Group[] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    if (last !== undefined && row.request_id !== null && likeness(last) === likeness(row))
      groups[groups.length - 1] = { ...last, times: last.times + 1 };
    else groups.push({ ...row, times: 1 });
  }
  return groups;
}

const keyName = ({ key, request_id }: RejectedRequest): string =>
  request_id === null ? '' : (key?.name ?? t`Dashboard`);

const columnsFor = (search: LogSearch): readonly Column<Group>[] => [
  {
    header: t`Time`,
    folds: true,
    cell: ({ id, at }) => (
      <Link className={css.go} to="/log" search={{ ...search, open: rejectedRowId(id) }}>
        {formatDateTime(at)}
      </Link>
    ),
  },
  {
    header: t`Rejected because`,
    cell: (row) => (
      <>
        <span className={css.go}>
          <Glyph of="rejected" />
          <span className="anywhere">
            {row.request_id === null ? t`${formatNumber(row.count)} more in this minute` : rejectionName(row)}
          </span>
          {row.times > 1 && <b>× {formatNumber(row.times)}</b>}
        </span>
      </>
    ),
  },
  ...('key' in search ? [] : [{ header: t`Key`, folds: true, cell: keyName } satisfies Column<Group>]),
  {
    header: t`IP address`,
    folds: true,
    cell: ({ client_ip }) => client_ip !== null && <span className="mono anywhere">{client_ip}</span>,
  },
];
