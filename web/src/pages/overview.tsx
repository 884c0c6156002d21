import { Anchor, Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { BALANCE_DAYS, RECENT_DAYS } from '../../../src/kernel/facts/limits.ts';
import { overviewQuery } from '../api/account.ts';
import { api, unwrap } from '../api/client.ts';
import type { List, OperatorsAsked, Overview, UsageChart } from '../api/schema.ts';
import { useAccount, useHasRole } from '../api/session.ts';
import { usageQuery } from '../api/usage.ts';
import { type Bar, barsOf } from '../parts/chart/bars.ts';
import { BarsChart } from '../parts/chart/bars-chart.tsx';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { formatDays } from '../parts/days.ts';
import { formatShare } from '../parts/delta.ts';
import { formatDateTime, formatMs, formatNumber, pluralize } from '../parts/format.ts';
import { Loading } from '../parts/loading.tsx';
import { operatorName } from '../parts/operator-name.ts';
import { Page } from '../parts/page.tsx';
import { Pair, Panel } from '../parts/panel.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { Review } from '../parts/review.tsx';
import { rowsOfSource, type SourceSearch } from '../parts/source.ts';
import { SourceSwitch, WithoutSource } from '../parts/source-switch.tsx';
import { NOTICE_COPY } from './keys/notices.tsx';
import { NOTICES } from './keys/search.ts';
import { etaText, ListProgress } from './lists/progress-bar.tsx';
import { ListStatusTag } from './lists/status.tsx';
import { LatestRejected } from './log/latest-rejected.tsx';
import type { LogSearch } from './log/search.ts';
import { Balance } from './overview/balance.tsx';
import { ByKey } from './overview/by-key.tsx';
import { whatChanged } from './overview/changes.ts';
import { KeyFigures } from './overview/figures.tsx';
import { FirstSteps, isNew } from './overview/first-steps.tsx';
import css from './overview/overview.module.css';
import { TopReasons } from './overview/reasons.tsx';
import { comparable, periodBefore, rangeOf } from './usage/range.ts';

export function OverviewPage() {
  const { id } = useAccount();
  const mayVerify = useHasRole('member');
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { source } = search;
  const range = rangeOf({ range: '30d' }, Date.now());
  const overview = useQuery(overviewQuery(id));
  const usage = useQuery(usageQuery(id, range, { source }));
  const before = comparable(useQuery(usageQuery(id, periodBefore(range), { source })).data);
  const [from, to] = range.days;
  const rows: LogSearch = { from, to, ...rowsOfSource(source) };
  const show = (next: SourceSearch) => {
    const { source: _source, ...others } = search;
    void navigate({ search: { ...others, ...next }, resetScroll: false });
  };
  return (
    <Page
      title="Overview"
      about={`${formatDays(from, to)} (UTC), beside the ${BALANCE_DAYS} days before`}
      action={
        <>
          <SourceSwitch source={source} onChange={show} />
          <Button component={Link} to="/usage">
            Other periods
          </Button>
          {/* In a new account, the first step is what stands out. */}
          {mayVerify && (
            <Button
              component={Link}
              to="/verify"
              variant={overview.data && isNew(overview.data) ? 'default' : 'filled'}
            >
              Verify an address
            </Button>
          )}
        </>
      }
    >
      <QueryResult query={overview}>
        {(found) => (
          <>
            {mayVerify && isNew(found) && <FirstSteps overview={found} />}
            <KeyNotices keys={found.keys} />
          </>
        )}
      </QueryResult>
      <QueryResult query={usage}>
        {(chart) => (
          <>
            <WithoutSource count={chart.without_source} source={source} />
            <Days chart={chart} before={before} rows={rows} />
          </>
        )}
      </QueryResult>
      <Pair>
        {/* What could not be loaded is said once, above. */}
        {!usage.isLoadingError && (
          <Panel
            title="Top reasons"
            flush="table"
            actions={
              <Link to="/usage" search={{ range: '30d' }}>
                All reasons
              </Link>
            }
          >
            {usage.data ? <TopReasons chart={usage.data} before={before} rows={rows} /> : <Loading />}
          </Panel>
        )}
        {!overview.isLoadingError &&
          (overview.data ? (
            <Balance overview={overview.data} />
          ) : (
            <Panel title="Balance">
              <Loading />
            </Panel>
          ))}
      </Pair>
      {usage.data && (
        <Panel title="By key" flush="table">
          <ByKey chart={usage.data} before={before} rows={rows} to="/" search={search} />
        </Panel>
      )}
      <Pair>
        <MailOperators source={source} />
        {!overview.isLoadingError && <LatestLists lists={overview.data?.lists ?? null} />}
      </Pair>
      <LatestRejected />
    </Page>
  );
}

const route = getRouteApi('/inside/');

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
    cell: ({ deliverable_share, undisclosed }) =>
      deliverable_share === null ? (undisclosed > 0 ? 'not disclosed' : 'not reached') : formatShare(deliverable_share),
  },
  {
    header: 'Median time',
    numeric: true,
    wideOnly: true,
    cell: ({ median_ms }) => (median_ms === null ? '–' : formatMs(median_ms)),
  },
];

