import { Anchor, SimpleGrid, Stack } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { api, unwrap } from '../api/client.ts';
import type { UsageChart } from '../api/schema.ts';
import { useAccount } from '../api/session.ts';
import { Chart } from '../parts/chart/chart.tsx';
import type { ChartData } from '../parts/chart/series.ts';
import { Empty } from '../parts/empty.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Page } from '../parts/page.tsx';
import { reasonName } from '../parts/verdict/reasons.ts';
import { type Range, rangeOf } from './usage/range.ts';
import { RangePicker } from './usage/range-picker.tsx';
import { Shares } from './usage/shares.tsx';
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
          What was asked and answered, by {bucket}, in UTC. <Anchor {...csv(id, range)}>Download as CSV</Anchor>
        </>
      }
    >
      <RangePicker search={search} range={range} onChange={(search) => void navigate({ search })} />
      <Loaded query={query}>{(chart) => (isEmpty(chart) ? <Nothing /> : <Charts chart={chart} />)}</Loaded>
    </Page>
  );
}

const csv = (account: string, { from, to, bucket }: Range) => ({
  href: `/dashboard/accounts/${encodeURIComponent(account)}/usage.csv?${new URLSearchParams({ from, to, bucket })}`,
  download: true,
});

const isEmpty = ({ totals }: UsageChart): boolean => totals.requests + totals.refused + totals.rate_limited === 0;

const Nothing = () => (
  <Empty
    title="Nothing in this time"
    action={
      <Anchor component={Link} to="/verify">
        Verify an address
      </Anchor>
    }
  >
    No request came in. Choose a longer time, or send one.
  </Empty>
);

function Charts({ chart }: { chart: UsageChart }) {
  const { requests, latency, refusals } = useMemo(() => chartsOf(chart), [chart]);
  return (
    <Stack gap="xl">
      <Chart title="Verifications" summary={requestsSummary(chart)} data={requests} />
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="xl">
        <Chart title="Time to the verdict" summary={latencySummary(chart)} unit=" ms" data={latency} />
        <Chart title="Refused requests" summary={refusalsSummary(chart)} data={refusals} />
      </SimpleGrid>
      {chart.by_reason.length > 0 && (
        <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="xl">
          <Shares
            title="By reason"
            header="Reason"
            rows={chart.by_reason.map(({ reason, requests }) => ({ id: reason, name: reasonName(reason), requests }))}
          />
          <Shares
            title="By key"
            header="Key"
            rows={chart.by_key.map(({ key_id, name, ...sums }) => ({ id: key_id, name, ...sums }))}
          />
        </SimpleGrid>
      )}
    </Stack>
  );
}

function chartsOf({ buckets, bucket }: UsageChart): Record<'requests' | 'latency' | 'refusals', ChartData> {
  const at = buckets.map((one) => one.at);
  const latency = (level: 'mx' | 'smtp', which: 'p50' | 'p95') =>
    buckets.map((one) => one.latency[level]?.[which] ?? null);
  return {
    requests: {
      at,
      bucket,
      shape: 'bars',
      series: [
        { label: 'Good', tone: 'good', values: buckets.map(({ good }) => good) },
        { label: 'Bad', tone: 'bad', values: buckets.map(({ bad }) => bad) },
      ],
    },
    latency: {
      at,
      bucket,
      shape: 'lines',
      series: [
        { label: 'mx, median', tone: 'first', values: latency('mx', 'p50') },
        { label: 'mx, 95 %', tone: 'first', values: latency('mx', 'p95'), broken: true },
        { label: 'smtp, median', tone: 'second', values: latency('smtp', 'p50') },
        { label: 'smtp, 95 %', tone: 'second', values: latency('smtp', 'p95'), broken: true },
      ],
    },
    refusals: {
      at,
      bucket,
      shape: 'bars',
      series: [
        { label: '4xx', tone: 'good', values: buckets.map(({ refused }) => refused) },
        { label: '429', tone: 'bad', values: buckets.map(({ rate_limited }) => rate_limited) },
      ],
    },
  };
}
