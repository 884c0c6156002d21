import { useQuery } from '@tanstack/react-query';
import { api, unwrap } from '../../api/client.ts';
import type { UsageChart } from '../../api/schema.ts';
import { useAccount } from '../../api/session.ts';
import { formatClock, formatNumber, pluralize } from '../../parts/format.ts';
import css from './log.module.css';

const HOUR_MS = 3_600_000;
const HOURS = 24;
const EVERY_MS = 30_000;

/** The last 24 hours, verified above the line and rejected below; each hour opens its part of the log. */
export function Hours({ chosen, onChoose }: { chosen: string | undefined; onChoose: (hour: string) => void }) {
  const { id } = useAccount();
  const { data } = useQuery({
    queryKey: ['account', id, 'log-hours'],
    queryFn: ({ signal }) => {
      const end = Math.ceil((Date.now() + 1) / HOUR_MS) * HOUR_MS;
      const [from, to] = [end - HOURS * HOUR_MS, end].map((at) => new Date(at).toISOString());
      const query = { from: from!, to: to!, bucket: 'hour' as const };
      return unwrap(
        api.GET('/dashboard/accounts/{account}/usage', { params: { path: { account: id }, query }, signal }),
      );
    },
    refetchInterval: EVERY_MS,
  });
  return (
    <section className={css.hours} aria-label="The last 24 hours">
      {data === undefined ? <div className={css.bars} /> : <Bars chart={data} chosen={chosen} onChoose={onChoose} />}
    </section>
  );
}

const rejectedIn = ({ refused, rate_limited }: { refused: number; rate_limited: number }): number =>
  refused + rate_limited;

function Bars({
  chart,
  chosen,
  onChoose,
}: {
  chart: UsageChart;
  chosen: string | undefined;
  onChoose: (hour: string) => void;
}) {
  const { buckets, totals } = chart;
  const most = Math.max(1, ...buckets.map(({ requests }) => requests));
  const mostRejected = Math.max(1, ...buckets.map(rejectedIn));
  return (
    <>
      <p className={css.total}>
        <b>{pluralize(totals.requests, 'verification')}</b> and {pluralize(rejectedIn(totals), 'rejected request')} in
        24 hours
      </p>
      {/* One stop for the keyboard: arrow keys move within. */}
      <div
        role="toolbar"
        aria-label="Hours"
        className={css.bars}
        onKeyDown={(event) => {
          const step = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0;
          const beside = step < 0 ? 'previousElementSibling' : 'nextElementSibling';
          const next = step === 0 ? null : document.activeElement?.[beside];
          if (next instanceof HTMLButtonElement) next.focus();
        }}
      >
        {buckets.map((bucket, i) => {
          const text = `${formatClock(bucket.at).slice(0, 5)} UTC: ${pluralize(bucket.requests, 'verification')}, ${formatNumber(rejectedIn(bucket))} rejected`;
          return (
            <button
              key={bucket.at}
              type="button"
              title={text}
              aria-label={text}
              aria-pressed={chosen !== undefined && Date.parse(chosen) === Date.parse(bucket.at)}
              tabIndex={i === buckets.length - 1 ? 0 : -1}
              onClick={() => onChoose(bucket.at)}
            >
              <span className={css.bar} style={{ height: `${(bucket.requests / most) * 100}%` }}>
                <span style={{ height: `${(bucket.bad / Math.max(1, bucket.requests)) * 100}%` }} />
              </span>
              <span className={css.rejected} style={{ height: `${(rejectedIn(bucket) / mostRejected) * 8}px` }} />
            </button>
          );
        })}
      </div>
      <p className={css.axis} aria-hidden>
        <span>{formatClock(buckets[0]!.at).slice(0, 5)}</span>
        <span>{formatClock(buckets[Math.floor(buckets.length / 2)]!.at).slice(0, 5)}</span>
        <span>{formatClock(chart.to).slice(0, 5)} UTC</span>
      </p>
    </>
  );
}
