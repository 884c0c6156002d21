import { useQuery } from '@tanstack/react-query';
import { memo, useEffect, useState } from 'react';
import { api, unwrap } from '../../api/client.ts';
import type { UsageChart } from '../../api/schema.ts';
import { useAccount } from '../../api/session.ts';
import { moveWithArrows } from '../../parts/arrow-keys.ts';
import { formatClock, formatNumber, pluralize } from '../../parts/format.ts';
import { NotLoaded } from '../../parts/not-loaded.tsx';
import css from './log.module.css';
import { endOf, type LogSearch } from './search.ts';

const HOUR_MS = 3_600_000;
const HOURS = 24;
const EVERY_MS = 30_000;

interface HoursProps {
  readonly chosen: Pick<LogSearch, 'hour' | 'until'>;
  readonly onChoose: (hours: Pick<LogSearch, 'hour' | 'until'>) => void;
}

/**
 * The last 24 hours, verified above the line and rejected below; each hour opens its part of the log. Several are
 * chosen by dragging over them, or with Shift from the chosen one on.
 */
export const Hours = memo(function Hours({ chosen, onChoose }: HoursProps) {
  const { id } = useAccount();
  const query = useQuery({
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
      <NotLoaded what="The chart of the last 24 hours" query={query} />
      {query.data ? (
        <Bars chart={query.data} chosen={chosen} onChoose={onChoose} />
      ) : (
        !query.isLoadingError && <div className={css.bars} />
      )}
    </section>
  );
});

const rejectedIn = ({ refused, rate_limited }: { refused: number; rate_limited: number }): number =>
  refused + rate_limited;

function Bars({ chart, chosen, onChoose }: HoursProps & { chart: UsageChart }) {
  const { buckets, totals } = chart;
  const most = Math.max(1, ...buckets.map(({ requests }) => requests));
  const mostRejected = Math.max(1, ...buckets.map(rejectedIn));
  const choose = (one: number, other: number) => {
    const [first, last] = [Math.min(one, other), Math.max(one, other)];
    const hour = buckets[first]!.at;
    onChoose(first === last ? { hour } : { hour, until: buckets[last + 1]?.at ?? chart.to });
  };
  const { dragged, start, over } = useDrag(choose);
  /** The hour that Tab leads to: the one that had the focus last. */
  const [stop, setStop] = useState<number | null>(null);
  const chosenAt = buckets.findIndex(
    ({ at }) => chosen.hour !== undefined && Date.parse(at) === Date.parse(chosen.hour),
  );
  const isChosen = (at: string) =>
    chosen.hour !== undefined &&
    Date.parse(at) >= Date.parse(chosen.hour) &&
    Date.parse(at) < endOf(chosen.hour, chosen.until);
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
        aria-description="Shift and Enter chooses all hours from the chosen one to this."
        className={css.bars}
        onKeyDown={moveWithArrows}
      >
        {buckets.map((bucket, i) => {
          const text = `${formatClock(bucket.at).slice(0, 5)} UTC: ${pluralize(bucket.requests, 'verification')}, ${formatNumber(rejectedIn(bucket))} rejected`;
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

/** Bars from where the pointer went down to where it is; `choose` is called when it is let go on another one. */
function useDrag(choose: (one: number, other: number) => void) {
  const [drag, setDrag] = useState<readonly [from: number, to: number] | null>(null);
  useEffect(() => {
    if (drag === null) return;
    const [from, to] = drag;
    const end = ({ type }: Event) => {
      setDrag(null);
      // What is let go where it began is a click.
      if (type === 'pointerup' && from !== to) choose(from, to);
    };
    window.addEventListener('pointerup', end);
    window.addEventListener('pointercancel', end);
    return () => {
      window.removeEventListener('pointerup', end);
      window.removeEventListener('pointercancel', end);
    };
  }, [drag, choose]);
  const isMoved = drag !== null && drag[0] !== drag[1];
  return {
    /** Whether a bar is among those that are dragged over; null while none are. */
    dragged: isMoved ? (i: number) => i >= Math.min(...drag) && i <= Math.max(...drag) : null,
    start: (i: number) => setDrag([i, i]),
    over: (i: number) => drag !== null && setDrag([drag[0], i]),
  };
}
