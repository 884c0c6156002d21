import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Center, Loader } from '@mantine/core';
import { useMounted } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import { type ReactNode, Suspense, useState } from 'react';
import { type Column, DataTable } from '../data-table.tsx';
import { formatNumber, inSentence, zoneName } from '../format.ts';
import { Glyph } from '../glyph.tsx';
import { lazyPart, notDrawn, PartBoundary } from '../lazy.tsx';
import { Panel } from '../panel.tsx';
import { type Bar, type Bars, barText, hasOutlier, SEGMENT_LABELS, SEGMENTS, type Segment } from './bars.ts';
import css from './bars-chart.module.css';
import { AXIS_WIDTH, BucketLinks, type To } from './bucket-links.tsx';
import { formatBucket } from './series.ts';

/** The chart library is loaded on demand. */
const BarsPlot = lazyPart(() => import('./bars-plot.tsx'), 'BarsPlot');
const LOADING = (
  // The height of bars-plot.tsx, which is not loaded yet.
  <Center h={240}>
    <Loader size="sm" aria-hidden />
  </Center>
);

/** Bars by verdict, each opening its rows; and the same numbers as a table. */
export function BarsChart(props: {
  title: string;
  data: Bars;
  /** The rows of a bar, and those of a verdict in the whole period; without them, there are none to open. */
  linkOf?: (bar: Bar) => To;
  linkOfSegment?: (segment: Segment) => To;
  /** Called with the first and the last of the bars that were dragged over. */
  onChoose?: (first: number, last: number) => void;
  /** What the bars behind are: `30 days before`. */
  beforeLabel: string;
  /** Whether rejected requests are counted here: they are not by key. */
  rejected?: boolean;
  footer?: ReactNode;
}) {
  const { title, data, linkOf, onChoose, beforeLabel, footer } = props;
  const [isTable, setIsTable] = useState(false);
  const outlier = hasOutlier(data.bars.map(({ total }) => total));
  const [log, setLog] = useState(false);
  return (
    <Panel
      title={title}
      flush
      actions={
        <>
          {outlier && !isTable && (
            <button
              type="button"
              className={css.switch}
              aria-pressed={log}
              onClick={() => setLog(!log)}
            >{t`Logarithmic scale`}</button>
          )}
          <button
            type="button"
            className={css.switch}
            aria-pressed={isTable}
            onClick={() => setIsTable(!isTable)}
          >{t`As a table`}</button>
        </>
      }
      footer={footer}
    >
      {isTable ? (
        <div className={css.table}>
          <Numbers title={title} data={data} linkOf={linkOf} />
        </div>
      ) : (
        <>
          <Legend {...props} />
          <Columns data={data} linkOf={linkOf} onChoose={onChoose} beforeLabel={beforeLabel} log={outlier && log} />
        </>
      )}
    </Panel>
  );
}

const sum = (bars: readonly Bar[], value: (bar: Bar) => number): number =>
  bars.reduce((total, bar) => total + value(bar), 0);

function Legend(props: {
  data: Bars;
  linkOfSegment?: (segment: Segment) => To;
  beforeLabel: string;
  rejected?: boolean;
}) {
  const { linkOfSegment } = props;
  const { bars } = props.data;
  const isCompared = bars.some(({ before }) => before !== null);
  return (
    <ul className={css.legend} aria-label={t`Totals`}>
      {SEGMENTS.map((segment) => (
        <li key={segment}>
          <SegmentTotal
            segment={segment}
            count={sum(bars, ({ segments }) => segments[segment])}
            link={linkOfSegment?.(segment)}
          />
        </li>
      ))}
      {props.rejected !== false && (
        <li>
          <span>
            <Trans>
              <Glyph of="rejected" /> Rejected, below the line{' '}
              <b>{formatNumber(sum(bars, ({ rejected }) => rejected))}</b>
            </Trans>
          </span>
        </li>
      )}
      {isCompared && (
        <li>
          <span>
            <span className={css.before} /> {props.beforeLabel}{' '}
            <b>{formatNumber(sum(bars, ({ before }) => before ?? 0))}</b>
          </span>
        </li>
      )}
    </ul>
  );
}

function SegmentTotal({ segment, count, link }: { segment: Segment; count: number; link: To | undefined }) {
  const total = (
    <>
      <Glyph of={segment} /> {SEGMENT_LABELS[segment]} <b>{formatNumber(count)}</b>
    </>
  );
  return link === undefined ? <span>{total}</span> : <Link {...link}>{total}</Link>;
}

