import { plural, t } from '@lingui/core/macro';
import { Button, SimpleGrid, Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Level } from '../../../src/kernel/facts/plans.ts';
import type { UsageChart } from '../api/schema.ts';
import { useAccount } from '../api/session.ts';
import { barsOf } from '../parts/chart/bars.ts';
import { BarsChart } from '../parts/chart/bars-chart.tsx';
import { Chart } from '../parts/chart/chart.tsx';
import { type ChartData, formatBucket, type Series } from '../parts/chart/series.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { factText } from '../parts/fact-text.ts';
import { formatNumber } from '../parts/format.ts';
import { Page } from '../parts/page.tsx';
import { Panel } from '../parts/panel.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { rowsOfSource } from '../parts/source.ts';
import { WithoutSource } from '../parts/source-switch.tsx';
import { lengthText, type Range, spanText, type TimeSearch, timeOfBucket, timeOfBuckets } from '../parts/time.ts';
import type { LogSearch } from './log/search.ts';
import { VerifyLink } from './log/verify-link.tsx';
import { ByKey } from './overview/by-key.tsx';
import { KeyFigures } from './overview/figures.tsx';
import { TopReasons } from './overview/reasons.tsx';
import { useUsagePeriod } from './usage/period.tsx';
import type { UsageSearch } from './usage/search.ts';

export function UsagePage() {
  const { id } = useAccount();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const show = (next: UsageSearch) => void navigate({ search: next, resetScroll: false });
  const { time, range, source, usage, before, showTime, controls } = useUsagePeriod(search, show);
  return (
    <Page
      title={t`Usage`}
      about={t`${spanText(range)}, by ${factText(usage.data?.bucket ?? range.bucket)}, beside the ${lengthText(range)} before`}
      action={
        <>
          {controls}
          <Button component="a" {...csv(id, range, source)}>{t`Download CSV`}</Button>
        </>
      }
    >
      <QueryResult query={usage}>
        {(chart) => (
          <>
            <WithoutSource count={chart.without_source} source={source} />
            {isEmpty(chart) ? (
              <NoUsage />
            ) : (
              <Charts chart={chart} before={before} time={time} search={search} onChoose={showTime} />
            )}
          </>
        )}
      </QueryResult>
    </Page>
  );
}

/** Text summaries of the charts. */

function requestsSummary({ totals, buckets, bucket }: UsageChart): string {
  const most = buckets.reduce<(typeof buckets)[number] | null>(
    (top, one) => (one.requests > (top?.requests ?? 0) ? one : top),
    null,
  );
  const all = t`${plural(totals.requests, { one: '# verification', other: '# verifications' })} for ${plural(totals.credits, { one: '# credit', other: '# credits' })}.`;
  if (most === null) return all;
  const [time, count] = [formatBucket(most.at, bucket), formatNumber(most.requests)];
  return `${all} ${bucket === 'hour' ? t`Busiest hour: ${time}, with ${count}.` : t`Busiest day: ${time}, with ${count}.`}`;
}

/** Null if there is no latency data for this level. */
function latencySummary({ buckets, bucket }: UsageChart, level: Level): string | null {
  const known = buckets.flatMap(({ latency }) => latency[level] ?? []);
  if (known.length === 0) return null;
  const medians = known.map(({ p50 }) => p50);
  const rounded = (ms: number) => formatNumber(Math.round(ms));
  const [least, most] = [rounded(Math.min(...medians)), rounded(Math.max(...medians))];
  const worst = rounded(Math.max(...known.map(({ p95 }) => p95)));
  const range = least === most ? t`${least} ms` : t`between ${least} and ${most} ms`;
  return bucket === 'hour'
    ? t`Median ${range}; highest 95th percentile in one hour: ${worst} ms.`
    : t`Median ${range}; highest 95th percentile in one day: ${worst} ms.`;
}

function refusalsSummary({ totals }: UsageChart): string {
  const { refused, rate_limited } = totals;
  if (refused + rate_limited === 0) return t`No requests were rejected.`;
  return t`${plural(refused, { one: '# request', other: '# requests' })} rejected with 4xx except 429, and ${plural(rate_limited, { one: '# request', other: '# requests' })} with 429 (rate limit).`;
}

