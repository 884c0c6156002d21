import { plural, t } from '@lingui/core/macro';
import { Plural, Trans } from '@lingui/react/macro';
import { Badge, Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { RECENT_DAYS } from '../../../src/kernel/facts/limits.ts';
import { isNotFound } from '../api/client.ts';
import type { DashboardKey, KeyDetail, UsageChart } from '../api/schema.ts';
import { useAccount, useHasRole } from '../api/session.ts';
import { usageQuery } from '../api/usage.ts';
import { barsOf } from '../parts/chart/bars.ts';
import { BarsChart } from '../parts/chart/bars-chart.tsx';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { countDelta, formatShare, shareDelta, shareOf } from '../parts/delta.ts';
import { DescriptionItem, DescriptionList } from '../parts/description-list.tsx';
import { Figures } from '../parts/figures.tsx';
import { formatNumber } from '../parts/format.ts';
import { Loading } from '../parts/loading.tsx';
import { NotFound } from '../parts/not-found.tsx';
import { Page } from '../parts/page.tsx';
import { Pair, Panel } from '../parts/panel.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { rowsOfSource } from '../parts/source.ts';
import { SourceSwitch, WithoutSource } from '../parts/source-switch.tsx';
import {
  comparable,
  hasTime,
  lengthText,
  periodBefore,
  rangeOf,
  type TimeSearch,
  timeOfBucket,
  timeOfBuckets,
  timeSearch,
  USUAL,
  withoutTime,
} from '../parts/time.ts';
import { TimePicker } from '../parts/time-picker.tsx';
import { Timestamp } from '../parts/timestamp.tsx';
import { type DialogState, Dialogs } from './keys/dialogs.tsx';
import { keyQuery } from './keys/query.ts';
import { State, scopesText } from './keys/table.tsx';
import { LatestRejected } from './log/latest-rejected.tsx';
import { type LogSearch, verifiedOf } from './log/search.ts';
import css from './overview/overview.module.css';
import { TopReasons } from './overview/reasons.tsx';

/** One key: what it was used for, from where, and its log. */
export function KeyPage() {
  const { id: account } = useAccount();
  const isAdmin = useHasRole('admin');
  const [open, setOpen] = useState<DialogState | null>(null);
  const { id } = route.useParams();
  const search = route.useSearch();
  const { source } = search;
  const navigate = route.useNavigate();
  const time = hasTime(search) ? timeSearch({ ...search }) : USUAL;
  const range = rangeOf(time, Date.now());
  const show = (next: typeof search) => void navigate({ search: next, resetScroll: false });
  const showTime = (next: TimeSearch) => show({ ...withoutTime(search), ...next });
  const query = useQuery(keyQuery(account, id));
  const usage = useQuery(usageQuery(account, range, { key: id, source }));
  const before = comparable(useQuery(usageQuery(account, periodBefore(range), { key: id, source })).data);
  const rows: LogSearch = { ...time, key: id, ...rowsOfSource(source) };
  if (isNotFound(query.error))
    return <NotFound inside what={t`API key`} back={{ to: '/settings/keys', label: t`All API keys` }} />;
  // A key that could not be loaded has no figures either.
  if (query.isLoadingError)
    return (
      <Page title={t`API key`}>
        <QueryResult query={query}>{() => null}</QueryResult>
      </Page>
    );
  return (
    <Page
      title={query.data?.key.name ?? t`API key`}
      tag={query.data && query.data.key.state !== 'active' && <KeyState of={query.data.key} />}
      about={query.data && <code>{query.data.key.key}</code>}
      action={
        <>
          <TimePicker time={timeSearch({ ...search })} usual={USUAL} onChange={showTime} />
          <SourceSwitch source={source} onChange={(next) => show({ ...timeSearch({ ...search }), ...next })} />
          {isAdmin && query.data && query.data.key.state !== 'revoked' && (
            <KeyActions of={query.data.key} onOpen={setOpen} />
          )}
          <Button renderRoot={(props) => <Link {...props} to="/log" search={rows} />}>{t`Open log`}</Button>
        </>
      }
    >
      {query.data && <Facts of={query.data.key} />}
      <QueryResult query={usage}>
        {(chart) => (
          <>
            <WithoutSource count={chart.without_source} source={source} />
            <Usage chart={chart} before={before} rows={rows} onChoose={showTime} />
          </>
        )}
      </QueryResult>
      <Pair>
        {!usage.isLoadingError && (
          <Panel title={t`Top reasons`} flush="table">
            {usage.data ? <TopReasons chart={usage.data} before={before} rows={rows} /> : <Loading />}
          </Panel>
        )}
        <Panel
          title={t`IP addresses`}
          flush="table"
          note={t`of the last ${plural(RECENT_DAYS, { one: '# day', other: '# days' })}`}
        >
          <QueryResult query={query}>{({ clients }) => <Clients rows={clients} />}</QueryResult>
        </Panel>
      </Pair>
      <LatestRejected of={{ key: id }} time={time} />
      <Dialogs open={open} onClose={() => setOpen(null)} />
    </Page>
  );
}

const route = getRouteApi('/inside/settings/keys/$id');

const KeyState = ({ of }: { of: DashboardKey }) => (
  <Badge variant="outline" color={of.state === 'expiring' ? 'yellow' : 'gray'}>
    <State of={of} />
  </Badge>
);

/** What the key may do, from where, and until when. */
const Facts = ({ of }: { of: DashboardKey }) => (
  <DescriptionList>
    <DescriptionItem term={t`Scopes`}>{scopesText(of.scopes)}</DescriptionItem>
    <DescriptionItem term={t`Budget`}>
      {of.budget === null
        ? t`None`
        : t`${formatNumber(of.budget.used)} of ${plural(of.budget.monthly_credits, { one: '# credit', other: '# credits' })} used this month`}
    </DescriptionItem>
    <DescriptionItem term={t`Expires`}>
      {of.expires_at === null ? t`Never` : <Timestamp at={of.expires_at} />}
    </DescriptionItem>
    <DescriptionItem term={t`Allowed IP addresses`}>
      <span className="anywhere">{of.allow_ips.length === 0 ? t`Any` : of.allow_ips.join(', ')}</span>
    </DescriptionItem>
    <DescriptionItem term={t`Created`}>
      <Timestamp at={of.created_at} />
    </DescriptionItem>
    <DescriptionItem term={t`Last used`}>
      {of.last_used_at === null ? t`Never` : <Timestamp at={of.last_used_at} />}
    </DescriptionItem>
  </DescriptionList>
);

function KeyActions({ of, onOpen }: { of: DashboardKey; onOpen: (dialog: DialogState) => void }) {
  return (
    <>
      <Button onClick={() => onOpen({ what: 'edit', of })}>{t`Edit`}</Button>
      {of.state === 'active' && <Button onClick={() => onOpen({ what: 'roll', of })}>{t`Roll`}</Button>}
      <Button color="red" onClick={() => onOpen({ what: 'revoke', of })}>{t`Revoke`}</Button>
    </>
  );
}

function Usage(props: {
  chart: UsageChart;
  before: UsageChart | null;
  rows: LogSearch;
  onChoose: (time: TimeSearch) => void;
}) {
  const { chart, before, rows, onChoose } = props;
  const compared = before?.bucket === chart.bucket ? before : null;
  const data = useMemo(() => barsOf(chart, compared), [chart, compared]);
  const { requests, credits, asked, outcomes } = chart.totals;
  const undeliverable = shareOf(outcomes.undeliverable, requests);
  const deliverable = shareOf(outcomes.deliverable, asked);
  const then = before?.totals;
  return (
    <>
      <Figures
        label={t`Key figures`}
        items={[
          {
            label: t`Verifications`,
            value: formatNumber(requests),
            delta: then === undefined ? null : countDelta(requests, then.requests),
            link: { to: '/log', search: verifiedOf(rows) },
          },
          {
            label: t`Deliverable, where asked`,
            value: formatShare(deliverable),
            delta:
              then === undefined
                ? null
                : shareDelta(deliverable, shareOf(then.outcomes.deliverable, then.asked), 'more'),
            link: { to: '/log', search: { ...rows, deliverability: 'deliverable' } },
          },
          {
            label: t`Undeliverable`,
            value: formatShare(undeliverable),
            delta:
              then === undefined
                ? null
                : shareDelta(undeliverable, shareOf(then.outcomes.undeliverable, then.requests), 'less'),
            link: { to: '/log', search: { ...rows, deliverability: 'undeliverable' } },
          },
          {
            label: t`Credits`,
            value: formatNumber(credits),
            delta: then === undefined ? null : countDelta(credits, then.credits),
          },
        ]}
      />
      <BarsChart
        title={chart.bucket === 'day' ? t`Verifications a day` : t`Verifications an hour`}
        data={data}
        rejected={false}
        linkOf={({ at }) => ({
          to: '/log',
          search: { ...withoutTime(verifiedOf(rows)), ...timeOfBucket(at, chart.bucket) },
        })}
        onChoose={(first, last) => onChoose(timeOfBuckets(chart, first, last))}
        linkOfSegment={(deliverability) => ({ to: '/log', search: { ...rows, deliverability } })}
        beforeLabel={t`${lengthText(chart)} before`}
      />
    </>
  );
}

type Client = KeyDetail['clients'][number];
const CLIENTS: readonly Column<Client>[] = [
  { header: t`IP address`, cell: ({ ip }) => <span className="mono anywhere">{ip ?? t`Not recorded`}</span> },
  { header: t`Requests`, numeric: true, cell: ({ requests }) => formatNumber(requests) },
  { header: t`Last`, cell: ({ last_at }) => <Timestamp at={last_at} />, folds: true },
];

const Clients = ({ rows }: { rows: readonly Client[] }) =>
  rows.length === 0 ? (
    <p className={css.none}>
      <Trans>
        No verification with this key in the last <Plural value={RECENT_DAYS} one="# day" other="# days" />.
      </Trans>
    </p>
  ) : (
    <DataTable
      label={t`IP addresses: ${plural(rows.length, { one: '# address', other: '# addresses' })}`}
      columns={CLIENTS}
      rows={rows}
      rowKey={({ ip }) => ip ?? ''}
    />
  );
