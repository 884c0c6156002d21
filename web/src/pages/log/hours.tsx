import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { memo, useState } from 'react';
import { keysOf } from '../../../../src/kernel/facts/keys-of.ts';
import type { UsageSource } from '../../../../src/kernel/facts/outcomes.ts';
import { api, unwrap } from '../../api/client.ts';
import type { UsageChart } from '../../api/schema.ts';
import { useAccount } from '../../api/session.ts';
import { moveWithArrows } from '../../parts/arrow-keys.ts';
import { rejectedOf, SEGMENTS } from '../../parts/chart/bars.ts';
import { formatDate, formatMinute, formatNumber, formatUtcDate, zoneName } from '../../parts/format.ts';
import { NotLoaded } from '../../parts/not-loaded.tsx';
import { endOf, hasTime, type TimeSearch, timeOfBuckets } from '../../parts/time.ts';
import { useDrag } from '../../parts/use-drag.ts';
import css from './log.module.css';
import { type LogSearch, logQuery, negatedOf } from './search.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const HOURS = 24;
const EVERY_MS = 30_000;

/** Longer times are shown by the day. */
const HOURLY_MS = 48 * HOUR_MS;

interface HoursProps {
  readonly filters: LogSearch;
  readonly onChoose: (time: TimeSearch) => void;
}

/** The time that the bars show: that of the search, and around hours of it their days; else the last 24 hours. */
function timeOf(filters: LogSearch, now: number): { from: number; to: number } {
  const end = Math.ceil((now + 1) / HOUR_MS) * HOUR_MS;
  const lately = { from: end - HOURS * HOUR_MS, to: end };
  const { from: since, to: until } = { from: undefined, to: undefined, ...logQuery(filters, now) };
  if (since === undefined) return lately;
  const [from, to] = [Date.parse(since), until === undefined ? end : Date.parse(until)];
  if (filters.hour === undefined) return { from, to };
  if (from >= lately.from && to <= lately.to) return lately;
  return { from: Math.floor(from / DAY_MS) * DAY_MS, to: Math.ceil(to / DAY_MS) * DAY_MS };
}

/** Filters that no counter knows, with their names. */
const UNCOUNTED = {
  query: t`text`,
  level: t`level`,
  operator: t`mail operator`,
  egress: t`egress`,
  decision: t`decision`,
  status: t`status`,
  mail: t`mail`,
  confidence: t`confidence`,
  reported: t`reports`,
  list: t`list`,
} as const satisfies Partial<Record<keyof LogSearch, string>>;

/** What the counters are asked for, and the names of the filters that they do not know. */
function countedOf(filters: LogSearch) {
  const negated = negatedOf(filters);
  const without: string[] = keysOf(UNCOUNTED)
    // How many requests were rejected is counted.
    .filter((name) => filters[name] !== undefined && !(name === 'status' && filters.status === 'rejected'))
    .map((name) => UNCOUNTED[name]);
  const { reason, deliverability, key, origin } = filters;
  const isOneKey = key !== undefined && !key.includes(',') && !negated.includes('key');
  if (key !== undefined && !isOneKey) without.push(t`key`);
  if (origin !== undefined && origin !== 'list') without.push(t`origin`);
  const not = negated.filter((name) => name === 'reason' || name === 'deliverability').join(',');
  const source: UsageSource = negated.includes('origin') ? 'api' : 'list';
  const asked = {
    ...(isOneKey && { key }),
    ...(origin === 'list' && { source }),
    ...(reason !== undefined && { reason }),
    ...(deliverability !== undefined && { deliverability }),
    ...(not !== '' && { not }),
  };
  return { asked, without };
}

/**
 * The time of the search by the hour, or by the day where it is longer: verified above the line and rejected below.
 * Each bar opens its part of the log. Several are chosen by dragging over them, or with Shift from the chosen one on.
 */
export const Hours = memo(function Hours({ filters, onChoose }: HoursProps) {
  const { id } = useAccount();
  const { from, to } = timeOf(filters, Date.now());
  const { asked, without } = countedOf(filters);
  const bucket = to - from <= HOURLY_MS ? ('hour' as const) : ('day' as const);
  const bucketMs = bucket === 'hour' ? HOUR_MS : DAY_MS;
  // The same within an hour, so that the query is.
  const [first, last] = [Math.floor(from / bucketMs) * bucketMs, Math.ceil(to / bucketMs) * bucketMs];
  const query = useQuery({
    queryKey: ['account', id, 'log-hours', first, last, asked],
    queryFn: ({ signal }) => {
      const time = { from: new Date(first).toISOString(), to: new Date(last).toISOString(), bucket };
      const params = { path: { account: id }, query: { ...time, ...asked } };
      return unwrap(api.GET('/dashboard/accounts/{account}/usage', { params, signal }));
    },
    placeholderData: keepPreviousData,
    refetchInterval: EVERY_MS,
  });
  return (
    <section className={css.hours} aria-label={t`Verifications by time`}>
      <NotLoaded what={t`The chart of the time`} query={query} />
      {query.data ? (
        <Bars chart={query.data} filters={filters} without={without} onChoose={onChoose} />
      ) : (
        !query.isLoadingError && <div className={css.bars} />
      )}
    </section>
  );
});

