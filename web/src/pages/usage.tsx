import { Anchor, SimpleGrid, Stack } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { api, unwrap } from '../api/client.ts';
import type { LEVELS } from '../api/limits.ts';
import type { UsageChart } from '../api/schema.ts';
import { useAccount } from '../api/session.ts';
import { Chart } from '../parts/chart/chart.tsx';
import type { ChartData, Series } from '../parts/chart/series.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { Page } from '../parts/page.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { reasonName } from '../parts/verdict/reasons.ts';
import { Breakdown } from './usage/breakdown.tsx';
import { type Range, rangeOf } from './usage/range.ts';
import { RangePicker } from './usage/range-picker.tsx';
import { latencySummary, refusalsSummary, requestsSummary } from './usage/summaries.ts';

const route = getRouteApi('/inside/usage');

export function UsagePage() {
  const { id } = useAccount();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const range = rangeOf(search, Date.now());
  const { from, to, bucket } = range;
  const query = useQuery({
    queryKey: ['account', id, 'usage', from, to, bucket],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET('/dashboard/accounts/{account}/usage', {
          params: { path: { account: id }, query: { from, to, bucket } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title="Usage"
      about={
        <>
          Requests and verdicts per {query.data?.bucket ?? bucket}, in UTC.{' '}
          <Anchor underline="always" {...csv(id, range)}>
            Download CSV
          </Anchor>
        </>
      }
    >
      <RangePicker search={search} range={range} onChange={(search) => void navigate({ search })} />
      <QueryResult query={query}>{(chart) => (isEmpty(chart) ? <NoUsage /> : <Charts chart={chart} />)}</QueryResult>
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

function Charts({ chart }: { chart: UsageChart }) {
  const { requests, mx, smtp, refusals } = useMemo(() => chartsOf(chart), [chart]);
  // Many accounts never use the smtp level.
  const smtpTimes = latencySummary(chart, 'smtp');
  return (
    <Stack gap="xl">
      <Chart title="Verifications" summary={requestsSummary(chart)} data={requests} />
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="xl">
        <Chart
          title="Latency at the mx level"
          summary={latencySummary(chart, 'mx') ?? 'No data.'}
          unit=" ms"
          data={mx}
        />
        {smtpTimes !== null && <Chart title="Latency at the smtp level" summary={smtpTimes} unit=" ms" data={smtp} />}
        <Chart title="Rejected requests" summary={refusalsSummary(chart)} data={refusals} />
      </SimpleGrid>
      {chart.by_reason.length > 0 && (
        <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="xl">
          <Breakdown
            title="By reason"
            header="Reason"
            rows={chart.by_reason.map(({ reason, requests }) => ({ id: reason, name: reasonName(reason), requests }))}
          />
          <Breakdown
            title="By key"
            header="Key"
            rows={chart.by_key.map(({ key_id, name, ...sums }) => ({ id: key_id, name, ...sums }))}
          />
        </SimpleGrid>
      )}
    </Stack>
  );
}

function chartsOf({ buckets, bucket }: UsageChart): Record<'requests' | 'mx' | 'smtp' | 'refusals', ChartData> {
  const of = (shape: ChartData['shape'], series: readonly Series[]): ChartData => ({
    at: buckets.map(({ at }) => at),
    bucket,
    shape,
    series,
  });
  const latency = (level: (typeof LEVELS)[number]) =>
    of('lines', [
      { label: 'Median', tone: 'first', values: buckets.map(({ latency }) => latency[level]?.p50 ?? null) },
      {
        label: '95th percentile',
        tone: 'second',
        values: buckets.map(({ latency }) => latency[level]?.p95 ?? null),
        broken: true,
      },
    ]);
  return {
    requests: of('bars', [
      { label: 'Good', tone: 'good', values: buckets.map(({ good }) => good) },
      { label: 'Bad', tone: 'bad', values: buckets.map(({ bad }) => bad) },
    ]),
    mx: latency('mx'),
    smtp: latency('smtp'),
    refusals: of('bars', [
      { label: '4xx except 429', tone: 'rejected', values: buckets.map(({ refused }) => refused) },
      { label: '429', tone: 'limited', values: buckets.map(({ rate_limited }) => rate_limited) },
    ]),
  };
}
