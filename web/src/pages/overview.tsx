import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { BALANCE_DAYS } from '../../../src/kernel/facts/limits.ts';
import { overviewQuery } from '../api/account.ts';
import type { UsageChart } from '../api/schema.ts';
import { useAccount } from '../api/session.ts';
import { usageQuery } from '../api/usage.ts';
import { type Bar, barsOf } from '../parts/chart/bars.ts';
import { BarsChart } from '../parts/chart/bars-chart.tsx';
import { formatDays } from '../parts/days.ts';
import { Loading } from '../parts/loading.tsx';
import { Page } from '../parts/page.tsx';
import { Pair, Panel } from '../parts/panel.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { LatestRejected } from './log/latest-rejected.tsx';
import type { LogSearch } from './log/search.ts';
import { Balance } from './overview/balance.tsx';
import { whatChanged } from './overview/changes.ts';
import { KeyFigures } from './overview/figures.tsx';
import { FirstSteps, isNew } from './overview/first-steps.tsx';
import { KeyNotices } from './overview/key-notices.tsx';
import { LatestLists } from './overview/lists.tsx';
import { MailOperators } from './overview/operators.tsx';
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
