import { Anchor, SimpleGrid, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Level } from '../../../src/kernel/facts/plans.ts';
import type { UsageChart } from '../api/schema.ts';
import { useAccount } from '../api/session.ts';
import { usageQuery } from '../api/usage.ts';
import { barsOf } from '../parts/chart/bars.ts';
import { BarsChart } from '../parts/chart/bars-chart.tsx';
import { Chart } from '../parts/chart/chart.tsx';
import type { ChartData, Series } from '../parts/chart/series.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { Page } from '../parts/page.tsx';
import { Pair, Panel } from '../parts/panel.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import type { LogSearch } from './log/search.ts';
import { KeyFigures } from './overview/figures.tsx';
import { TopReasons } from './overview/reasons.tsx';
import { ByKey } from './usage/by-key.tsx';
import { comparable, periodBefore, type Range, rangeOf } from './usage/range.ts';
import { RangePicker } from './usage/range-picker.tsx';
import { latencySummary, refusalsSummary, requestsSummary } from './usage/summaries.ts';

const route = getRouteApi('/inside/usage');

export function UsagePage() {
  const { id } = useAccount();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const range = rangeOf(search, Date.now());
  const query = useQuery(usageQuery(id, range));
  const before = comparable(useQuery(usageQuery(id, periodBefore(range))).data);
  return (
    <Page
      title="Usage"
      about={
        <>
          Requests and verdicts per {query.data?.bucket ?? range.bucket}, in UTC, beside the period of the same length
          before.{' '}
          <Anchor underline="always" {...csv(id, range)}>
            Download CSV
          </Anchor>
        </>
      }
    >
      <RangePicker search={search} range={range} onChange={(search) => void navigate({ search })} />
      <QueryResult query={query}>
        {(chart) => (isEmpty(chart) ? <NoUsage /> : <Charts chart={chart} before={before} range={range} />)}
      </QueryResult>
    </Page>
  );
}

const csv = (account: string, { from, to, bucket }: Range) => ({
  href: `/dashboard/accounts/${encodeURIComponent(account)}/usage.csv?${new URLSearchParams({ from, to, bucket })}`,
  download: true,
});

const isEmpty = ({ totals }: UsageChart): boolean => totals.requests + totals.refused + totals.rate_limited === 0;

const NoUsage = () => (
  <EmptyState
    title="No requests in this period"
    action={
      <Anchor component={Link} to="/verify">
        Verify an address
      </Anchor>
    }
  >
    Choose a longer period or send a request.
  </EmptyState>
);

function Charts({ chart, before, range }: { chart: UsageChart; before: UsageChart | null; range: Range }) {
  // Where counters are no longer by the hour, a period may have other buckets than the one before.
  const compared = before?.bucket === chart.bucket ? before : null;
  const data = useMemo(() => barsOf(chart, compared), [chart, compared]);
  const { mx, smtp, refusals } = useMemo(() => chartsOf(chart, compared), [chart, compared]);
  const bucketOf = (at: string): LogSearch => (chart.bucket === 'hour' ? { hour: at } : daySearch(at));
  const linkTo = (search: LogSearch) => ({ to: '/log', search }) as const;
  const [from, to] = range.days;
  const rows: LogSearch = { from, to };
  // Many accounts never use the smtp level.
  const smtpTimes = latencySummary(chart, 'smtp');
  return (
    <Stack gap="md">
      <KeyFigures chart={chart} before={before} rows={rows} />
      <BarsChart
        title="Verifications"
        data={data}
        linkOf={({ at }) => linkTo(bucketOf(at))}
        linkOfSegment={(deliverability) => linkTo({ ...rows, deliverability })}
        beforeLabel="Period before"
        footer={<span>{requestsSummary(chart)}</span>}
      />
      <SimpleGrid cols={{ base: 1, lg: 2, ...(smtpTimes === null ? {} : { xl: 3 }) }} spacing="md">
        <Chart
          title="Latency at the mx level"
          summary={latencySummary(chart, 'mx') ?? 'No data.'}
          unit=" ms"
          data={mx}
          linkOf={(at) => linkTo({ ...bucketOf(at), level: 'mx' })}
        />
        {smtpTimes !== null && (
          <Chart
            title="Latency at the smtp level"
            summary={smtpTimes}
            unit=" ms"
            data={smtp}
            linkOf={(at) => linkTo({ ...bucketOf(at), level: 'smtp' })}
          />
        )}
        <Chart
          title="Rejected requests"
          summary={refusalsSummary(chart)}
          data={refusals}
          linkOf={(at) => linkTo({ ...bucketOf(at), status: 'rejected' })}
        />
      </SimpleGrid>
      {chart.by_reason.length > 0 && (
        <Pair alike>
          <Panel title="By reason" flush="table">
            <TopReasons chart={chart} before={before} rows={rows} all />
          </Panel>
          <Panel title="By key" flush="table">
            <ByKey chart={chart} rows={rows} />
          </Panel>
        </Pair>
      )}
    </Stack>
  );
}

const daySearch = (at: string): LogSearch => ({ from: at.slice(0, 10), to: at.slice(0, 10) });

/** `before`: of the period before, with as many buckets. */
function chartsOf(
  { buckets, bucket }: UsageChart,
  before: UsageChart | null,
): Record<'mx' | 'smtp' | 'refusals', ChartData> {
  const of = (shape: ChartData['shape'], series: readonly Series[]): ChartData => ({
    at: buckets.map(({ at }) => at),
    bucket,
    shape,
    series,
  });
  const earlier = (level: Level, { buckets: then }: UsageChart): Series => ({
    label: '95th percentile, period before',
    tone: 'before',
    values: buckets.map((_, i) => then[i]?.latency[level]?.p95 ?? null),
    line: 'dotted',
  });
  const latency = (level: Level) =>
    of('lines', [
      { label: 'Median', tone: 'first', values: buckets.map(({ latency }) => latency[level]?.p50 ?? null) },
      {
        label: '95th percentile',
        tone: 'second',
        values: buckets.map(({ latency }) => latency[level]?.p95 ?? null),
        line: 'dashed',
      },
      ...(before === null ? [] : [earlier(level, before)]),
    ]);
  return {
    mx: latency('mx'),
    smtp: latency('smtp'),
    refusals: of('bars', [
      { label: '4xx except 429', tone: 'rejected', values: buckets.map(({ refused }) => refused) },
      { label: '429', tone: 'limited', values: buckets.map(({ rate_limited }) => rate_limited) },
    ]),
  };
}