const route = getRouteApi('/inside/usage');

const csv = (account: string, { from, to, bucket }: Range, source: UsageSearch['source']) => ({
  href: `/dashboard/accounts/${encodeURIComponent(account)}/usage.csv?${new URLSearchParams({ from, to, bucket, ...(source && { source }) })}`,
  download: true,
});

const isEmpty = ({ totals }: UsageChart): boolean => totals.requests + totals.refused + totals.rate_limited === 0;

const NoUsage = () => (
  <EmptyState
    title={t`No requests in this period`}
    action={<VerifyLink />}
  >{t`Choose a longer period or send a request.`}</EmptyState>
);

function Charts(props: {
  chart: UsageChart;
  before: UsageChart | null;
  time: TimeSearch;
  search: UsageSearch;
  onChoose: (time: TimeSearch) => void;
}) {
  const { chart, before, time, search, onChoose } = props;
  const ofSource = rowsOfSource(search.source);
  // Where counters are no longer by the hour, a period may have other buckets than the one before.
  const compared = before?.bucket === chart.bucket ? before : null;
  const data = useMemo(() => barsOf(chart, compared), [chart, compared]);
  const { mx, smtp, refusals } = useMemo(() => chartsOf(chart, compared), [chart, compared]);
  const bucketOf = (at: string): LogSearch => ({
    ...timeOfBucket(at, chart.bucket),
    ...ofSource,
  });
  const linkTo = (search: LogSearch) => ({ to: '/log', search }) as const;
  const rows: LogSearch = { ...time, ...ofSource };
  // Many accounts never use the smtp level.
  const smtpTimes = latencySummary(chart, 'smtp');
  return (
    <Stack gap="md">
      <KeyFigures chart={chart} before={before} rows={rows} />
      <BarsChart
        title={t`Verifications`}
        data={data}
        linkOf={({ at }) => linkTo(bucketOf(at))}
        linkOfSegment={(deliverability) => linkTo({ ...rows, deliverability })}
        onChoose={(first, last) => onChoose(timeOfBuckets(chart, first, last))}
        beforeLabel={t`${lengthText(chart)} before`}
        footer={<span>{requestsSummary(chart)}</span>}
      />
      <SimpleGrid cols={{ base: 1, lg: 2, ...(smtpTimes === null ? {} : { xl: 3 }) }} spacing="md">
        <Chart
          title={t`Latency at the mx level`}
          summary={latencySummary(chart, 'mx') ?? t`No data.`}
          unit={t` ms`}
          data={mx}
          linkOf={(at) => linkTo({ ...bucketOf(at), level: 'mx' })}
        />
        {smtpTimes !== null && (
          <Chart
            title={t`Latency at the smtp level`}
            summary={smtpTimes}
            unit={t` ms`}
            data={smtp}
            linkOf={(at) => linkTo({ ...bucketOf(at), level: 'smtp' })}
          />
        )}
        <Chart
          title={t`Rejected requests`}
          summary={refusalsSummary(chart)}
          data={refusals}
          linkOf={(at) => linkTo({ ...bucketOf(at), status: 'rejected' })}
        />
      </SimpleGrid>
      {chart.by_reason.length > 0 && (
        <>
          <Panel title={t`By key`} flush="table">
            <ByKey chart={chart} before={compared} rows={rows} to="/usage" search={search} />
          </Panel>
          <Panel title={t`By reason`} flush="table">
            <TopReasons chart={chart} before={before} rows={rows} all />
          </Panel>
        </>
      )}
    </Stack>
  );
}

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
    label: t`95th percentile, period before`,
    tone: 'before',
    values: buckets.map((_, i) => then[i]?.latency[level]?.p95 ?? null),
    line: 'dotted',
  });
  const latency = (level: Level) =>
    of('lines', [
      { label: t`Median`, tone: 'first', values: buckets.map(({ latency }) => latency[level]?.p50 ?? null) },
      {
        label: t`95th percentile`,
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
      { label: t`4xx except 429`, tone: 'rejected', values: buckets.map(({ refused }) => refused) },
      { label: '429', tone: 'limited', values: buckets.map(({ rate_limited }) => rate_limited) },
    ]),
  };
}