/** What mail operators answered in the last days. */
function MailOperators({ source }: { source: SourceSearch['source'] | undefined }) {
  const { id } = useAccount();
  const query = useQuery({
    queryKey: ['account', id, 'operators', source ?? null],
    queryFn: ({ signal }) => {
      const params = { path: { account: id }, query: source === undefined ? {} : { source } };
      return unwrap(api.GET('/dashboard/accounts/{account}/operators', { params, signal }));
    },
    refetchInterval: 60_000,
  });
  const checks = query.data?.checks ?? 0;
  return (
    <Panel
      title="Mail operators"
      flush="table"
      note={
        query.data && checks > 0 && `of ${pluralize(checks, 'mailbox check')} since ${formatDateTime(query.data.from)}`
      }
    >
      <QueryResult query={query}>
        {({ operators }) =>
          operators.length === 0 ? (
            <p className={css.none}>
              No mailbox was checked in the last {pluralize(RECENT_DAYS, 'day')}. Verifications at the smtp level are
              counted here.
            </p>
          ) : (
            <DataTable label="Mail operators" columns={COLUMNS} rows={operators} rowKey={({ operator }) => operator} />
          )
        }
      </QueryResult>
    </Panel>
  );
}

function NewList() {
  if (!useHasRole('member')) return null;
  return (
    <Anchor component={Link} to="/lists/new">
      New list
    </Anchor>
  );
}

/** Lists that are running, and the latest ones; null: not known yet. */
const LatestLists = ({ lists }: { lists: readonly List[] | null }) => (
  <Panel
    title="Lists"
    actions={
      <Link to="/lists" search={{}}>
        All lists
      </Link>
    }
  >
    {lists === null ? (
      <Loading />
    ) : lists.length === 0 ? (
      <p className={css.about}>
        No lists of addresses yet. <NewList />
      </p>
    ) : (
      <ul className={css.lists}>
        {lists.map((list) => (
          <ListItem key={list.id} of={list} />
        ))}
      </ul>
    )}
  </Panel>
);

function ListItem({ of }: { of: List }) {
  const { id, name, rows, progress, finished_at } = of;
  return (
    <li>
      <div className={css.between}>
        <Link className={`${css.go} anywhere`} to="/lists/$id" params={{ id }}>
          <b>{name}</b>
        </Link>
        <ListStatusTag of={of} />
      </div>
      <ListProgress of={of} thin />
      <div className={`${css.between} ${css.small}`}>
        <span>
          {formatNumber(progress.done)} of {formatNumber(rows.addresses)} done
        </span>
        <span>{finished_at === null ? etaText(of) : formatDateTime(finished_at)}</span>
      </div>
    </li>
  );
}

/** API keys to review, with links to them. */
function KeyNotices({ keys }: { keys: Overview['keys'] }) {
  const shown = NOTICES.filter((notice) => keys[notice] > 0);
  if (shown.length === 0) return null;
  return (
    <Review title="API keys to review">
      {shown.map((show) => (
        <Anchor key={show} renderRoot={(props) => <Link {...props} to="/settings/keys" search={{ show }} />}>
          {pluralize(keys[show], 'key')} {NOTICE_COPY[show].title}
        </Anchor>
      ))}
    </Review>
  );
}

/** `rows`: of the period. */
const logOfDay =
  (rows: LogSearch) =>
  ({ at }: Pick<Bar, 'at'>) =>
    ({ to: '/log', search: { ...rows, from: at.slice(0, 10), to: at.slice(0, 10) } satisfies LogSearch }) as const;

/** Figures, bars and what changed. */
function Days({ chart, before, rows }: { chart: UsageChart; before: UsageChart | null; rows: LogSearch }) {
  const data = useMemo(() => barsOf(chart, before), [chart, before]);
  const change = before && whatChanged(chart, before);
  return (
    <>
      <KeyFigures chart={chart} before={before} rows={rows} />
      <BarsChart
        title="Verifications a day"
        data={data}
        linkOf={logOfDay(rows)}
        linkOfSegment={(deliverability) => ({ to: '/log', search: { ...rows, deliverability } })}
        beforeLabel={`${BALANCE_DAYS} days before`}
        footer={
          change && (
            <>
              <span>{change.text}</span>
              {change.day !== null && (
                <Link to="/log" search={{ from: change.day, to: change.day, ...change.rows }}>
                  Open this day
                </Link>
              )}
            </>
          )
        }
      />
    </>
  );
}