function Columns(props: {
  data: Bars;
  linkOf: ((bar: Bar) => To) | undefined;
  onChoose: ((first: number, last: number) => void) | undefined;
  beforeLabel: string;
  log: boolean;
}) {
  const { data, linkOf, onChoose, beforeLabel, log } = props;
  const { bars, bucket } = data;
  const [pointed, setPointed] = useState<number | null>(null);
  // Not in a first view.
  const mounted = useMounted();
  return (
    <div className={css.place} onPointerLeave={() => setPointed(null)}>
      {mounted ? (
        <PartBoundary part={BarsPlot} failed={notDrawn}>
          <Suspense fallback={LOADING}>
            <BarsPlot bars={data} log={log} />
          </Suspense>
        </PartBoundary>
      ) : (
        LOADING
      )}
      <div className={css.columns} style={{ right: AXIS_WIDTH + 16 }}>
        <BucketLinks
          label={bucket === 'day' ? t`Days` : t`Hours`}
          buckets={bars.map((bar) => ({ at: bar.at, text: barText(bar, bucket), to: linkOf?.(bar) ?? null }))}
          pointed={pointed}
          onPoint={setPointed}
          onChoose={onChoose}
        />
        {pointed !== null && bars[pointed] !== undefined && (
          <Readout
            bar={bars[pointed]}
            bucket={bucket}
            from={pointed / bars.length}
            to={(pointed + 1) / bars.length}
            beforeLabel={beforeLabel}
          />
        )}
      </div>
    </div>
  );
}

/** Of no use to who cannot see the bars: the links say the same. `from`, `to`: sides of the bar, from 0 to 1. */
function Readout(props: { bar: Bar; bucket: Bars['bucket']; from: number; to: number; beforeLabel: string }) {
  const { bar, bucket, from, to, beforeLabel } = props;
  const place = to < 0.5 ? { left: `calc(${to * 100}% + 8px)` } : { right: `calc(${(1 - from) * 100}% + 8px)` };
  const row = (label: string, value: number, mark: ReactNode) => (
    <div key={label}>
      <dt>
        <span>{mark}</span>
        <span>{label}</span>
      </dt>
      <dd>{formatNumber(value)}</dd>
    </div>
  );
  return (
    <div className={css.readout} style={place} aria-hidden>
      <b>{formatBucket(bar.at, bucket)}</b>
      <dl>
        {row(t`Verifications`, bar.total, null)}
        {SEGMENTS.map((segment) => row(SEGMENT_LABELS[segment], bar.segments[segment], <Glyph of={segment} />))}
        {row(t`Requests rejected`, bar.rejected, <Glyph of="rejected" />)}
        {bar.before !== null &&
          row(beforeLabel, bar.before, <span className={css.before} style={{ display: 'block' }} />)}
      </dl>
    </div>
  );
}

function Numbers({ title, data, linkOf }: { title: string; data: Bars; linkOf: ((bar: Bar) => To) | undefined }) {
  const { bars, bucket } = data;
  const columns: Column<Bar>[] = [
    {
      header: bucket === 'day' ? t`Day (UTC)` : t`Hour (${zoneName(bars[0]?.at ?? Date.now())})`,
      cell: (bar) =>
        linkOf ? <Link {...linkOf(bar)}>{formatBucket(bar.at, bucket)}</Link> : formatBucket(bar.at, bucket),
    },
    { header: t`Verifications`, numeric: true, cell: ({ total }) => formatNumber(total) },
    ...SEGMENTS.map(
      (segment): Column<Bar> => ({
        header: SEGMENT_LABELS[segment],
        numeric: true,
        folds: true,
        cell: ({ segments }) => formatNumber(segments[segment]),
      }),
    ),
    { header: t`Rejected`, numeric: true, folds: true, cell: ({ rejected }) => formatNumber(rejected) },
  ];
  if (bars.some(({ before }) => before !== null))
    columns.push({ header: t`Before`, numeric: true, cell: ({ before }) => formatNumber(before ?? 0) });
  return (
    <DataTable
      label={t`Data: ${inSentence(title)}`}
      columns={columns}
      rows={bars.toReversed()}
      rowKey={({ at }) => at}
    />
  );
}
