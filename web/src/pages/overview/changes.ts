import { plural, t } from '@lingui/core/macro';
import type { UsageChart } from '../../api/schema.ts';
import { rejectedOf } from '../../parts/chart/bars.ts';
import { formatBucket } from '../../parts/chart/series.ts';
import { formatShare, shareOf } from '../../parts/delta.ts';
import { formatNumber } from '../../parts/format.ts';
import { type TimeSearch, timeOfBucket } from '../../parts/time.ts';
import type { LogSearch } from '../log/search.ts';

/** What changed most, in one sentence. `time`: the day or hour, where it is about one. */
interface Change {
  readonly text: string;
  readonly time: TimeSearch | null;
  /** Which rows of the log of that time it is about. */
  readonly rows: LogSearch;
}

/** Rejections on one day that are worth a sentence: so many, and so many times the usual number. */
const REJECTED_WORTH_TELLING = 10;
const UNUSUAL = 5;
/** Points of the share of undeliverable addresses. */
const SHARE_WORTH_TELLING = 0.02;
const COMPARABLE = 100;

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? 0;

const largest = <T>(rows: readonly T[], value: (row: T) => number): T | undefined =>
  rows.toSorted((a, b) => value(b) - value(a))[0];

function rejections({ bucket, buckets }: UsageChart): Change | null {
  const most = largest(buckets, rejectedOf);
  if (most === undefined) return null;
  const count = rejectedOf(most);
  if (count < REJECTED_WORTH_TELLING || count < UNUSUAL * median(buckets.map(rejectedOf))) return null;
  const at = formatBucket(most.at, bucket);
  const text =
    most.rate_limited > most.refused
      ? t`${at}: ${plural(count, { one: '# request', other: '# requests' })} over the rate limit.`
      : t`${at}: ${plural(count, { one: '# request was', other: '# requests were' })} rejected.`;
  return { text, time: timeOfBucket(most.at, bucket), rows: { status: 'rejected' } };
}

function share(chart: UsageChart, before: UsageChart): Change | null {
  const of = ({ totals }: UsageChart) =>
    totals.requests < COMPARABLE ? null : shareOf(totals.outcomes.undeliverable, totals.requests);
  const [now, then] = [of(chart), of(before)];
  if (now === null || then === null || Math.abs(now - then) < SHARE_WORTH_TELLING) return null;
  const [to, from] = [formatShare(now), formatShare(then)];
  return {
    text:
      now > then
        ? t`Undeliverable addresses rose to ${to}, from ${from}.`
        : t`Undeliverable addresses fell to ${to}, from ${from}.`,
    time: null,
    rows: {},
  };
}

function busiest({ bucket, buckets }: UsageChart): Change | null {
  const most = largest(buckets, ({ requests }) => requests);
  const usual = median(buckets.map(({ requests }) => requests).filter((n) => n > 0));
  if (most === undefined || most.requests < COMPARABLE || most.requests < 2 * usual) return null;
  const text =
    bucket === 'hour'
      ? t`${formatBucket(most.at, bucket)} had ${plural(most.requests, { one: '# verification', other: '# verifications' })}; the usual hour has ${formatNumber(usual)}.`
      : t`${formatBucket(most.at, bucket)} had ${plural(most.requests, { one: '# verification', other: '# verifications' })}; the usual day has ${formatNumber(usual)}.`;
  return { text, time: timeOfBucket(most.at, bucket), rows: {} };
}

/** The first of these that there is. */
export const whatChanged = (chart: UsageChart, before: UsageChart): Change =>
  rejections(chart) ??
  share(chart, before) ??
  busiest(chart) ?? {
    text: chart.bucket === 'hour' ? t`No unusual hour in this period.` : t`No unusual day in this period.`,
    time: null,
    rows: {},
  };
