import { Anchor, Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { BALANCE_DAYS } from '../../../src/kernel/facts/limits.ts';
import { overviewQuery } from '../api/account.ts';
import { api, unwrap } from '../api/client.ts';
import type { List, OperatorsAsked, Overview, UsageChart } from '../api/schema.ts';
import { useAccount } from '../api/session.ts';
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
import { NOTICE_COPY } from './keys/notices.tsx';
import { NOTICES } from './keys/search.ts';
import { etaText, ListProgress } from './lists/progress-bar.tsx';
import { ListStatusTag } from './lists/status.tsx';
import { LatestRejected } from './log/latest-rejected.tsx';
import type { LogSearch } from './log/search.ts';
import { Balance } from './overview/balance.tsx';
import { whatChanged } from './overview/changes.ts';
import { KeyFigures } from './overview/figures.tsx';
import { FirstSteps, isNew } from './overview/first-steps.tsx';
import css from './overview/overview.module.css';
import { TopReasons } from './overview/reasons.tsx';
import { comparable, periodBefore, rangeOf } from './usage/range.ts';

export function OverviewPage() {
  const { id } = useAccount();
  const range = rangeOf({ range: '30d' }, Date.now());
  const overview = useQuery(overviewQuery(id));
  const usage = useQuery(usageQuery(id, range));
  const before = comparable(useQuery(usageQuery(id, periodBefore(range))).data);
  const [from, to] = range.days;
  return (
    <Page
      title="Overview"
      about={`${formatDays(from, to)} (UTC), beside the ${BALANCE_DAYS} days before`}
      action={
        <>
          <Button component={Link} to="/usage">
            Other periods
          </Button>
          {/* In a new account, the first step is what stands out. */}
          <Button component={Link} to="/verify" variant={overview.data && isNew(overview.data) ? 'default' : 'filled'}>
            Verify an address
          </Button>
        </>
      }
    >
      <QueryResult query={overview}>
        {(found) => (
          <>
            {isNew(found) && <FirstSteps overview={found} />}
            <KeyNotices keys={found.keys} />
          </>
        )}
      </QueryResult>
      <QueryResult query={usage}>{(chart) => <Days chart={chart} before={before} rows={{ from, to }} />}</QueryResult>
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
            {usage.data ? <TopReasons chart={usage.data} before={before} rows={{ from, to }} /> : <Loading />}
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
      <Pair>
        <MailOperators />
        {!overview.isLoadingError && <LatestLists lists={overview.data?.lists ?? null} />}
      </Pair>
      <LatestRejected />
    </Page>
  );
}

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
function MailOperators() {
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
        No lists of addresses yet.{' '}
        <Anchor component={Link} to="/lists/new">
          New list
        </Anchor>
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

const logOfDay = ({ at }: Bar) =>
  ({ to: '/log', search: { from: at.slice(0, 10), to: at.slice(0, 10) } satisfies LogSearch }) as const;

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
        linkOf={logOfDay}
        linkOfSegment={(deliverability) => ({ to: '/log', search: { ...rows, deliverability } })}
        beforeLabel={`${BALANCE_DAYS} days before`}
        footer={
          change && (
            <>
              <span>{change.text}</span>
              {change.day !== null && (
                <Link to="/log" search={{ from: change.day, to: change.day }}>
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