const nameOf = (at: string, bucket: UsageChart['bucket']): string =>
  bucket === 'hour' ? `${formatMinute(at)} ${zoneName(at)}` : formatUtcDate(at);

/** What the bars count, and which filters they do not know. */
function Total(props: { chart: UsageChart; filters: LogSearch; without: readonly string[] }) {
  const { chart, filters, without } = props;
  const { buckets, totals, bucket: size } = chart;
  const isHourly = size === 'hour';
  const dayOf = isHourly ? formatDate : formatUtcDate;
  const [first, last] = [dayOf(chart.from), dayOf(new Date(Date.parse(chart.to) - 1).toISOString())];
  const verified = plural(totals.requests, { one: '# verification', other: '# verifications' });
  const rejected = plural(rejectedOf(totals), { one: '# rejected request', other: '# rejected requests' });
  const isOne = filters.status === 'rejected';
  const isNot = negatedOf(filters).includes('status');
  const both = isOne || rejectedOf(totals) === 0 ? verified : t`${verified} and ${rejected}`;
  const found = isOne && !isNot ? rejected : both;
  const most = formatNumber(Math.max(...buckets.map(({ requests }) => requests)));
  const filtersText = without.join(', ');
  return (
    <p className={css.total}>
      {!hasTime(filters) || filters.range === '24h' ? (
        <Trans>
          <b>{found}</b> in 24 hours
        </Trans>
      ) : (
        <Trans>
          <b>{found}</b> from {first} to {last}
        </Trans>
      )}
      {totals.requests > 0 && found !== rejected && (
        <>, {isHourly ? t`at most ${most} an hour` : t`at most ${most} a day`}</>
      )}
      {without.length > 0 && <> · {t`filters not applied here: ${filtersText}`}</>}
    </p>
  );
}

function Bars({ chart, filters, without, onChoose }: HoursProps & { chart: UsageChart; without: readonly string[] }) {
  const { buckets, bucket: size } = chart;
  const most = Math.max(1, ...buckets.map(({ requests }) => requests));
  const mostRejected = Math.max(1, ...buckets.map(rejectedOf));
  const choose = (one: number, other: number) => {
    const [first, last] = [Math.min(one, other), Math.max(one, other)];
    onChoose(timeOfBuckets(chart, first, last));
  };
  const { dragged, start, over } = useDrag(choose);
  /** The hour that Tab leads to: the one that had the focus last. */
  const [stop, setStop] = useState<number | null>(null);
  const { hour, until } = filters;
  const chosenAt = buckets.findIndex(({ at }) => hour !== undefined && Date.parse(at) === Date.parse(hour));
  const isChosen = (at: string) =>
    hour !== undefined && Date.parse(at) >= Date.parse(hour) && Date.parse(at) < endOf(hour, until);
  return (
    <>
      <Total chart={chart} filters={filters} without={without} />
      {/* One stop for the keyboard: arrow keys move within. */}
      <div
        role="toolbar"
        aria-label={size === 'hour' ? t`Hours` : t`Days`}
        aria-description={t`Shift and Enter chooses all from the chosen one to this.`}
        className={css.bars}
        onKeyDown={moveWithArrows}
      >
        {buckets.map((bucket, i) => {
          const { requests, outcomes } = bucket;
          const text = t`${nameOf(bucket.at, size)}: ${plural(requests, { one: '# verification', other: '# verifications' })}, ${formatNumber(rejectedOf(bucket))} rejected`;
          return (
            <button
              key={bucket.at}
              type="button"
              title={text}
              aria-label={text}
              aria-pressed={dragged === null ? isChosen(bucket.at) : dragged(i)}
              tabIndex={i === (stop ?? buckets.length - 1) ? 0 : -1}
              onFocus={() => setStop(i)}
              onPointerDown={(event) => event.button === 0 && start(i)}
              onPointerEnter={() => over(i)}
              onClick={(event) => choose(event.shiftKey && chosenAt >= 0 ? chosenAt : i, i)}
            >
              <span className={css.bar} style={{ height: `${(requests / most) * 100}%` }}>
                {SEGMENTS.filter((segment) => outcomes[segment] > 0).map((segment) => (
                  <span
                    key={segment}
                    data-outcome={segment}
                    style={{ height: `${(outcomes[segment] / requests) * 100}%` }}
                  />
                ))}
              </span>
              <span className={css.rejected} style={{ height: `${(rejectedOf(bucket) / mostRejected) * 8}px` }} />
            </button>
          );
        })}
      </div>
      <p className={css.axis} aria-hidden>
        <span>{nameOf(buckets[0]!.at, size)}</span>
        <span>{nameOf(buckets[Math.floor(buckets.length / 2)]!.at, size)}</span>
        <span>{size === 'hour' ? nameOf(chart.to, size) : nameOf(buckets.at(-1)!.at, size)}</span>
      </p>
    </>
  );
}
