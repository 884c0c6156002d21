import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, Button } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { KEY_NOTICES } from '../../../src/kernel/facts/notices.ts';
import { overviewQuery } from '../api/account.ts';
import { api, unwrap } from '../api/client.ts';
import type { List, OperatorsAsked, Overview, UsageChart } from '../api/schema.ts';
import { useAccount, useHasRole } from '../api/session.ts';
import { barsOf } from '../parts/chart/bars.ts';
import { BarsChart } from '../parts/chart/bars-chart.tsx';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { formatShare } from '../parts/delta.ts';
import { formatDateTime, formatMs, formatNumber } from '../parts/format.ts';
import { Loading } from '../parts/loading.tsx';
import { operatorName } from '../parts/operator-name.ts';
import { Page } from '../parts/page.tsx';
import { Pair, Panel } from '../parts/panel.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { Review } from '../parts/review.tsx';
import { rowsOfSource, type SourceSearch } from '../parts/source.ts';
import { WithoutSource } from '../parts/source-switch.tsx';
import {
  lengthText,
  type Range,
  spanText,
  type TimeSearch,
  timeOfBucket,
  timeOfBuckets,
  withoutTime,
} from '../parts/time.ts';
import { NOTICE_COPY } from './keys/notices.tsx';
import { FailedLists } from './lists/failed.tsx';
import { etaText, ListProgress } from './lists/progress-bar.tsx';
import { ListStatusTag } from './lists/status.tsx';
import { LatestRejected } from './log/latest-rejected.tsx';
import type { LogSearch } from './log/search.ts';
import { Balance } from './overview/balance.tsx';
import { ByKey } from './overview/by-key.tsx';
import { whatChanged } from './overview/changes.ts';
import { KeyFigures } from './overview/figures.tsx';
import { FirstSteps } from './overview/first-steps.tsx';
import css from './overview/overview.module.css';
import { TopReasons } from './overview/reasons.tsx';
import { useUsagePeriod } from './usage/period.tsx';
import type { UsageSearch } from './usage/search.ts';

export function OverviewPage() {
  const { id } = useAccount();
  const mayVerify = useHasRole('member');
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const show = (next: UsageSearch) => void navigate({ search: next, resetScroll: false });
  const { time, range, source, usage, before, showTime, controls } = useUsagePeriod(search, show);
  const overview = useQuery(overviewQuery(id));
  const rows: LogSearch = { ...time, ...rowsOfSource(source) };
  return (
    <Page
      title={t`Overview`}
      about={t`${spanText(range)}, beside the ${lengthText(range)} before`}
      action={
        <>
          {controls}
          {mayVerify && <Button component={Link} to="/verify" variant="filled">{t`Verify an address`}</Button>}
        </>
      }
    >
      <QueryResult query={overview}>
        {(found) => (
          <>
            {mayVerify && found.first_steps && <FirstSteps steps={found.first_steps} />}
            <KeyNotices keys={found.keys} />
            <FailedLists lists={found.failed_lists} />
          </>
        )}
      </QueryResult>
      <QueryResult query={usage}>
        {(chart) => (
          <>
            <WithoutSource count={chart.without_source} source={source} />
            <Days chart={chart} before={before} rows={rows} onChoose={showTime} />
          </>
        )}
      </QueryResult>
      <Pair>
        {/* What could not be loaded is said once, above. */}
        {!usage.isLoadingError && (
          <Panel
            title={t`Top reasons`}
            flush="table"
            actions={<Link to="/usage" search={search}>{t`All reasons`}</Link>}
          >
            {usage.data ? <TopReasons chart={usage.data} before={before} rows={rows} /> : <Loading />}
          </Panel>
        )}
        {!overview.isLoadingError &&
          (overview.data ? (
            <Balance overview={overview.data} />
          ) : (
            <Panel title={t`Balance`}>
              <Loading />
            </Panel>
          ))}
      </Pair>
      {usage.data && (
        <Panel title={t`By key`} flush="table">
          <ByKey chart={usage.data} before={before} rows={rows} to="/" search={search} />
        </Panel>
      )}
      <Pair>
        <MailOperators source={source} rows={rows} range={range} />
        {!overview.isLoadingError && <LatestLists lists={overview.data?.lists ?? null} />}
      </Pair>
      <LatestRejected time={time} />
    </Page>
  );
}

const route = getRouteApi('/inside/');

type Row = OperatorsAsked['operators'][number];

const columnsFor = (rows: LogSearch): readonly Column<Row>[] => [
  {
    header: t`Operator`,
    cell: ({ operator }) => (
      <Link className={css.go} to="/log" search={{ ...rows, operator, level: 'smtp' }}>
        {operatorName(operator)}
      </Link>
    ),
  },
  { header: t`Checks`, numeric: true, cell: ({ checks }) => formatNumber(checks) },
  {
    header: t`Deliverable`,
    numeric: true,
    cell: ({ deliverable_share, undisclosed }) =>
      deliverable_share === null
        ? undisclosed > 0
          ? t`not disclosed`
          : t`not reached`
        : formatShare(deliverable_share),
  },
  {
    header: t`Median time`,
    numeric: true,
    folds: true,
    cell: ({ median_ms }) => (median_ms === null ? '–' : formatMs(median_ms)),
  },
];

