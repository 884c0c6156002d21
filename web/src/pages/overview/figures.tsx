import { t } from '@lingui/core/macro';
import type { Level } from '../../../../src/kernel/facts/plans.ts';
import type { UsageChart } from '../../api/schema.ts';
import { rejectedOf } from '../../parts/chart/bars.ts';
import { countDelta, formatShare, shareDelta, shareOf, timeDelta } from '../../parts/delta.ts';
import { Figures } from '../../parts/figures.tsx';
import { formatMs, formatNumber } from '../../parts/format.ts';
import { type LogSearch, verifiedOf } from '../log/search.ts';

/** Of those whose mailbox a mail server was asked about. */
const deliverable = ({ totals: { asked, outcomes } }: UsageChart): number | null =>
  shareOf(outcomes.deliverable, asked);
const undeliverable = ({ totals: { requests, outcomes } }: UsageChart): number | null =>
  shareOf(outcomes.undeliverable, requests);
/** At the level that waits for mail servers, or else at the other one. */
const level = ({ totals: { latency } }: UsageChart): Level => (latency.smtp === null ? 'mx' : 'smtp');

/** Five figures of a period, each with its change. `rows`: the log of the period; null: the user may not view it. */
export function KeyFigures(props: { chart: UsageChart; before: UsageChart | null; rows: LogSearch | null }) {
  const { chart, before, rows } = props;
  const asked = level(chart);
  const p95 = (of: UsageChart | null) => of?.totals.latency[asked]?.p95 ?? null;
  const rejected = rejectedOf(chart.totals);
  const log = (search: LogSearch) =>
    rows === null ? {} : { link: { to: '/log', search: { ...rows, ...search } } as const };
  const now = p95(chart);
  return (
    <Figures
      label={t`Key figures`}
      items={[
        {
          label: t`Verifications`,
          value: formatNumber(chart.totals.requests),
          delta: before && countDelta(chart.totals.requests, before.totals.requests),
          ...log(verifiedOf(rows ?? {})),
        },
        {
          label: t`Deliverable, where asked`,
          value: formatShare(deliverable(chart)),
          delta: before && shareDelta(deliverable(chart), deliverable(before), 'more'),
          ...log({ deliverability: 'deliverable' }),
        },
        {
          label: t`Undeliverable`,
          value: formatShare(undeliverable(chart)),
          delta: before && shareDelta(undeliverable(chart), undeliverable(before), 'less'),
          ...log({ deliverability: 'undeliverable' }),
        },
        {
          label: t`Time to answer, ${asked}, p95`,
          value: now === null ? '–' : formatMs(now),
          delta: timeDelta(now, p95(before)),
          ...log({ level: asked }),
        },
        {
          label: t`Rejected requests`,
          value: formatNumber(rejected),
          delta: before && countDelta(rejected, rejectedOf(before.totals), 'less'),
          ...log({ status: 'rejected' }),
        },
      ]}
    />
  );
}