/** What mail operators answered. `rows`: the log of the time. */
function MailOperators(props: { source: SourceSearch['source'] | undefined; rows: LogSearch; range: Range }) {
  const { source, rows, range } = props;
  const { id } = useAccount();
  const { from, to } = range;
  const query = useQuery({
    queryKey: ['account', id, 'operators', from, to, source ?? null],
    queryFn: ({ signal }) => {
      const params = { path: { account: id }, query: { from, to, ...(source === undefined ? {} : { source }) } };
      return unwrap(api.GET('/dashboard/accounts/{account}/operators', { params, signal }));
    },
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  });
  const checks = query.data?.checks ?? 0;
  return (
    <Panel
      title={t`Mail operators`}
      flush="table"
      note={
        query.data &&
        checks > 0 &&
        (query.data.from === from
          ? plural(checks, { one: 'of # mailbox check', other: 'of # mailbox checks' })
          : t`of the latest ${plural(checks, { one: '# mailbox check', other: '# mailbox checks' })}, since ${formatDateTime(query.data.from)}`)
      }
    >
      <QueryResult query={query}>
        {({ operators }) =>
          operators.length === 0 ? (
            <p
              className={css.none}
            >{t`No mailbox was checked in this time. Verifications at the smtp level are counted here.`}</p>
          ) : (
            <DataTable
              label={t`Mail operators`}
              columns={columnsFor(rows)}
              rows={operators}
              rowKey={({ operator }) => operator}
            />
          )
        }
      </QueryResult>
    </Panel>
  );
}

function NewList() {
  if (!useHasRole('member')) return null;
  return <Anchor component={Link} to="/lists/new">{t`New list`}</Anchor>;
}

/** Lists that are running, and the latest ones; null: not known yet. */
const LatestLists = ({ lists }: { lists: readonly List[] | null }) => (
  <Panel title={t`Lists`} actions={<Link to="/lists" search={{}}>{t`All lists`}</Link>}>
    {lists === null ? (
      <Loading />
    ) : lists.length === 0 ? (
      <p className={css.about}>
        <Trans>
          No lists of addresses yet. <NewList />
        </Trans>
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
          <Trans>
            {formatNumber(progress.done)} of {formatNumber(rows.addresses)} done
          </Trans>
        </span>
        <span>{finished_at === null ? etaText(of) : formatDateTime(finished_at)}</span>
      </div>
    </li>
  );
}

/** API keys to review, with links to them. */
function KeyNotices({ keys }: { keys: Overview['keys'] }) {
  const shown = KEY_NOTICES.filter((notice) => keys[notice] > 0);
  if (shown.length === 0) return null;
  return (
    <Review title={t`API keys to review`} of={shown}>
      {shown.map((show) => (
        <Anchor key={show} renderRoot={(props) => <Link {...props} to="/settings/keys" search={{ show }} />}>
          {t`${NOTICE_COPY[show].title}: ${plural(keys[show], { one: '# key', other: '# keys' })}`}
        </Anchor>
      ))}
    </Review>
  );
}

/** Figures, bars and what changed. */
function Days(props: {
  chart: UsageChart;
  before: UsageChart | null;
  rows: LogSearch;
  onChoose: (time: TimeSearch) => void;
}) {
  const { chart, before, rows, onChoose } = props;
  // Where counters are no longer by the hour, a period may have other buckets than the one before.
  const compared = before?.bucket === chart.bucket ? before : null;
  const data = useMemo(() => barsOf(chart, compared), [chart, compared]);
  const change = compared && whatChanged(chart, compared);
  return (
    <>
      <KeyFigures chart={chart} before={before} rows={rows} />
      <BarsChart
        title={chart.bucket === 'day' ? t`Verifications a day` : t`Verifications an hour`}
        data={data}
        linkOf={({ at }) => ({ to: '/log', search: { ...withoutTime(rows), ...timeOfBucket(at, chart.bucket) } })}
        linkOfSegment={(deliverability) => ({ to: '/log', search: { ...rows, deliverability } })}
        onChoose={(first, last) => onChoose(timeOfBuckets(chart, first, last))}
        beforeLabel={t`${lengthText(chart)} before`}
        footer={
          change && (
            <>
              <span>{change.text}</span>
              {change.time !== null && (
                <Link to="/log" search={{ ...change.time, ...change.rows }}>
                  {chart.bucket === 'hour' ? t`Open this hour` : t`Open this day`}
                </Link>
              )}
            </>
          )
        }
      />
    </>
  );
}
